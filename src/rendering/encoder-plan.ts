import type { BpeParts } from './encoder-bpe.js';
import { readByteLevel } from './encoder-plan-byte-level.js';
import { readCharacterBpe } from './encoder-plan-characters.js';
import { UnsupportedPattern } from './encoder-regex.js';
import type { TokenizerDefinition } from './tokenizer-definition.js';

/** What the fast path does with a tokenizer, or why the library encodes it. */
export type EncoderPlan =
  | { readonly parts: BpeParts; readonly kind: 'byte-level-bpe' | 'character-bpe'; readonly reason: string }
  | { readonly parts: null; readonly kind: null; readonly reason: string };

/**
 * Decides by the tokenizer's own definition: byte-pair encoding of bytes, split by patterns that an automaton can match, or of
 * characters with byte fallback.
 * @param vocabulary ids of the model's own tokens
 */
export function planEncoder(definition: TokenizerDefinition, vocabulary: ReadonlyMap<string, number>): EncoderPlan {
  const { model } = definition;
  try {
    if ((model.type ?? 'BPE') !== 'BPE' || model.merges === undefined) throw new UnsupportedPattern(`the model is ${model.type}`);
    for (const member of ['dropout', 'continuing_subword_prefix', 'end_of_word_suffix']) {
      if (model[member]) throw new UnsupportedPattern(`the model has ${member}`);
    }
    if (new Set(vocabulary.values()).size !== vocabulary.size) throw new UnsupportedPattern('two tokens share an id');
    if (model.byte_fallback !== true) return { ...readByteLevel(definition, vocabulary), kind: 'byte-level-bpe' };
    return { ...readCharacterBpe(definition, vocabulary), kind: 'character-bpe' };
  } catch (error) {
    if (error instanceof UnsupportedPattern) return { parts: null, kind: null, reason: error.message };
    throw error;
  }
}
