import { formatPercent } from './format-percent.js';
import { escapeHtml } from './html.js';
import { doubleOf, intOf, isFloat, makeFloat, makeInt } from './numbers.js';
import type { List, Value } from './object.js';
import { overLimit, raise, typeError } from './python-error.js';
import { typeName } from './type-names.js';
import { isStr, Markup, strText, Tuple, Undefined } from './values.js';

/** Longest text and list that an operator may make. */
export const MAX_LENGTH = 1 << 28;
const MAX_BITS = 1 << 20;

export function add(a: Value, b: Value): Value {
  if (typeof a === 'string' && typeof b === 'string') return checkedText(a + b);
  const sum = arithmetic(
    a,
    b,
    (x, y) => x + y,
    (x, y) => x + y,
  );
  if (sum !== undefined) return sum;
  if (Array.isArray(a) && Array.isArray(b)) return checkedList([...a, ...b]);
  if (a instanceof Tuple && b instanceof Tuple) return new Tuple([...a.items, ...b.items]);
  if (isStr(a) && isStr(b)) return new Markup(htmlOf(a) + htmlOf(b));
  unsupported('+', a, b);
}

const htmlOf = (value: string | Markup): string => (typeof value === 'string' ? escapeHtml(value) : value.text);

export function subtract(a: Value, b: Value): Value {
  return (
    arithmetic(
      a,
      b,
      (x, y) => x - y,
      (x, y) => x - y,
    ) ?? unsupported('-', a, b)
  );
}

export function multiply(a: Value, b: Value): Value {
  const product = arithmetic(
    a,
    b,
    (x, y) => x * y,
    (x, y) => x * y,
  );
  if (product !== undefined) return product;
  const times = intOf(b);
  if (times !== undefined) return repeat(a, times) ?? unsupported('*', a, b);
  const left = intOf(a);
  if (left !== undefined) return repeat(b, left) ?? unsupported('*', a, b);
  if (a instanceof Undefined) a.fail();
  if (b instanceof Undefined) b.fail();
  if (isSequence(a)) typeError(`can't multiply sequence by non-int of type '${typeName(b)}'`);
  if (isSequence(b)) typeError(`can't multiply sequence by non-int of type '${typeName(a)}'`);
  unsupported('*', a, b);
}

const isSequence = (value: Value): boolean => isStr(value) || Array.isArray(value) || value instanceof Tuple;

function repeatCount(times: bigint): number {
  if (times >= 1n << 63n || times < -(1n << 63n)) raise('OverflowError', "cannot fit 'int' into an index-sized integer");
  return Number(times);
}

function repeat(value: Value, times: number | bigint): Value | undefined {
  if (!isSequence(value)) return undefined;
  const count = Math.max(0, typeof times === 'number' ? times : repeatCount(times));
  if (isStr(value)) {
    const text = strText(value);
    if (text.length * count > MAX_LENGTH) overLimit('characters in one text', MAX_LENGTH);
    const repeated = text === '' ? '' : text.repeat(count);
    return typeof value === 'string' ? repeated : new Markup(repeated);
  }
  const items = Array.isArray(value) ? (value as List) : (value as Tuple).items;
  if (items.length * count > MAX_LENGTH / 16) overLimit('items in one list', MAX_LENGTH / 16);
  const repeated: Value[] = [];
  if (items.length > 0) for (let round = 0; round < count; round++) for (const item of items) repeated.push(item);
  return Array.isArray(value) ? repeated : new Tuple(repeated);
}

export function divide(a: Value, b: Value): Value {
  const [x, y] = doubles('/', a, b);
  if (y === 0) raise('ZeroDivisionError', isFloat(a) || isFloat(b) ? 'float division by zero' : 'division by zero');
  const left = intOf(a);
  const right = intOf(b);
  if (left !== undefined && right !== undefined && (typeof left === 'bigint' || typeof right === 'bigint'))
    return makeFloat(divideBig(BigInt(left), BigInt(right)));
  return makeFloat(x / y);
}

/** True division of ints, correctly rounded. */
function divideBig(a: bigint, b: bigint): number {
  const negative = a < 0n !== b < 0n;
  const x = a < 0n ? -a : a;
  const y = b < 0n ? -b : b;
  const shift = Math.max(0, 66 - (x.toString(2).length - y.toString(2).length));
  const scaled = x << BigInt(shift);
  const quotient = scaled / y;
  // A sticky last bit keeps the rounding of the conversion right.
  const sticky = scaled % y === 0n ? quotient << 1n : (quotient << 1n) | 1n;
  const result = Number(sticky) / 2 ** (shift + 1);
  return negative ? -result : result;
}

export function floorDivide(a: Value, b: Value): Value {
  const left = intOf(a);
  const right = intOf(b);
  if (left !== undefined && right !== undefined) {
    if (!right) raise('ZeroDivisionError', 'integer division or modulo by zero');
    if (typeof left === 'number' && typeof right === 'number') return makeInt(floorDivideBig(BigInt(left), BigInt(right)));
    return makeInt(floorDivideBig(BigInt(left), BigInt(right)));
  }
  const [x, y] = doubles('//', a, b);
  if (y === 0) raise('ZeroDivisionError', 'float floor division by zero');
  return makeFloat(floatDivmod(x, y)[0]);
}

