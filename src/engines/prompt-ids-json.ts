/** Token ids and the JSON array that spells them, without spaces. */
export interface WrittenIds {
  readonly ids: Int32Array;
  /** ASCII, from `[` to `]`. */
  readonly bytes: Uint8Array;
}

const OPEN = 0x5b;
const CLOSE = 0x5d;
const COMMA = 0x2c;
/** Bytes of the longest id with its comma: `-2147483648,`. */
const LONGEST = 12;
/** Bytes of most ids with their comma. */
const USUAL = 7;

/**
 * The digits of every number below 10,000 as four bytes, the first in the lowest: `PADDED` with leading zeros, `LEADING` from
 * the first digit on, whose number is in `LENGTHS`. One store writes four digits and needs no branch.
 */
const PADDED = new Uint32Array(10_000);
const LEADING = new Uint32Array(10_000);
const LENGTHS = new Uint8Array(10_000);
for (let number = 0; number < 10_000; number++) {
  const text = String(number);
  LENGTHS[number] = text.length;
  PADDED[number] = packed(text.padStart(4, '0'));
  LEADING[number] = packed(text.padEnd(4, '0'));
}

function packed(digits: string): number {
  return Buffer.from(digits, 'latin1').readUInt32LE();
}

/**
 * Spells ids as a JSON array straight from the typed array. What `from` already spells of their beginning is copied, not
 * written again; `from` may differ from `ids` anywhere, only the common beginning is used. `before` and `after` are free
 * bytes that the buffer has around the array, so that a body can be completed in place.
 */
export function promptIdsJson(ids: Int32Array, from?: WrittenIds, before = 0, after = 0): WrittenIds {
  const common = from === undefined ? 0 : commonLength(from.ids, ids);
  const kept = from === undefined || common === 0 ? 0 : spelledLength(from, common);
  let view = freshView(before + kept + (ids.length - common) * USUAL + LONGEST + 1 + after);
  let at = before;
  if (from !== undefined && kept > 0) {
    new Uint8Array(view.buffer).set(from.bytes.subarray(0, kept), at);
    at += kept;
    view.setUint8(at++, COMMA);
  } else view.setUint8(at++, OPEN);
  let limit = view.byteLength - LONGEST - 1 - after;
  for (let index = common; index < ids.length; index++) {
    if (at > limit) {
      const larger = freshView(at + (ids.length - index) * LONGEST + LONGEST + 1 + after);
      new Uint8Array(larger.buffer).set(new Uint8Array(view.buffer, 0, at));
      view = larger;
      limit = Number.POSITIVE_INFINITY;
    }
    at = writeInteger(view, at, ids[index]!);
    view.setUint8(at++, COMMA);
  }
  // The last comma gives way; an empty array has none.
  if (ids.length === 0) at++;
  view.setUint8(at - 1, CLOSE);
  return { ids, bytes: new Uint8Array(view.buffer, before, at - before) };
}

/** A buffer of its own that was not cleared. */
function freshView(bytes: number): DataView<ArrayBuffer> {
  return new DataView(Buffer.allocUnsafeSlow(bytes).buffer);
}

/** Number of leading ids that two arrays share. */
export function commonLength(a: Int32Array, b: Int32Array): number {
  const length = Math.min(a.length, b.length);
  if (a === b) return length;
  const left = Buffer.from(a.buffer, a.byteOffset, length * 4);
  if (left.equals(Buffer.from(b.buffer, b.byteOffset, length * 4))) return length;
  let index = 0;
  while (a[index] === b[index]) index++;
  return index;
}

/** Bytes that spell `[` and the first `count` ids, without a comma behind them. */
function spelledLength(written: WrittenIds, count: number): number {
  let at = written.bytes.length - 1;
  for (let left = written.ids.length - count; left > 0; left--) {
    at--;
    while (written.bytes[at] !== COMMA) at--;
  }
  return at;
}

function writeInteger(view: DataView, at: number, value: number): number {
  if (value >= 0 && value < 10_000) {
    view.setUint32(at, LEADING[value]!, true);
    return at + LENGTHS[value]!;
  }
  if (value < 0 || value >= 100_000_000) return writeText(view, at, String(value));
  const high = (value / 10_000) | 0;
  view.setUint32(at, LEADING[high]!, true);
  const next = at + LENGTHS[high]!;
  view.setUint32(next, PADDED[value - high * 10_000]!, true);
  return next + 4;
}

function writeText(view: DataView, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) view.setUint8(at + index, text.charCodeAt(index));
  return at + text.length;
}
