/** Reads numbers of JSON straight from bytes. A scanner stands at a byte and moves on as it reads. */

const MINUS = 0x2d;
const POINT = 0x2e;
const PLUS = 0x2b;
const ZERO = 0x30;
const NINE = 0x39;
const UPPER_E = 0x45;
const LOWER_E = 0x65;
/** Powers of ten that a double holds exactly. */
const POWERS = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
/** More than the rounding of 18 digits accumulates to, relative to the value. */
const ROUNDING = 1e-15;
const DIGITS_MAX = 18;

export class NumberScan {
  constructor(
    readonly bytes: Buffer,
    public at: number,
  ) {}

  /** An integer from 0 to 2^31 - 1; -1 where none stands here. */
  natural(): number {
    const { bytes, at: start } = this;
    let at = start;
    let value = 0;
    let digit = bytes[at]! - ZERO;
    while (digit >= 0 && digit <= 9) {
      value = value * 10 + digit;
      digit = bytes[++at]! - ZERO;
    }
    const length = at - start;
    const next = digit + ZERO;
    this.at = at;
    if (length === 0 || length > 10 || value > 0x7fff_ffff || (length > 1 && bytes[start] === ZERO)) return -1;
    return next === POINT || next === LOWER_E || next === UPPER_E ? -1 : value;
  }

  /**
   * A number, rounded to the float32 that is next to it; NaN where none stands here. Digits are summed up in a double; where
   * that could have changed the float32, the language's own reader decides.
   */
  float32(): number {
    const { bytes, at: start } = this;
    let at = start;
    const negative = bytes[at] === MINUS;
    if (negative) at++;
    const first = at;
    let mantissa = 0;
    let point = -1;
    let byte = bytes[at]!;
    for (;;) {
      if (byte >= ZERO && byte <= NINE) mantissa = mantissa * 10 + byte - ZERO;
      else if (byte === POINT && point < 0) point = at;
      else break;
      byte = bytes[++at]!;
    }
    const digits = at - first - (point < 0 ? 0 : 1);
    if (digits === 0 || point === first || point === at - 1) return Number.NaN;
    if (digits > DIGITS_MAX || byte === LOWER_E || byte === UPPER_E) return this.#slowFloat(start);
    const value = point < 0 ? mantissa : mantissa / POWERS[at - point - 1]!;
    const rounded = Math.fround(value);
    if (Math.fround(value * (1 + ROUNDING)) !== rounded || Math.fround(value * (1 - ROUNDING)) !== rounded) return this.#slowFloat(start);
    this.at = at;
    return negative ? -rounded : rounded;
  }

  /**
   * Moves behind a text; `false` = it does not stand here, and nothing moved. Not `exact`, only its ends are compared: for the
   * second and later items of a list, whose first one was compared in full.
   */
  skip(text: Uint8Array, exact: boolean): boolean {
    const { bytes, at } = this;
    const last = text.length - 1;
    if (bytes[at] !== text[0] || bytes[at + last] !== text[last]) return false;
    if (exact) for (let index = 1; index < last; index++) if (bytes[at + index] !== text[index]) return false;
    this.at = at + last + 1;
    return true;
  }

  #slowFloat(start: number): number {
    let end = start;
    while (isOfNumber(this.bytes[end]!)) end++;
    this.at = end;
    return Math.fround(Number(this.bytes.toString('latin1', start, end)));
  }
}

const isOfNumber = (byte: number): boolean =>
  (byte >= ZERO && byte <= NINE) || byte === POINT || byte === MINUS || byte === PLUS || byte === LOWER_E || byte === UPPER_E;
