import { equal, hashKey } from './compare.js';
import { intOf, makeInt } from './numbers.js';
import { type List, PyObject, type Value } from './object.js';
import { raise, typeError } from './python-error.js';
import { repr } from './repr.js';
import { codePointLength, codePoints } from './text-tools.js';
import { touched, tracing } from './tracing.js';
import { typeName } from './type-names.js';
import { type Dict, dictEntries, dictGet, dictSize, isDict, isStr, Markup, PyDict, strText, Tuple } from './values.js';

/** An iterator that a filter or `reversed` made: it can be used up once. */
export class PyIterator extends PyObject {
  private readonly birth = tracing.clock;
  constructor(
    override readonly typeName: string,
    private readonly iterator: Iterator<Value>,
  ) {
    super();
  }
  override truthy(): boolean {
    return true;
  }
  override iterate(): Iterator<Value> {
    touched(this.birth);
    return this.iterator;
  }
}

export class Range extends PyObject {
  override readonly typeName = 'range';
  readonly size: number;
  constructor(
    readonly start: number,
    readonly stop: number,
    readonly step: number,
  ) {
    super();
    this.size = Math.max(0, Math.ceil((stop - start) / step));
  }
  at(index: number): number {
    return this.start + index * this.step;
  }
  override repr(): string {
    return this.step === 1 ? `range(${this.start}, ${this.stop})` : `range(${this.start}, ${this.stop}, ${this.step})`;
  }
  override length(): number {
    return this.size;
  }
  override *iterate(): Generator<Value> {
    for (let index = 0; index < this.size; index++) yield this.at(index);
  }
  override get subscriptable(): boolean {
    return true;
  }
  has(value: Value): boolean {
    for (let index = 0; index < this.size; index++) if (equal(this.at(index), value)) return true;
    return false;
  }
  override equals(other: Value): boolean {
    return (
      other instanceof Range &&
      other.size === this.size &&
      (this.size === 0 || (this.start === other.start && (this.size === 1 || this.step === other.step)))
    );
  }
  override hashKey(): unknown {
    return `\0r${this.size}${this.size > 0 ? `,${this.start}${this.size > 1 ? `,${this.step}` : ''}` : ''}`;
  }
}

/** What `keys()`, `values()` and `items()` of a dict give. */
export class DictView extends PyObject {
  override readonly typeName: string;
  constructor(
    readonly dict: Dict,
    readonly kind: 'keys' | 'values' | 'items',
  ) {
    super();
    this.typeName = `dict_${kind}`;
  }
  override repr(): string {
    return `${this.typeName}([${[...this.iterate()].map(repr).join(', ')}])`;
  }
  override length(): number {
    return dictSize(this.dict);
  }
  override *iterate(): Generator<Value> {
    for (const [key, value] of dictEntries(this.dict))
      yield this.kind === 'keys' ? key : this.kind === 'values' ? value : new Tuple([key, value]);
  }
  has(value: Value): boolean {
    if (this.kind === 'values') return [...this.iterate()].some((item) => equal(item, value));
    if (this.kind === 'keys') return hasKey(this.dict, value);
    if (!(value instanceof Tuple) || value.items.length !== 2) return false;
    const member = dictGet(this.dict, value.items[0]!);
    return member !== undefined && equal(member, value.items[1]!);
  }
  override equals(other: Value): boolean {
    if (this === other) return true;
    if (this.kind === 'values' || !(other instanceof DictView) || other.kind === 'values' || other.length() !== this.length()) return false;
    return [...this.iterate()].every((item) => other.has(item));
  }
  override hashKey(): unknown {
    return this.kind === 'values' ? this : undefined;
  }
}

function hasKey(dict: Dict, key: Value): boolean {
  if (typeof key !== 'string' && hashKey(key) === undefined) typeError(`unhashable type: '${typeName(key)}'`);
  return dictGet(dict, key) !== undefined;
}

/** `iter(value)`, or `null` for a type that cannot be iterated. */
export function tryIterate(value: Value): Iterator<Value> | null {
  if (value === null) return null;
  if (typeof value === 'string') return codePoints(value)[Symbol.iterator]();
  if (typeof value !== 'object') return null;
  if (Array.isArray(value)) return (value as List)[Symbol.iterator]();
  if (value instanceof Map) return (value as ReadonlyMap<string, Value>).keys();
  if (value instanceof Markup) return codePoints(value.text)[Symbol.iterator]();
  return value instanceof PyObject ? value.iterate() : null;
}

/** `iter(value)`. */
export function iterate(value: Value): Iterator<Value> {
  return tryIterate(value) ?? typeError(`'${typeName(value)}' object is not iterable`);
}

