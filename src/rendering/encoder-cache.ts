import { randomBytes } from 'node:crypto';
import type { IdBuffer } from './encoder-buffers.js';

/** Longest piece that is remembered, in UTF-16 units. */
export const CACHED_UNITS_MAX = 128;
/** Bounds of one of the two generations; 16 bytes a slot, 2 a unit, 4 an id: about 5 MB each. */
const SLOTS = 1 << 17;
const PIECES_MAX = SLOTS / 2;
const UNITS_MAX = 1 << 20;
const IDS_MAX = 1 << 18;
/** Slots looked at before a piece counts as unknown; it bounds what chosen collisions can cost. */
const PROBES_MAX = 16;
const SLOT_INTS = 4;

/**
 * Ids of pieces seen before. Two generations: when the young one is full it becomes the old one, whose pieces come back one by one as
 * they are used, so memory is bounded and what is in use stays. Hashing is keyed per process.
 */
export class PieceCache {
  private young = new Generation();
  private old = new Generation();
  private readonly seed: number;
  private readonly factor: number;

  constructor(key: Buffer = randomBytes(8)) {
    this.seed = key.readInt32LE(0);
    this.factor = key.readInt32LE(4) | 1;
  }

  hash(units: Uint16Array, start: number, end: number): number {
    const { factor } = this;
    let hash = this.seed;
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ units[i]!, factor) ^ (hash >>> 15);
    hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
    hash ^= hash >>> 15;
    return hash === 0 ? 1 : hash;
  }

  /** Appends the ids of the piece to `out`; false where it is not known. */
  find(units: Uint16Array, start: number, end: number, hash: number, out: IdBuffer): boolean {
    const { young } = this;
    let slot = young.find(units, start, end, hash);
    if (slot >= 0) {
      young.copy(slot, out);
      return true;
    }
    slot = this.old.find(units, start, end, hash);
    if (slot < 0) return false;
    const from = out.length;
    this.old.copy(slot, out);
    this.add(units, start, end, hash, out, from);
    return true;
  }

  /** Remembers that the piece has the ids of `out` from `from` on. */
  add(units: Uint16Array, start: number, end: number, hash: number, out: IdBuffer, from: number): void {
    if (this.young.isFull(end - start, out.length - from)) {
      const { old } = this;
      this.old = this.young;
      this.young = old;
      old.clear();
    }
    this.young.add(units, start, end, hash, out, from);
  }
}

class Generation {
  /** Per slot: hash (0 = free), place of the units, `length | count << 16`, the id itself or the place of the ids. */
  private readonly slots = new Int32Array(SLOTS * SLOT_INTS);
  private readonly units = new Uint16Array(UNITS_MAX);
  private readonly ids = new Int32Array(IDS_MAX);
  private pieceCount = 0;
  private unitCount = 0;
  private idCount = 0;

  isFull(units: number, ids: number): boolean {
    return this.pieceCount >= PIECES_MAX || this.unitCount + units > UNITS_MAX || this.idCount + ids > IDS_MAX;
  }

  clear(): void {
    this.slots.fill(0);
    this.pieceCount = 0;
    this.unitCount = 0;
    this.idCount = 0;
  }

  find(units: Uint16Array, start: number, end: number, hash: number): number {
    const { slots, units: kept } = this;
    const length = end - start;
    let slot = (hash & (SLOTS - 1)) * SLOT_INTS;
    for (let probe = 0; probe < PROBES_MAX; probe++) {
      const found = slots[slot]!;
      if (found === 0) return -1;
      if (found === hash && (slots[slot + 2]! & 0xffff) === length) {
        const at = slots[slot + 1]!;
        let same = 0;
        while (same < length && kept[at + same] === units[start + same]) same++;
        if (same === length) return slot;
      }
      slot = (slot + SLOT_INTS) & (SLOTS * SLOT_INTS - 1);
    }
    return -1;
  }

  copy(slot: number, out: IdBuffer): void {
    const count = this.slots[slot + 2]! >>> 16;
    const value = this.slots[slot + 3]!;
    if (count === 1) {
      out.push(value);
      return;
    }
    out.reserve(count);
    const { ids } = this;
    const target = out.ids;
    let { length } = out;
    for (let i = value; i < value + count; i++) target[length++] = ids[i]!;
    out.length = length;
  }

  add(units: Uint16Array, start: number, end: number, hash: number, out: IdBuffer, from: number): void {
    const { slots } = this;
    let slot = (hash & (SLOTS - 1)) * SLOT_INTS;
    let probe = 0;
    while (slots[slot] !== 0) {
      if (++probe === PROBES_MAX) return;
      slot = (slot + SLOT_INTS) & (SLOTS * SLOT_INTS - 1);
    }
    const count = out.length - from;
    slots[slot] = hash;
    slots[slot + 1] = this.unitCount;
    slots[slot + 2] = (end - start) | (count << 16);
    slots[slot + 3] = count === 1 ? out.ids[from]! : this.idCount;
    for (let i = start; i < end; i++) this.units[this.unitCount++] = units[i]!;
    if (count !== 1) for (let i = from; i < out.length; i++) this.ids[this.idCount++] = out.ids[i]!;
    this.pieceCount++;
  }
}
