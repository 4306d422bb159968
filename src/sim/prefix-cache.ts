import { hashText, mix } from './hash.js';

/** Tokens per block; only whole blocks are shared. */
export const BLOCK_TOKENS = 16;

/**
 * A prefix cache as engines have it: whole blocks of tokens, found by a hash chain over all tokens before them,
 * least recently used blocks thrown out. It holds no keys or values, only whether they would be there.
 */
export class PrefixCache {
  readonly #blocks = new Map<number, true>();

  constructor(readonly limitBlocks: number) {}

  /** Leading tokens of a prompt that are cached, never all of it. */
  cachedTokens(promptIds: Int32Array, salt: string): number {
    let hits = 0;
    for (const key of keys(promptIds.subarray(0, promptIds.length - 1), salt)) {
      if (!this.#blocks.delete(key)) break;
      this.#blocks.set(key, true);
      hits++;
    }
    return hits * BLOCK_TOKENS;
  }

  /** Remembers the blocks of a sequence. */
  add(ids: Int32Array, salt: string): void {
    for (const key of keys(ids, salt)) {
      this.#blocks.delete(key);
      this.#blocks.set(key, true);
    }
    for (const key of this.#blocks.keys()) {
      if (this.#blocks.size <= this.limitBlocks) break;
      this.#blocks.delete(key);
    }
  }

  clear(): void {
    this.#blocks.clear();
  }
}

/** One 53-bit key per whole block, each of which covers everything before it. */
function* keys(ids: Int32Array, salt: string): Generator<number> {
  let high = hashText(salt);
  let low = mix(high, 1);
  for (let at = 0; at + BLOCK_TOKENS <= ids.length; at += BLOCK_TOKENS) {
    for (let i = at; i < at + BLOCK_TOKENS; i++) {
      high = Math.imul(high ^ ids[i]!, 0x01000193) ^ (high >>> 15);
      low = Math.imul(low ^ ids[i]!, 0x85ebca6b) ^ (low >>> 13);
    }
    yield (high >>> 0) * 2097152 + (low >>> 11);
  }
}
