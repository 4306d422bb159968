import type { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { endOfJsonString, endOfJsonValue, isDelimiter, showsItsEnd, skipJsonSpace } from '../canonical/json-bytes.js';
import { JsonSyntaxError } from '../canonical/json-parse.js';
import type { JsonValue } from '../canonical/json-value.js';
import { type BodyOutline, HISTORY, historyLength, type OutlinedItems, type OutlinedMember } from './body-outline.js';
import type { SharedPrefix } from './shared-prefix.js';
import { PartReader, TextReader, type ValueReader } from './value-reader.js';

/** How many items of the earlier list are looked at when one is not where it was, and how many for a whole body. */
const SEARCHED_ITEMS = 64;
const SEARCHED_IN_ALL = 16_384;
/** Shorter spans are summed faster without a call. */
const SHORT_SPAN = 48;

const COMMA = 44;
const COLON = 58;
const QUOTE = 34;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/**
 * Reads a body that is a JSON object: what it says is what `parseJsonBytes` says, and every member and every item of a list whose
 * bytes stand in `base` too is the same object as there.
 * @param shared what stands in `base` at the same place
 * @returns `null` for what this reader leaves to the plain one: bodies that are wrong, that are no object or name a member twice
 */
export function readBody(bytes: Buffer, depth: number, base: BodyOutline | null, shared: SharedPrefix): BodyOutline | null {
  if (depth < 2) return null;
  try {
    return new BodyReader(bytes, depth, base).read(shared);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null;
    throw error;
  }
}

const NO_ITEMS: OutlinedItems = { values: [], starts: [], ends: [], sums: [] };

class BodyReader {
  #at = 0;
  #reused = 0;
  #searches = SEARCHED_IN_ALL;
  readonly #values: ValueReader;

  constructor(
    private readonly bytes: Buffer,
    private readonly depth: number,
    private readonly base: BodyOutline | null,
  ) {
    this.#values = base === null ? new TextReader(bytes) : new PartReader(bytes);
  }

  read(shared: SharedPrefix): BodyOutline | null {
    const members = this.base === null ? [] : this.base.members.slice(0, shared.members);
    for (const member of members) if (member.name === HISTORY) this.#reused = member.items?.values.length ?? 0;
    const begun = shared.items === null ? undefined : this.base!.members[shared.members]!;
    if (begun !== undefined) {
      const { name, nameStart, nameEnd, start } = begun;
      members.push(this.#list(name, nameStart, nameEnd, start, begun, shared.items!));
    } else if (members.length > 0) this.#at = members.at(-1)!.end;
    else {
      this.#expect(OPEN_BRACE, skipJsonSpace(this.bytes, 0));
      members.push(this.#member(skipJsonSpace(this.bytes, this.#at)));
    }
    for (;;) {
      const at = skipJsonSpace(this.bytes, this.#at);
      if (this.bytes[at] === CLOSE_BRACE) {
        this.#at = skipJsonSpace(this.bytes, at + 1);
        break;
      }
      this.#expect(COMMA, at);
      members.push(this.#member(skipJsonSpace(this.bytes, this.#at)));
    }
    if (this.#at < this.bytes.length) this.#fail();
    const value = new Map<string, JsonValue>();
    for (const member of members) value.set(member.name, member.value);
    if (value.size < members.length) return null;
    const lost = this.base === null ? 0 : historyLength(this.base) - this.#reused;
    return { bytes: this.bytes, value, members, history: { reused: this.#reused, lost } };
  }

  #member(nameStart: number): OutlinedMember {
    const { bytes } = this;
    if (bytes[nameStart] !== QUOTE) this.#fail();
    const before = this.#memberNamed(nameStart);
    const name = before?.name ?? (this.#value(nameStart, 0) as string);
    const nameEnd = before === null ? this.#at : nameStart + before.nameEnd - before.nameStart;
    this.#expect(COLON, skipJsonSpace(bytes, nameEnd));
    const start = skipJsonSpace(bytes, this.#at);
    if (before !== null && this.#sameValue(before.start, before.end, start)) {
      this.#at = start + before.end - before.start;
      if (name === HISTORY) this.#reused = before.items?.values.length ?? 0;
      return { name, nameStart, nameEnd, start, end: this.#at, value: before.value, sum: before.sum, items: before.items };
    }
    if (bytes[start] === OPEN_BRACKET) return this.#list(name, nameStart, nameEnd, start, before, 0);
    const value = this.#value(start, this.depth - 1);
    return { name, nameStart, nameEnd, start, end: this.#at, value, sum: sumOfBytes(bytes, start, this.#at), items: null };
  }

  /**
   * A member whose value is a list.
   * @param before the member of that name in `base`
   * @param shared leading items that are known to be equal and at the same place
   */
  #list(name: string, nameStart: number, nameEnd: number, start: number, before: OutlinedMember | null, shared: number): OutlinedMember {
    const { bytes } = this;
    const old = before?.items ?? NO_ITEMS;
    const from = before?.start ?? 0;
    const values = old.values.slice(0, shared);
    const starts = old.starts.slice(0, shared);
    const ends = old.ends.slice(0, shared);
    const sums = old.sums.slice(0, shared);
    let reused = shared;
    let next = shared;
    this.#at = shared === 0 ? start + 1 : start + ends[shared - 1]!;
    let at = skipJsonSpace(bytes, this.#at);
    let isOver = bytes[at] === CLOSE_BRACKET;
    while (!isOver) {
      if (values.length > 0) {
        this.#expect(COMMA, at);
        at = skipJsonSpace(bytes, this.#at);
      }
      const found = this.#find(old, from, next, at);
      if (found === -1) {
        values.push(this.#value(at, this.depth - 2));
        sums.push(sumOfBytes(bytes, at, this.#at));
      } else {
        values.push(old.values[found]!);
        sums.push(old.sums[found]!);
        next = found + 1;
        reused++;
      }
      starts.push(at - start);
      ends.push(this.#at - start);
      at = skipJsonSpace(bytes, this.#at);
      isOver = bytes[at] === CLOSE_BRACKET;
    }
    this.#at = at + 1;
    if (name === HISTORY) this.#reused = reused;
    const isSame = before !== null && reused === values.length && reused === old.values.length && before.items !== null;
    const items = { values: isSame ? old.values : values, starts, ends, sums };
    return { name, nameStart, nameEnd, start, end: this.#at, value: items.values, sum: sumOf(sums), items };
  }

  /** Where in the earlier list, from `next` on, the item at `at` stands, and moves past it; -1 where it is new. */
  #find(old: OutlinedItems, from: number, next: number, at: number): number {
    const { starts, ends } = old;
    const limit = Math.min(starts.length, next + SEARCHED_ITEMS);
    if (next < limit && this.#sameValue(from + starts[next]!, from + ends[next]!, at)) {
      this.#at = at + ends[next]! - starts[next]!;
      return next;
    }
    if (next + 1 >= limit || this.#searches <= 0) return -1;
    this.#searches -= limit - next;
    const end = endOfJsonValue(this.bytes, at);
    for (let i = next + 1; i < limit; i++) {
      if (ends[i]! - starts[i]! === end - at && this.#same(from + starts[i]!, from + ends[i]!, at)) {
        this.#at = end;
        return i;
      }
    }
    return -1;
  }

  #memberNamed(start: number): OutlinedMember | null {
    if (this.base === null) return null;
    const length = endOfJsonString(this.bytes, start) - start;
    for (const it of this.base.members) {
      if (it.nameEnd - it.nameStart === length && this.#same(it.nameStart, it.nameEnd, start)) return it;
    }
    return null;
  }

  /** Whether the bytes at `at` are those of the earlier body from `start` to `end`. */
  #same(start: number, end: number, at: number): boolean {
    const { bytes } = this;
    const own = at + end - start;
    const before = this.base!.bytes;
    if (own > bytes.length || bytes[own - 1] !== before[end - 1] || bytes[at] !== before[start]) return false;
    return bytes.compare(before, start, end, at, own) === 0;
  }

  #sameValue(start: number, end: number, at: number): boolean {
    return this.#same(start, end, at) && (showsItsEnd(this.bytes, at) || isDelimiter(this.bytes[at + end - start]));
  }

  /** Reads the value at `at` and moves past it. */
  #value(at: number, depth: number): JsonValue {
    const { value, end } = this.#values.read(at, depth);
    this.#at = end;
    return value;
  }

  #expect(byte: number, at: number): void {
    if (this.bytes[at] !== byte) this.#fail();
    this.#at = at + 1;
  }

  #fail(): never {
    throw new JsonSyntaxError('left to the plain reader', this.#at);
  }
}

function sumOfBytes(bytes: Buffer, start: number, end: number): number {
  if (end - start > SHORT_SPAN) return crc32(bytes.subarray(start, end)) | 0;
  let sum = end - start;
  for (let at = start; at < end; at++) sum = (Math.imul(sum, 0x9e3779b1) + bytes[at]!) | 0;
  return sum;
}

/** One number for a list of checksums, in order. */
function sumOf(sums: readonly number[]): number {
  let sum = sums.length;
  for (const it of sums) sum = (Math.imul(sum, 0x9e3779b1) + it) | 0;
  return sum;
}