/** `for item of each(value)`. */
export function each(value: Value): Iterable<Value> {
  if (Array.isArray(value)) return value as List;
  const iterator = iterate(value);
  return { [Symbol.iterator]: () => ({ next: () => iterator.next() }) };
}

/** `list(value)`; a list itself is returned as it is. */
export function toList(value: Value): List {
  if (Array.isArray(value)) return value as List;
  return value instanceof Tuple ? value.items : [...each(value)];
}

/** `len(value)`. */
export function length(value: Value): number {
  if (typeof value === 'string') return codePointLength(value);
  if (Array.isArray(value)) return value.length;
  if (value instanceof Map) return value.size;
  if (value instanceof Markup) return codePointLength(value.text);
  const size = value instanceof PyObject ? value.length() : -1;
  return size >= 0 ? size : typeError(`object of type '${typeName(value)}' has no len()`);
}

/** `item in container`. */
export function contains(container: Value, item: Value): boolean {
  if (isStr(container)) {
    if (isStr(item)) return strText(container).includes(strText(item));
    typeError(`'in <string>' requires string as left operand, not ${typeName(item)}`);
  }
  if (Array.isArray(container)) return (container as List).some((member) => equal(member, item));
  if (isDictValue(container)) return hasKey(container, item);
  if (container instanceof Range || container instanceof DictView) return container.has(item);
  const iterator = tryIterate(container);
  if (iterator === null) typeError(`argument of type '${typeName(container)}' is not iterable`);
  for (let step = iterator.next(); !step.done; step = iterator.next()) if (equal(step.value, item)) return true;
  return false;
}

const isDictValue = (value: Value): value is Dict => typeof value === 'object' && value !== null && isDict(value);

/** `reversed(value)` as the items in their new order; `null` where Python raises TypeError. */
export function reversed(value: Value): { readonly typeName: string; readonly items: List } | null {
  if (isStr(value)) return { typeName: 'reversed', items: [...each(value)].reverse() };
  if (Array.isArray(value)) return { typeName: 'list_reverseiterator', items: [...value].reverse() };
  if (value instanceof Map || value instanceof PyDict) return { typeName: 'dict_reversekeyiterator', items: [...each(value)].reverse() };
  if (value instanceof PyIterator || !(value instanceof PyObject) || value.length() < 0) return null;
  const items = value.iterate();
  return items === null ? null : { typeName: 'reversed', items: [...each(value)].reverse() };
}

/** `value[start:stop:step]`. */
export function slice(value: Value, start: Value, stop: Value, step: Value): Value {
  const size = isStr(value) || Array.isArray(value) || value instanceof Tuple || value instanceof Range ? length(value) : -1;
  if (size < 0) {
    if (value instanceof PyObject && value.typeName === 'Undefined') value.getItem(null);
    if (isDictValue(value)) typeError("unhashable type: 'slice'");
    typeError(`'${typeName(value)}' object is not subscriptable`);
  }
  const stride = step === null ? 1 : sliceIndex(step);
  if (stride === 0) raise('ValueError', 'slice step cannot be zero');
  const low = stride < 0 ? -1 : 0;
  const high = stride < 0 ? size - 1 : size;
  const clamp = (index: Value, absent: number): number => {
    if (index === null) return absent;
    const at = sliceIndex(index);
    return at < 0 ? Math.max(at + size, low) : Math.min(at, high);
  };
  const from = clamp(start, stride < 0 ? high : low);
  const to = clamp(stop, stride < 0 ? low : high);
  if (value instanceof Range) return new Range(value.at(from), value.at(to), value.step * stride);
  if (isStr(value)) {
    const text = strText(value);
    const cut = sliceText(text, size, from, to, stride);
    return typeof value === 'string' ? cut : new Markup(cut);
  }
  const items = Array.isArray(value) ? (value as List) : (value as Tuple).items;
  const taken = stride === 1 ? items.slice(from, Math.max(from, to)) : pick(items, from, to, stride);
  return Array.isArray(value) ? taken : new Tuple(taken);
}

function sliceIndex(value: Value): number {
  const int = intOf(value);
  if (int === undefined) typeError('slice indices must be integers or None or have an __index__ method');
  const index = makeInt(int);
  return typeof index === 'number' ? index : index > 0n ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
}

function pick<T>(items: readonly T[], from: number, to: number, stride: number): T[] {
  const taken: T[] = [];
  for (let index = from; stride < 0 ? index > to : index < to; index += stride) taken.push(items[index]!);
  return taken;
}

function sliceText(text: string, size: number, from: number, to: number, stride: number): string {
  if (size === text.length && stride === 1) return text.slice(from, Math.max(from, to));
  return pick(codePoints(text), from, to, stride).join('');
}
