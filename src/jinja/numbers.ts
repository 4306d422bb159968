import { JsonFloat } from '../canonical/json-value.js';
import type { Value } from './object.js';
import { raise, typeError, valueError } from './python-error.js';
import { repr } from './repr.js';
import { typeName } from './type-names.js';
import { Undefined } from './values.js';

/** A Python float as a value. */
export function makeFloat(value: number): number | JsonFloat {
  return Number.isInteger(value) ? new JsonFloat(value) : value;
}

/** A Python int as a value. */
export function makeInt(value: bigint | number): number | bigint {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : BigInt(value);
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
}

export const isFloat = (value: Value): value is number | JsonFloat =>
  typeof value === 'number' ? !Number.isInteger(value) : value instanceof JsonFloat;

/** An int that is not a bool. */
export const isInt = (value: Value): value is number | bigint =>
  typeof value === 'number' ? Number.isInteger(value) : typeof value === 'bigint';

/** The value of an int or bool; `undefined` for other types. */
export function intOf(value: Value): number | bigint | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return isInt(value) ? value : undefined;
}

/** The value of an int, bool or float as a double; `undefined` for other types. Raises OverflowError for an int that is too large. */
export function doubleOf(value: Value): number | undefined {
  switch (typeof value) {
    case 'number':
      return value;
    case 'boolean':
      return value ? 1 : 0;
    case 'bigint':
      return doubleOfBigInt(value);
    default:
      return value instanceof JsonFloat ? value.value : undefined;
  }
}

function doubleOfBigInt(value: bigint): number {
  const double = Number(value);
  if (!Number.isFinite(double)) raise('OverflowError', 'int too large to convert to float');
  return double;
}

/** An index or count: the value of an int or bool. Raises TypeError for other types and OverflowError beyond 64 bits. */
export function indexOf(value: Value, what = 'integer'): number {
  const int = intOf(value);
  if (int === undefined) {
    if (value instanceof Undefined && what === 'int()') value.fail();
    typeError(`'${typeName(value)}' object cannot be interpreted as an integer`);
  }
  if (typeof int === 'number') return int;
  if (int >= 1n << 63n || int < -(1n << 63n)) raise('OverflowError', 'Python int too large to convert to C ssize_t');
  return int > 0n ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
}

const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*';
const INT_TEXT = new RegExp(`^${SPACE}([+-]?)(0[xX]|0[oO]|0[bB])?(_?[0-9a-zA-Z]+(?:_[0-9a-zA-Z]+)*)${SPACE}$`);
const FLOAT_TEXT = new RegExp(
  `^${SPACE}([+-]?)(?:(\\d+(?:_\\d+)*)?(\\.(?:\\d+(?:_\\d+)*)?)?([eE][+-]?\\d+(?:_\\d+)*)?|(inf(?:inity)?)|(nan))${SPACE}$`,
  'i',
);
const PREFIX_BASE: Readonly<Record<string, number>> = { x: 16, o: 8, b: 2 };

/** Other scripts' decimal digits as ASCII ones. */
function asciiDigits(text: string): string {
  return text.replace(/[^\x00-\x7f]/gu, (digit) => {
    if (!/\p{Nd}/u.test(digit)) return digit;
    const code = digit.codePointAt(0)!;
    let zero = code;
    while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
    return String(code - zero);
  });
}

/** `int(text, base)`; `null` where Python raises ValueError. */
export function parseIntText(text: string, base: number): number | bigint | null {
  if (base !== 0 && (base < 2 || base > 36)) valueError('int() base must be >= 2 and <= 36, or 0');
  const match = INT_TEXT.exec(asciiDigits(text));
  if (!match) return null;
  const [, sign, prefix, body] = match as unknown as [string, string, string | undefined, string];
  let digits = body.replaceAll('_', '').toLowerCase();
  let radix = base === 0 ? 10 : base;
  if (prefix) {
    const prefixed = PREFIX_BASE[prefix[1]!.toLowerCase()]!;
    if (base === 0 || base === prefixed) radix = prefixed;
    else digits = prefix.toLowerCase() + digits;
  } else {
    if (body.startsWith('_')) return null;
    if (base === 0 && /^0+[1-9]/.test(digits)) return null;
  }
  let value = 0n;
  if (radix === 10) {
    if (!/^\d+$/.test(digits)) return null;
    if (digits.length > 4300) return null;
    value = BigInt(digits);
  } else {
    for (const digit of digits) {
      const weight = Number.parseInt(digit, 36);
      if (weight >= radix) return null;
      value = value * BigInt(radix) + BigInt(weight);
    }
  }
  return makeInt(sign === '-' ? -value : value);
}

/** `float(text)`; `null` where Python raises ValueError. */
export function parseFloatText(text: string): number | null {
  const match = FLOAT_TEXT.exec(asciiDigits(text));
  if (!match) return null;
  const [, sign, whole, fraction, exponent, infinite, nan] = match;
  const factor = sign === '-' ? -1 : 1;
  if (infinite) return factor * Number.POSITIVE_INFINITY;
  if (nan) return Number.NaN;
  if (whole === undefined && (fraction === undefined || fraction === '.')) return null;
  return factor * Number(`${whole ?? '0'}${fraction ?? ''}${exponent ?? ''}`.replaceAll('_', ''));
}

/** `int(value)` for a number or text; raises as Python does. */
export function toInt(value: Value, base = 10): number | bigint {
  const int = intOf(value);
  if (int !== undefined) return int;
  if (isFloat(value)) {
    const double = typeof value === 'number' ? value : value.value;
    if (Number.isNaN(double)) valueError('cannot convert float NaN to integer');
    if (!Number.isFinite(double)) raise('OverflowError', 'cannot convert float infinity to integer');
    return makeInt(BigInt(Math.trunc(double)));
  }
  if (value instanceof Undefined) value.fail();
  const text = typeof value === 'string' ? value : typeName(value) === 'Markup' ? (value as { text: string } & Value).text : null;
  if (text === null) typeError(`int() argument must be a string, a bytes-like object or a real number, not '${typeName(value)}'`);
  return parseIntText(text, base) ?? valueError(`invalid literal for int() with base ${base}: ${repr(value)}`);
}

/** `float(value)` as a double; raises as Python does. */
export function toDouble(value: Value): number {
  const double = doubleOf(value);
  if (double !== undefined) return double;
  if (value instanceof Undefined) value.fail();
  const text = typeof value === 'string' ? value : typeName(value) === 'Markup' ? (value as { text: string } & Value).text : null;
  if (text === null) typeError(`float() argument must be a string or a real number, not '${typeName(value)}'`);
  return parseFloatText(text) ?? valueError(`could not convert string to float: ${repr(value)}`);
}
