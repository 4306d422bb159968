import type { DecodedText, Decoder, IncrementalDecoder } from './decoder.js';
import { LibraryDecoder } from './decoder-library.js';
import { createDecoder } from './decoder-rules.js';
import { Encoder, type SectionEncoder } from './encoder.js';
import type { PlainSpans } from './encoder-added-tokens.js';
import { BpeEncoder } from './encoder-bpe.js';
import { LibraryStages } from './encoder-library.js';
import { type Normalizer, readNormalizer } from './encoder-normalizer.js';
import { type EncoderPlan, planEncoder } from './encoder-plan.js';
import { type ModelDirectory, readTokenizerDefinition } from './model-directory.js';
import { type AddedToken, readAddedTokens } from './special-tokens.js';
import { type TokenizerDefinition, vocabularyEntries } from './tokenizer-definition.js';
import { startsAtControlTokens } from './tokenizer-probe.js';

/**
 * Text to ids and back, equal to the Rust crate `tokenizers` on `tokenizer.json` (`add_special_tokens=False`, special tokens
 * kept in decoding, no clean-up of spaces). Lone surrogates are read as U+FFFD. One per shard; never shared between threads.
 */
export interface Tokenizer {
  /** Strings of added tokens in the text become these tokens, as with Hugging Face. */
  encode(text: string): Int32Array;
  /** As `encode`, but no control token comes out: strings that spell one are letters. Decodes to the same text. */
  encodeWithoutSpecials(text: string): Int32Array;
  /**
   * As `encode`, but nothing within the ranges becomes a control token, nor anything that begins or ends in one.
   * @param plain half-open UTF-16 ranges `[start, end, …]`, ascending
   */
  encodeWithPlainSpans(text: string, plain: PlainSpans): Int32Array;
  /** As `encodeWithPlainSpans`, for long texts: other work of the thread runs whenever `sliceMs` have passed. */
  encodeInSlices(text: string, sliceMs: number, plain?: PlainSpans): Promise<Int32Array>;
  decode(ids: ArrayLike<number>): string;
  decodeWithOffsets(ids: ArrayLike<number>): DecodedText;
  newDecoder(): IncrementalDecoder;
  /** Bytes of one token; not to be written to. Empty for an unknown id. */
  tokenBytes(id: number): Uint8Array;
  /** Text of one token alone; a part of a character is U+FFFD. */
  tokenText(id: number): string;
  /** Id of an added token by its exact content. */
  idOf(content: string): number | undefined;
  isAdded(id: number): boolean;
  readonly addedTokens: readonly AddedToken[];
  /** Ids at which a reply ends: those of the model directory and the tokenizer's own `eos_token`. */
  readonly endTokenIds: readonly number[];
  /** Largest id plus one. */
  readonly vocabularySize: number;
  /** Whether encoding may start at any control token (an added token that is not mere whitespace), proved at load. */
  readonly splitsAtSpecialTokens: boolean;
  /** The kind of fast path in use, `null` where the library encodes; `fastPathReason` says why. */
  readonly fastPath: string | null;
  readonly fastPathReason: string;
  /** See `ModelDirectory.tokenizerHash`. */
  readonly hash: string;
}

/**
 * @param fastPath false to have the library encode whatever the definition would allow
 * @throws GatewayError `model_files`
 */
export function loadTokenizer(directory: ModelDirectory, { fastPath = true }: { readonly fastPath?: boolean } = {}): Tokenizer {
  return buildTokenizer(directory, readTokenizerDefinition(directory), fastPath);
}

