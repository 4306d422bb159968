import type { MergeTable } from './bpe-merges.js';
import type { IdBuffer } from './encoder-buffers.js';

/** Longest word, in symbols, that is merged by looking for the best pair again and again. */
export const SHORT_WORD_MAX = 48;
const NEVER = 0x7fffffff;
const ranks = new Int32Array(SHORT_WORD_MAX + 1);
const wholes = new Int32Array(SHORT_WORD_MAX + 1);

/**
 * Merges the first `count` symbols, which are overwritten, and appends what is left to `out`. Byte-pair encoding: the pair of the
 * lowest rank merges first, the leftmost among equals.
 */
export function mergeShortWord(symbols: Int32Array, count: number, merges: MergeTable, out: IdBuffer): void {
  const { entries } = merges;
  let length = count;
  for (let i = 0; i + 1 < length; i++) {
    const entry = merges.find(symbols[i]!, symbols[i + 1]!);
    ranks[i] = entry < 0 ? NEVER : entries[entry + 2]!;
    wholes[i] = entry < 0 ? 0 : entries[entry + 3]!;
  }
  while (length > 1) {
    let best = 0;
    let rank = ranks[0]!;
    for (let i = 1; i + 1 < length; i++) {
      if (ranks[i]! < rank) {
        rank = ranks[i]!;
        best = i;
      }
    }
    if (rank === NEVER) break;
    symbols[best] = wholes[best]!;
    length--;
    for (let i = best + 1; i < length; i++) {
      symbols[i] = symbols[i + 1]!;
      ranks[i] = ranks[i + 1]!;
      wholes[i] = wholes[i + 1]!;
    }
    for (let i = best > 0 ? best - 1 : 0; i <= best && i + 1 < length; i++) {
      const entry = merges.find(symbols[i]!, symbols[i + 1]!);
      ranks[i] = entry < 0 ? NEVER : entries[entry + 2]!;
      wholes[i] = entry < 0 ? 0 : entries[entry + 3]!;
    }
  }
  out.reserve(length);
  for (let i = 0; i < length; i++) out.ids[out.length++] = symbols[i]!;
}

/** Merges a long word with a queue of pairs; `step` does part of the work, so that other work can run between. */
export class LongWord {
  private readonly previous: Int32Array;
  private readonly next: Int32Array;
  private readonly queue: PairQueue;
  private filled = 0;

  /** @param symbols the word, which is this object's own from now on; a negative symbol is one that was merged away */
  constructor(
    private readonly symbols: Int32Array,
    private readonly merges: MergeTable,
  ) {
    const { length } = symbols;
    this.previous = new Int32Array(length);
    this.next = new Int32Array(length);
    for (let i = 0; i < length; i++) {
      this.previous[i] = i - 1;
      this.next[i] = i + 1;
    }
    this.next[length - 1] = -1;
    this.queue = new PairQueue();
  }

  /** Does about `work` units of work; true when the word is merged. */
  step(work: number): boolean {
    const { symbols, previous, next, queue, merges } = this;
    let left = work;
    for (; this.filled + 1 < symbols.length; this.filled++) {
      if (left-- <= 0) return false;
      this.consider(this.filled, this.filled + 1);
    }
    while (queue.size > 0) {
      if (left-- <= 0) return false;
      const at = queue.takePosition();
      const rank = queue.takenRank;
      const after = next[at]!;
      if (symbols[at]! < 0 || after < 0) continue;
      const entry = merges.find(symbols[at]!, symbols[after]!);
      if (entry < 0 || merges.entries[entry + 2] !== rank) continue;
      symbols[at] = merges.entries[entry + 3]!;
      symbols[after] = -1;
      const beyond = next[after]!;
      next[at] = beyond;
      if (beyond >= 0) {
        previous[beyond] = at;
        this.consider(at, beyond);
      }
      if (previous[at]! >= 0) this.consider(previous[at]!, at);
    }
    return true;
  }

  append(out: IdBuffer): void {
    out.reserve(this.symbols.length);
    for (let at = 0; at >= 0; at = this.next[at]!) out.ids[out.length++] = this.symbols[at]!;
  }

  private consider(left: number, right: number): void {
    const entry = this.merges.find(this.symbols[left]!, this.symbols[right]!);
    if (entry >= 0) this.queue.add(this.merges.entries[entry + 2]!, left);
  }
}

/** A heap of pairs by rank, then by position. Rank and position share one double: 21 bits and 32. */
class PairQueue {
  size = 0;
  takenRank = 0;
  private keys = new Float64Array(256);

  add(rank: number, position: number): void {
    if (this.size === this.keys.length) {
      const grown = new Float64Array(this.size * 2);
      grown.set(this.keys);
      this.keys = grown;
    }
    const { keys } = this;
    const key = rank * 0x100000000 + position;
    let at = this.size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (keys[parent]! <= key) break;
      keys[at] = keys[parent]!;
      at = parent;
    }
    keys[at] = key;
  }

  /** Takes the lowest pair off; its rank is `takenRank`. */
  takePosition(): number {
    const { keys } = this;
    const lowest = keys[0]!;
    const key = keys[--this.size]!;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= this.size) break;
      if (child + 1 < this.size && keys[child + 1]! < keys[child]!) child++;
      if (keys[child]! >= key) break;
      keys[at] = keys[child]!;
      at = child;
    }
    keys[at] = key;
    this.takenRank = Math.floor(lowest / 0x100000000);
    return lowest - this.takenRank * 0x100000000;
  }
}
