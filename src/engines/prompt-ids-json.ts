/** Token ids and the JSON array that spells them, without spaces. */
export interface WrittenIds {
  readonly ids: Int32Array;
  /** ASCII, from `[` to `]`. */
  readonly bytes: Uint8Array;
}

const OPEN = 0x5b;
const CLOSE = 0x5d;
const COMMA = 0x2c;
const ZERO = 0x30;
/** Bytes of the longest id with its comma: `-2147483648,`. */
const LONGEST = 12;

/**
 * Spells ids as a JSON array straight from the typed array. What `from` already spells of their beginning is copied, not
 * written again; `from` may differ from `ids` anywhere, only the common beginning is used.
 */
export function promptIdsJson(ids: Int32Array, from?: WrittenIds): WrittenIds {
  const common = from === undefined ? 0 : commonLength(from.ids, ids);
  const kept = from === undefined || common === 0 ? 0 : spelledLength(from, common);
  let bytes = new Uint8Array(kept + (ids.length - common) * 7 + LONGEST + 2);
  let at = 0;
  if (from !== undefined && kept > 0) {
    bytes.set(from.bytes.subarray(0, kept));
    at = kept;
  } else bytes[at++] = OPEN;
  for (let index = common; index < ids.length; index++) {
    if (at + LONGEST + 1 > bytes.length) bytes = grown(bytes, at, (ids.length - index) * LONGEST + 2);
    if (index > 0) bytes[at++] = COMMA;
    at = writeInteger(bytes, at, ids[index]!);
  }
  bytes[at++] = CLOSE;
  return { ids, bytes: bytes.subarray(0, at) };
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

function grown(bytes: Uint8Array<ArrayBuffer>, used: number, more: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(used + more);
  larger.set(bytes.subarray(0, used));
  return larger;
}

function writeInteger(bytes: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  if (rest < 0) {
    const text = String(rest);
    for (let index = 0; index < text.length; index++) bytes[at++] = text.charCodeAt(index);
    return at;
  }
  const digits = digitCount(rest);
  for (let place = at + digits - 1; place > at; place--) {
    const tenth = (rest / 10) | 0;
    bytes[place] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
  bytes[at] = ZERO + rest;
  return at + digits;
}

function digitCount(value: number): number {
  if (value < 1000) return value < 10 ? 1 : value < 100 ? 2 : 3;
  if (value < 100_000) return value < 10_000 ? 4 : 5;
  if (value < 10_000_000) return value < 1_000_000 ? 6 : 7;
  return value < 100_000_000 ? 8 : value < 1_000_000_000 ? 9 : 10;
}
