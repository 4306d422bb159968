/**
 * The parts of `tokenizer.json` that are read here (format of the Rust crate `tokenizers`, version "1.0").
 * Components are kept as the file has them; who uses one checks its members.
 */
export interface TokenizerDefinition {
  readonly added_tokens?: readonly AddedTokenDefinition[];
  readonly normalizer?: Component | null;
  readonly pre_tokenizer?: Component | null;
  readonly decoder?: Component | null;
  readonly model: ModelDefinition;
}

export interface AddedTokenDefinition {
  readonly id: number;
  readonly content: string;
  readonly single_word?: boolean;
  readonly lstrip?: boolean;
  readonly rstrip?: boolean;
  readonly normalized?: boolean;
  readonly special?: boolean;
}

export interface Component {
  readonly type?: string;
  readonly [member: string]: unknown;
}

export interface ModelDefinition {
  readonly type?: string;
  /** Token to id (BPE, WordPiece) or a list of `[token, score]` (Unigram). */
  readonly vocab: Readonly<Record<string, number>> | readonly (readonly [string, number])[];
  /** `"left right"` or `[left, right]`, best first. */
  readonly merges?: readonly (string | readonly [string, string])[];
  /** BPE and WordPiece name the unknown token, Unigram gives its id. */
  readonly unk_token?: string | null;
  readonly unk_id?: number;
  readonly [member: string]: unknown;
}

/** Every token of the model's own vocabulary with its id, without the added tokens. */
export function vocabularyEntries(model: ModelDefinition): readonly (readonly [string, number])[] {
  const { vocab } = model;
  if (Array.isArray(vocab)) return (vocab as readonly (readonly [string, number])[]).map(([token], id) => [token, id] as const);
  return Object.entries(vocab as Readonly<Record<string, number>>);
}
