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
 * Writes an int32 in decimal, and may write up to three bytes behind it.
 * @returns where it ends
 */
export function writeInteger(view: DataView, at: number, value: number): number {
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
