import { Tokenizer as LibraryTokenizer } from '@huggingface/tokenizers';
import { GatewayError } from '../errors.js';
import type { Section, SectionEncoder } from './encoder.js';
import type { IdBuffer } from './encoder-buffers.js';
import type { ModelDirectory } from './model-directory.js';
import type { TokenizerDefinition } from './tokenizer-definition.js';

/** Pieces between two places where other work may run. */
const STEP_PIECES = 64;

/**
 * The stages of @huggingface/tokenizers without its handling of added tokens, which ignores `single_word`, strips other
 * characters than the Rust crate, and knows one pass where the crate has two.
 */
export class LibraryStages implements SectionEncoder {
  private readonly library: LibraryTokenizer;

  /** @throws GatewayError `model_files` for a component that the library does not know. */
  constructor(directory: ModelDirectory, definition: TokenizerDefinition) {
    try {
      const stages = { normalizer: null, pre_tokenizer: null, decoder: null, ...definition, post_processor: null, added_tokens: [] };
      this.library = new LibraryTokenizer(stages, directory.tokenizerConfig);
    } catch (error) {
      throw new GatewayError(
        'model_files',
        `reading ${directory.path}/tokenizer.json: ${(error as Error).message}; this kind of tokenizer is not supported by @huggingface/tokenizers`,
        { cause: error },
      );
    }
  }

  normalize(text: string): string {
    return this.library.normalizer === null ? text : this.library.normalizer.normalize(text);
  }

  *steps(section: Section, out: IdBuffer): Generator<void, void, void> {
    const { pre_tokenizer: preTokenizer, model } = this.library;
    const text = section.text.slice(section.start, section.end);
    const pieces = preTokenizer === null ? [text] : preTokenizer(text, { section_index: section.isFirst ? 0 : 1 });
    let left = STEP_PIECES;
    // One piece at a time: the library fuses unknown tokens over all pieces of a call, the Rust crate within a piece.
    for (const piece of pieces) {
      for (const token of model!([piece])) {
        const id = model!.tokens_to_ids.get(token) ?? model!.unk_token_id;
        if (id !== undefined) out.push(id);
      }
      if (--left > 0) continue;
      left = STEP_PIECES;
      yield;
    }
  }

  /** The decoder's text of these tokens, spaces never cleaned up. */
  readonly decode = (tokens: readonly string[]): string => {
    return this.library.decoder === null ? tokens.join(' ') : this.library.decoder([...tokens]);
  };
}