function buildTokenizer(directory: ModelDirectory, definition: TokenizerDefinition, fastPath: boolean): Tokenizer {
  const entries = vocabularyEntries(definition.model);
  const vocabulary = new Map(entries);
  const added = readAddedTokens(directory, definition, (content) => vocabulary.get(content), vocabulary.size);
  const ownNormalizer = readNormalizer(definition.normalizer);
  const unplanned = !fastPath ? 'turned off' : ownNormalizer === undefined ? `the normalizer is ${definition.normalizer?.type}` : null;
  const plan: EncoderPlan = unplanned === null ? planEncoder(definition, vocabulary) : { parts: null, kind: null, reason: unplanned };
  const library = plan.parts === null ? new LibraryStages(directory, definition) : null;
  const normalizer =
    ownNormalizer === undefined ? { changesFrom: 0, normalize: (text: string) => library!.normalize(text) } : ownNormalizer;

  const tokens: (string | undefined)[] = [];
  for (const [token, id] of entries) tokens[id] = token;
  // The crate's decoder sees a token that is looked for in normalised text in its normalised spelling.
  for (const token of added) tokens[token.id] = token.normalized ? (normalizer?.normalize(token.content) ?? token.content) : token.content;
  const decoder =
    createDecoder(definition.decoder, tokens) ?? new LibraryDecoder(tokens, (library ?? new LibraryStages(directory, definition)).decode);
  return new LoadedTokenizer(directory, added, tokens.length, decoder, {
    sections: plan.parts === null ? library! : new BpeEncoder(plan.parts),
    normalizer,
    unknownId: typeof definition.model.unk_token === 'string' ? vocabulary.get(definition.model.unk_token) : definition.model.unk_id,
    fastPath: plan.kind,
    fastPathReason: plan.reason,
  });
}

interface EncoderParts {
  readonly sections: SectionEncoder;
  readonly normalizer: Normalizer | null;
  /** What the model gives for characters that it does not know. */
  readonly unknownId: number | undefined;
  readonly fastPath: string | null;
  readonly fastPathReason: string;
}

class LoadedTokenizer implements Tokenizer {
  readonly fastPath: string | null;
  readonly fastPathReason: string;
  readonly hash: string;
  readonly endTokenIds: readonly number[];
  readonly splitsAtSpecialTokens: boolean;
  private readonly encoder: Encoder;
  private readonly idByContent: ReadonlyMap<string, number>;
  private readonly addedIds: ReadonlySet<number>;

  constructor(
    directory: ModelDirectory,
    readonly addedTokens: readonly AddedToken[],
    readonly vocabularySize: number,
    private readonly decoder: Decoder,
    parts: EncoderParts,
  ) {
    this.encoder = new Encoder(addedTokens, parts.normalizer, parts.sections, parts.unknownId);
    this.fastPath = parts.fastPath;
    this.fastPathReason = parts.fastPathReason;
    this.hash = directory.tokenizerHash;
    this.idByContent = new Map(addedTokens.map((token) => [token.content, token.id]));
    this.addedIds = new Set(addedTokens.map((token) => token.id));
    const eos = directory.specialTokens.eos_token;
    const eosId = typeof eos === 'string' ? this.idByContent.get(eos) : undefined;
    this.endTokenIds = [...new Set([...directory.eosTokenIds, ...(eosId === undefined ? [] : [eosId])])];
    this.splitsAtSpecialTokens = startsAtControlTokens(addedTokens, (text) => this.encode(text));
  }

  encode(text: string): Int32Array {
    return this.encoder.encode(text, []);
  }

  encodeWithoutSpecials(text: string): Int32Array {
    return this.encodeWithPlainSpans(text, [0, text.length]);
  }

  encodeWithPlainSpans(text: string, plain: PlainSpans): Int32Array {
    return this.encoder.encode(text, plain);
  }

  encodeInSlices(text: string, sliceMs: number, plain: PlainSpans = []): Promise<Int32Array> {
    return this.encoder.encodeInSlices(text, plain, sliceMs);
  }

  decode(ids: ArrayLike<number>): string {
    return this.decoder.decode(ids);
  }

  decodeWithOffsets(ids: ArrayLike<number>): DecodedText {
    return this.decoder.decodeWithOffsets(ids);
  }

  newDecoder(): IncrementalDecoder {
    return this.decoder.newDecoder();
  }

  tokenBytes(id: number): Uint8Array {
    return this.decoder.tokenBytes(id);
  }

  tokenText(id: number): string {
    return this.decoder.decode([id]);
  }

  idOf(content: string): number | undefined {
    return this.idByContent.get(content);
  }

  isAdded(id: number): boolean {
    return this.addedIds.has(id);
  }
}
