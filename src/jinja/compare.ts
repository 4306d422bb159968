import { JsonFloat } from '../canonical/json-value.js';
import { compareCodePoints } from '../canonical/json-write.js';
import { type List, PyObject, type StrDict, type Value } from './object.js';
import { typeError } from './python-error.js';
import { typeName } from './type-names.js';
import { dictEntries, dictGet, dictSize, isDict, Markup, type PyDict, Tuple, Undefined } from './values.js';

/** The number of an int, float or bool for comparing, `undefined` for other values. */
function numeric(value: Value): number | bigint | undefined {
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return value;
    case 'boolean':
      return value ? 1 : 0;
    default:
      return value instanceof JsonFloat ? value.value : undefined;
  }
}

/** `a == b`. */
export function equal(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (typeof a === 'string') return b instanceof Markup && b.text === a;
  const left = numeric(a);
  if (left !== undefined) {
    const right = numeric(b);
    // biome-ignore lint/suspicious/noDoubleEquals: a bigint and a number are compared by value
    return right !== undefined && left == right;
  }
  if (a === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a, b);
  if (isDict(a)) return b !== null && typeof b === 'object' && isDict(b) && equalDicts(a, b);
  return a instanceof PyObject && a.equals(b);
}

function equalLists(a: List, b: List): boolean {
  return a.length === b.length && a.every((item, index) => equal(item, b[index]!));
}

function equalDicts(a: StrDict | PyDict, b: StrDict | PyDict): boolean {
  if (dictSize(a) !== dictSize(b)) return false;
  for (const [key, value] of dictEntries(a)) {
    const other = dictGet(b, key);
    if (other === undefined || !equal(value, other)) return false;
  }
  return true;
}

/** Key in a JavaScript `Map` that is the same for values that Python's dict takes for equal; `undefined` for an unhashable value. */
export function hashKey(value: Value): unknown {
  switch (typeof value) {
    case 'string':
      return value.charCodeAt(0) === 0 ? `\0s${value}` : value;
    case 'number':
      return value;
    case 'boolean':
      return value ? 1 : 0;
    case 'bigint':
      return value;
    default:
      if (value === null) return '\0n';
      if (value instanceof JsonFloat) return Number.isSafeInteger(value.value) ? value.value : BigInt(value.value);
      return value instanceof PyObject ? value.hashKey() : undefined;
  }
}

export type Ordering = '<' | '<=' | '>' | '>=';

const holds = (ordering: Ordering, sign: number): boolean => {
  switch (ordering) {
    case '<':
      return sign < 0;
    case '<=':
      return sign <= 0;
    case '>':
      return sign > 0;
    default:
      return sign >= 0;
  }
};

/** `a < b` and its kin; raises TypeError for values without an order. */
export function ordered(ordering: Ordering, a: Value, b: Value): boolean {
  const left = numeric(a);
  if (left !== undefined) {
    const right = numeric(b);
    if (right !== undefined) {
      if (Number.isNaN(left) || Number.isNaN(right)) return false;
      return holds(ordering, left < right ? -1 : left > right ? 1 : 0);
    }
  }
  const leftText = typeof a === 'string' ? a : a instanceof Markup ? a.text : undefined;
  if (leftText !== undefined) {
    const rightText = typeof b === 'string' ? b : b instanceof Markup ? b.text : undefined;
    if (rightText !== undefined) return holds(ordering, compareCodePoints(leftText, rightText));
  }
  if (a instanceof Undefined) a.fail();
  if (b instanceof Undefined) b.fail();
  if (Array.isArray(a) && Array.isArray(b)) return orderedLists(ordering, a, b);
  if (a instanceof Tuple && b instanceof Tuple) return orderedLists(ordering, a.items, b.items);
  typeError(`'${ordering}' not supported between instances of '${typeName(a)}' and '${typeName(b)}'`);
}

function orderedLists(ordering: Ordering, a: List, b: List): boolean {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index++) if (!equal(a[index]!, b[index]!)) return ordered(ordering, a[index]!, b[index]!);
  return holds(ordering, a.length - b.length);
}
