import { raise } from './python-error.js';

/** |x| · 10^digits, rounded half to even on the exact value of the double. */
function scaled(x: number, digits: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(x));
  const bits = view.getBigUint64(0);
  const exponent = Number(bits >> 52n);
  const mantissa = (bits & 0xfffffffffffffn) | (exponent > 0 ? 0x10000000000000n : 0n);
  const shift = Math.max(exponent, 1) - 1075;
  const above = mantissa * (digits > 0 ? 10n ** BigInt(digits) : 1n) * (shift > 0 ? 1n << BigInt(shift) : 1n);
  const below = (digits < 0 ? 10n ** BigInt(-digits) : 1n) * (shift < 0 ? 1n << BigInt(-shift) : 1n);
  const quotient = above / below;
  const twice = (above % below) * 2n;
  return twice > below || (twice === below && quotient % 2n === 1n) ? quotient + 1n : quotient;
}

const signOf = (x: number): string => (x < 0 || Object.is(x, -0) ? '-' : '');

/** `x` with exactly `digits` decimals. */
export function fixed(x: number, digits: number): string {
  const text = scaled(x, digits)
    .toString()
    .padStart(digits + 1, '0');
  return signOf(x) + (digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`);
}

/** `x` as one digit, `digits` decimals and a power of ten. */
export function exponential(x: number, digits: number): { readonly text: string; readonly power: number } {
  let power = x === 0 ? 0 : Number(x.toExponential(20).split('e')[1]);
  let all = scaled(x, digits - power).toString();
  if (all.length > digits + 1) {
    power++;
    all = scaled(x, digits - power).toString();
  }
  all = all.padEnd(digits + 1, '0');
  const exponent = `${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
  return { text: `${signOf(x)}${all[0]}${digits > 0 ? `.${all.slice(1)}` : ''}e${exponent}`, power };
}

/** `round(x, digits)`. */
export function roundDouble(x: number, digits: number): number {
  if (!Number.isFinite(x) || digits > 323) return x;
  if (digits < -308) return x < 0 || Object.is(x, -0) ? -0 : 0;
  if (digits >= 0) return Number(fixed(x, digits));
  const result = Number(`${signOf(x)}${scaled(x, digits)}e${-digits}`);
  if (!Number.isFinite(result)) raise('OverflowError', 'rounded value too large to represent');
  return result;
}
