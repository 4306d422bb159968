import { equal, hashKey } from './compare.js';
import { type List, PyObject, type StrDict, type Value } from './object.js';
import { PythonError } from './python-error.js';
import { repr } from './repr.js';
import { attributeFailureText } from './type-names.js';

export class Tuple extends PyObject {
  override readonly typeName: string = 'tuple';
  constructor(readonly items: List) {
    super();
  }
  override repr(): string {
    return this.items.length === 1 ? `(${repr(this.items[0]!)},)` : `(${this.items.map(repr).join(', ')})`;
  }
  override length(): number {
    return this.items.length;
  }
  override iterate(): Iterator<Value> {
    return this.items[Symbol.iterator]();
  }
  override get subscriptable(): boolean {
    return true;
  }
  override equals(other: Value): boolean {
    return other instanceof Tuple && equal(this.items, other.items);
  }
  override hashKey(): unknown {
    const keys = this.items.map(hashKey);
    if (keys.includes(undefined)) return undefined;
    return `\0t${keys.map((key) => (typeof key === 'object' ? `o${objectNumber(key as object)}` : `${typeof key}${String(key).length}:${String(key)}`)).join()}`;
  }
}

const objectNumbers = new WeakMap<object, number>();
let lastObjectNumber = 0;
function objectNumber(object: object): number {
  const known = objectNumbers.get(object);
  if (known !== undefined) return known;
  objectNumbers.set(object, ++lastObjectNumber);
  return lastObjectNumber;
}

/** A group of `groupby`: a tuple whose two members also have names. */
export class GroupTuple extends Tuple {
  override getAttribute(name: string): Value | undefined {
    if (name === 'grouper') return this.items[0];
    if (name === 'list') return this.items[1];
    return undefined;
  }
}

/** Text that counts as HTML: operators and methods escape what is joined to it, even without autoescape. */
export class Markup extends PyObject {
  override readonly typeName = 'Markup';
  constructor(readonly text: string) {
    super();
  }
  override repr(): string {
    return `Markup(${repr(this.text)})`;
  }
  override str(): string {
    return this.text;
  }
  override truthy(): boolean {
    return this.text !== '';
  }
  override get subscriptable(): boolean {
    return true;
  }
  override equals(other: Value): boolean {
    return other instanceof Markup ? other.text === this.text : other === this.text;
  }
  override hashKey(): unknown {
    return hashKey(this.text);
  }
}

/** What a missing name, member or item evaluates to: empty when printed, iterated or measured, an error in most other uses. */
export class Undefined extends PyObject {
  override readonly typeName = 'Undefined';
  constructor(
    private readonly hint: string | null,
    private readonly object: Value | undefined,
    private readonly member: Value | null,
    private readonly pythonClass: 'UndefinedError' | 'SecurityError' = 'UndefinedError',
  ) {
    super();
  }
  /** Raises what Python raises when the value is used. */
  fail(): never {
    throw new PythonError(this.pythonClass, this.hint ?? this.explain());
  }
  private explain(): string {
    if (this.object === undefined) return `${repr(this.member)} is undefined`;
    return attributeFailureText(this.object, this.member);
  }
  override repr(): string {
    return 'Undefined';
  }
  override str(): string {
    return '';
  }
  override length(): number {
    return 0;
  }
  override iterate(): Iterator<Value> {
    return [][Symbol.iterator]();
  }
  override getItem(): never {
    this.fail();
  }
  override getAttribute(): never {
    this.fail();
  }
  override get subscriptable(): boolean {
    return true;
  }
  override equals(other: Value): boolean {
    return other instanceof Undefined;
  }
  override hashKey(): unknown {
    return '\0u';
  }
}

export const undefinedName = (name: string): Undefined => new Undefined(null, undefined, name);

/** A dict with at least one key that is not a plain str. */
export class PyDict extends PyObject {
  override readonly typeName = 'dict';
  constructor(private readonly slots: ReadonlyMap<unknown, readonly [Value, Value]>) {
    super();
  }
  get(key: Value): Value | undefined {
    return this.slots.get(hashKey(key))?.[1];
  }
  entries(): IterableIterator<readonly [Value, Value]> {
    return this.slots.values();
  }
  override repr(): string {
    return `{${[...this.slots.values()].map(([key, value]) => `${repr(key)}: ${repr(value)}`).join(', ')}}`;
  }
  override length(): number {
    return this.slots.size;
  }
  override *iterate(): Generator<Value> {
    for (const [key] of this.slots.values()) yield key;
  }
  override getItem(key: Value): Value | undefined {
    return this.get(key);
  }
  override get subscriptable(): boolean {
    return true;
  }
  override hashKey(): undefined {
    return undefined;
  }
}

export type Dict = StrDict | PyDict;
export const isDict = (value: Value): value is Dict => value instanceof Map || value instanceof PyDict;
export const isStr = (value: Value): value is string | Markup => typeof value === 'string' || value instanceof Markup;
export const strText = (value: string | Markup): string => (typeof value === 'string' ? value : value.text);

export function dictSize(dict: Dict): number {
  return dict instanceof PyDict ? dict.length() : dict.size;
}
export function dictEntries(dict: Dict): Iterable<readonly [Value, Value]> {
  return dict.entries();
}
/** `dict[key]`; `undefined` where the key is missing or unhashable. */
export function dictGet(dict: Dict, key: Value): Value | undefined {
  if (dict instanceof PyDict) return dict.get(key);
  if (typeof key === 'string') return dict.get(key);
  return key instanceof Markup ? dict.get(key.text) : undefined;
}

/** A dict of the given members; a repeated key keeps its first place and takes its last value. */
export function makeDict(entries: Iterable<readonly [Value, Value]>): Dict {
  const list = [...entries];
  if (list.every(([key]) => typeof key === 'string')) return new Map(list as [string, Value][]);
  const slots = new Map<unknown, readonly [Value, Value]>();
  for (const [key, value] of list) {
    const hash = hashKey(key);
    if (hash === undefined) throw new PythonError('TypeError', `unhashable type: '${typeNameOfKey(key)}'`);
    slots.set(hash, [slots.get(hash)?.[0] ?? key, value]);
  }
  return new PyDict(slots);
}

function typeNameOfKey(key: Value): string {
  if (Array.isArray(key)) return 'list';
  return key instanceof PyObject ? key.typeName : 'dict';
}
