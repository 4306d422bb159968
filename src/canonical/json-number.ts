import { JsonFloat, type JsonValue } from './json-value.js';

/** Python refuses longer integers; reading them costs more than linear time. */
export const MAX_INTEGER_DIGITS = 4300;
/** Digits of an integer that can be added up without rounding. */
const EXACT_DIGITS = 15;

const MINUS = 45;
const PLUS = 43;
const DOT = 46;
const ZERO = 48;
const NINE = 57;

/** One past the JSON number that begins at `start`; `start` where none does. What could be a fraction or an exponent and is none stays outside. */
export function endOfNumber(text: string, start: number): number {
  let at = start;
  let unit = text.charCodeAt(at);
  if (unit === MINUS) unit = text.charCodeAt(++at);
  if (unit === ZERO) unit = text.charCodeAt(++at);
  else {
    if (!(unit > ZERO && unit <= NINE)) return start;
    while (unit >= ZERO && unit <= NINE) unit = text.charCodeAt(++at);
  }
  if (unit === DOT && isDigit(text.charCodeAt(at + 1))) {
    at = endOfDigits(text, at + 2);
    unit = text.charCodeAt(at);
  }
  if (unit === 101 || unit === 69) {
    const sign = text.charCodeAt(at + 1);
    const digits = sign === MINUS || sign === PLUS ? at + 2 : at + 1;
    if (isDigit(text.charCodeAt(digits))) at = endOfDigits(text, digits + 1);
  }
  return at;
}

function endOfDigits(text: string, from: number): number {
  let at = from;
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}

const isDigit = (unit: number): boolean => unit >= ZERO && unit <= NINE;

/** The value of the JSON number from `start` to `end`; `undefined` for an integer of more than {@link MAX_INTEGER_DIGITS} digits. */
export function numberValue(text: string, start: number, end: number): JsonValue | undefined {
  const isNegative = text.charCodeAt(start) === MINUS;
  const first = isNegative ? start + 1 : start;
  let whole = 0;
  for (let at = first; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (!isDigit(unit)) return floatValue(text.slice(start, end));
    whole = whole * 10 + (unit - ZERO);
  }
  if (end - first <= EXACT_DIGITS) return isNegative && whole !== 0 ? -whole : whole;
  if (end - first > MAX_INTEGER_DIGITS) return undefined;
  const exact = BigInt(text.slice(start, end));
  const value = Number(exact);
  return Number.isSafeInteger(value) ? value : exact;
}

function floatValue(digits: string): JsonValue {
  const value = Number(digits);
  return Number.isInteger(value) ? new JsonFloat(value) : value;
}
