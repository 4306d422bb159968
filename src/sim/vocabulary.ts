import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface TokenizerFile {
  readonly added_tokens: readonly { readonly id: number; readonly content: string; readonly special: boolean }[];
  readonly pre_tokenizer: { readonly pretokenizers?: readonly { readonly pattern?: { readonly Regex?: string } }[] } | null;
  readonly model: { readonly vocab: Readonly<Record<string, number>>; readonly merges: readonly (string | readonly [string, string])[] };
}

const PIECES = /[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/gu;

/** The printable stand-in of each byte in a byte-level vocabulary. */
function byteLetters(): readonly string[] {
  let spare = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    return String.fromCharCode(printable ? byte : spare++);
  });
}

/**
 * What an engine knows of its model: the vocabulary, end tokens, context. Encodes byte-level BPE in its own code, so
 * that what it says does not depend on the tokenizer under test. Pieces are split by the file's pattern where
 * JavaScript understands it, else by the embedded model's.
 */
export class SimVocabulary {
  readonly vocabSize: number;
  /** Ids below it have a spelling; those from here to `vocabSize` are padding. */
  readonly spelledSize: number;
  readonly contextTokens: number;
  /** The model's end tokens, the main one first. */
  readonly eosIds: readonly number[];
  /** Ordinary tokens that are a space and letters, for random prose. */
  readonly wordIds: readonly number[];
  readonly #ids: Map<string, number>;
  readonly #bytes: (Uint8Array | undefined)[] = [];
  readonly #ranks = new Map<string, number>();
  readonly #pieces: RegExp;
  readonly #added: RegExp | null;
  readonly #addedIds: ReadonlyMap<string, number>;
  readonly #special: ReadonlySet<number>;
  readonly #letters = byteLetters();

  constructor(modelDir: string) {
    const read = (name: string): unknown => JSON.parse(readFileSync(join(modelDir, name), 'utf8'));
    const file = read('tokenizer.json') as TokenizerFile;
    const config = read('config.json') as { vocab_size?: number; max_position_embeddings?: number; eos_token_id?: number | number[] };
    const generation = readOptional(() => read('generation_config.json')) as { eos_token_id?: number | number[] } | null;
    this.#ids = new Map(Object.entries(file.model.vocab));
    this.#addedIds = new Map(file.added_tokens.map((token) => [token.content, token.id]));
    this.#special = new Set(file.added_tokens.filter((token) => token.special).map((token) => token.id));
    const byteOf = new Map(this.#letters.map((letter, byte) => [letter, byte]));
    for (const [token, id] of this.#ids) {
      if (!this.#addedIds.has(token)) this.#bytes[id] = Uint8Array.from([...token].flatMap((letter) => byteOf.get(letter) ?? []));
    }
    for (const { id, content } of file.added_tokens) this.#bytes[id] = Buffer.from(content);
    for (const [rank, merge] of file.model.merges.entries()) {
      this.#ranks.set(typeof merge === 'string' ? merge : `${merge[0]} ${merge[1]}`, rank);
    }
    this.#pieces = compiled(file.pre_tokenizer?.pretokenizers?.find((step) => step.pattern?.Regex)?.pattern?.Regex);
    const names = [...this.#addedIds.keys()].sort((a, b) => b.length - a.length).map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    this.#added = names.length > 0 ? new RegExp(names.join('|'), 'g') : null;
    this.spelledSize = this.#bytes.length;
    this.vocabSize = config.vocab_size ?? this.spelledSize;
    this.contextTokens = config.max_position_embeddings ?? 131072;
    this.eosIds = [...new Set([config.eos_token_id ?? [], generation?.eos_token_id ?? []].flat())];
    this.wordIds = [...this.#ids].filter(([token]) => /^Ġ[a-z]{3,10}$/.test(token)).map(([, id]) => id);
  }

  /** The id of a token by its exact spelling in the vocabulary, such as `<|im_end|>`. */
  idOf(token: string): number | undefined {
    return this.#addedIds.get(token) ?? this.#ids.get(token);
  }

  /** What the tokenizer gives for a text. `markers: false` reads the names of added tokens as plain letters. */
  encode(text: string, markers = true): number[] {
    const ids: number[] = [];
    let at = 0;
    if (markers && this.#added) {
      for (const match of text.matchAll(this.#added)) {
        this.#encodePlain(text.slice(at, match.index), ids);
        ids.push(this.#addedIds.get(match[0])!);
        at = match.index + match[0].length;
      }
    }
    this.#encodePlain(text.slice(at), ids);
    return ids;
  }

  /** One token per UTF-8 byte: a spelling that no tokenizer would choose. */
  encodeBytes(bytes: Uint8Array): number[] {
    return Array.from(bytes, (byte) => this.#ids.get(this.#letters[byte]!)!);
  }

  /** Tokens that `skip_special_tokens` leaves out of a text. */
  isSpecial(id: number): boolean {
    return this.#special.has(id);
  }

  bytesOf(id: number): Uint8Array {
    return this.#bytes[id] ?? new Uint8Array(0);
  }

  /** Special tokens are kept; bytes that are no UTF-8 become U+FFFD. */
  decode(ids: Iterable<number>): string {
    return Buffer.concat(Array.from(ids, (id) => this.bytesOf(id))).toString('utf8');
  }

  #encodePlain(text: string, into: number[]): void {
    for (const [piece] of text.matchAll(this.#pieces)) {
      const parts = Array.from(Buffer.from(piece), (byte) => this.#letters[byte]!);
      while (parts.length > 1) {
        let best = Number.POSITIVE_INFINITY;
        let at = 0;
        for (let i = 1; i < parts.length; i++) {
          const rank = this.#ranks.get(`${parts[i - 1]} ${parts[i]}`);
          if (rank !== undefined && rank < best) {
            best = rank;
            at = i;
          }
        }
        if (at === 0) break;
        parts.splice(at - 1, 2, parts[at - 1]! + parts[at]!);
      }
      for (const part of parts) into.push(this.#ids.get(part)!);
    }
  }
}

function compiled(pattern: string | undefined): RegExp {
  if (pattern === undefined) return PIECES;
  try {
    return new RegExp(pattern, 'gu');
  } catch {
    return PIECES;
  }
}

function readOptional(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return null;
  }
}