function floorDivideBig(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}

function floatDivmod(x: number, y: number): [number, number] {
  let rest = x % y;
  let quotient = (x - rest) / y;
  if (rest) {
    if (y < 0 !== rest < 0) {
      rest += y;
      quotient -= 1;
    }
  } else rest = y < 0 || Object.is(y, -0) ? -0 : 0;
  let floor: number;
  if (quotient) {
    floor = Math.floor(quotient);
    if (quotient - floor > 0.5) floor += 1;
  } else floor = x / y < 0 || Object.is(x / y, -0) ? -0 : 0;
  return [floor, rest];
}

export function modulo(a: Value, b: Value): Value {
  if (isStr(a)) return formatPercent(a, b);
  const left = intOf(a);
  const right = intOf(b);
  if (left !== undefined && right !== undefined) {
    if (!right) raise('ZeroDivisionError', 'integer division or modulo by zero');
    if (typeof left === 'number' && typeof right === 'number') {
      const rest = left % right;
      return rest !== 0 && rest < 0 !== right < 0 ? rest + right : rest + 0;
    }
    const rest = BigInt(left) % BigInt(right);
    return makeInt(rest !== 0n && rest < 0n !== right < 0n ? rest + BigInt(right) : rest);
  }
  const [x, y] = doubles('%', a, b);
  if (y === 0) raise('ZeroDivisionError', 'float modulo');
  return makeFloat(floatDivmod(x, y)[1]);
}

export function power(a: Value, b: Value): Value {
  const base = intOf(a);
  const exponent = intOf(b);
  if (base !== undefined && exponent !== undefined && exponent >= 0) {
    const bits = BigInt(base).toString(2).length;
    if (bits > 1 && BigInt(exponent) * BigInt(bits) > BigInt(MAX_BITS)) overLimit('bits in an integer', MAX_BITS);
    return makeInt(BigInt(base) ** BigInt(exponent));
  }
  const [x, y] = doubles('** or pow()', a, b);
  if (x === 0 && y < 0) raise('ZeroDivisionError', '0.0 cannot be raised to a negative power');
  if (x < 0 && Number.isFinite(x) && Number.isFinite(y) && !Number.isInteger(y))
    raise('LimitExceeded', 'a root of a negative number is a complex number, which templates cannot use here');
  if (x === 1 || y === 0) return makeFloat(1);
  const result = x === -1 && !Number.isFinite(y) && !Number.isNaN(y) ? 1 : x ** y;
  if (!Number.isFinite(result) && Number.isFinite(x) && Number.isFinite(y)) raise('OverflowError', "(34, 'Numerical result out of range')");
  return makeFloat(result);
}

export function negate(value: Value): Value {
  const int = intOf(value);
  if (int !== undefined) return typeof int === 'bigint' ? makeInt(-int) : 0 - int;
  const double = doubleOf(value);
  if (double !== undefined) return makeFloat(-double);
  if (value instanceof Undefined) value.fail();
  typeError(`bad operand type for unary -: '${typeName(value)}'`);
}

export function positive(value: Value): Value {
  const int = intOf(value);
  if (int !== undefined) return int;
  if (doubleOf(value) !== undefined) return value;
  if (value instanceof Undefined) value.fail();
  typeError(`bad operand type for unary +: '${typeName(value)}'`);
}

/** The result for two numbers; `undefined` where an operand is none. */
function arithmetic(
  a: Value,
  b: Value,
  onDoubles: (x: number, y: number) => number,
  onInts: (x: bigint, y: bigint) => bigint,
): Value | undefined {
  const left = intOf(a);
  const right = intOf(b);
  if (left !== undefined && right !== undefined) {
    if (typeof left === 'number' && typeof right === 'number') {
      const result = onDoubles(left, right);
      if (Number.isSafeInteger(result)) return result + 0;
    }
    return makeInt(onInts(BigInt(left), BigInt(right)));
  }
  const x = doubleOf(a);
  if (x === undefined) return undefined;
  const y = doubleOf(b);
  return y === undefined ? undefined : makeFloat(onDoubles(x, y));
}

function doubles(operator: string, a: Value, b: Value): [number, number] {
  const x = doubleOf(a);
  const y = doubleOf(b);
  return x === undefined || y === undefined ? unsupported(operator, a, b) : [x, y];
}

function unsupported(operator: string, a: Value, b: Value): never {
  if (a instanceof Undefined) a.fail();
  if (b instanceof Undefined) b.fail();
  if (operator === '+' && isStr(a)) typeError(`can only concatenate str (not "${typeName(b)}") to str`);
  if (operator === '+' && isSequence(a)) typeError(`can only concatenate ${typeName(a)} (not "${typeName(b)}") to ${typeName(a)}`);
  typeError(`unsupported operand type(s) for ${operator}: '${typeName(a)}' and '${typeName(b)}'`);
}

export function checkedText(text: string): string {
  if (text.length > MAX_LENGTH) overLimit('characters in one text', MAX_LENGTH);
  return text;
}
function checkedList(items: Value[]): Value[] {
  if (items.length > MAX_LENGTH / 16) overLimit('items in one list', MAX_LENGTH / 16);
  return items;
}
