import type { JsonFloat } from '../canonical/json-value.js';

/**
 * A template value. What JSON can say is held as JSON is held ({@link JsonValue}): `null` is None, an integral `number` or a `bigint`
 * is an int, any other `number` or a `JsonFloat` is a float, an array is a list and a `Map` is a dict whose keys are all str.
 * Everything else is a {@link PyObject}. Values are never changed once made, apart from namespaces, loops, cyclers, joiners and iterators.
 */
export type Value = null | boolean | number | bigint | string | JsonFloat | List | StrDict | PyObject;
export type List = readonly Value[];
export type StrDict = ReadonlyMap<string, Value>;
export type Kwargs = ReadonlyMap<string, Value> | null;

/** What the evaluator needs of a value that JSON cannot say. The defaults are those of a plain Python object. */
export abstract class PyObject {
  /** Name of the Python type, as error messages show it. */
  abstract readonly typeName: string;

  repr(): string {
    return `<${this.typeName} object>`;
  }
  str(): string {
    return this.repr();
  }
  truthy(): boolean {
    return this.length() !== 0;
  }
  /** `len()`; -1 for a type without length. */
  length(): number {
    return -1;
  }
  /** `iter()`; `null` for a type that cannot be iterated. */
  iterate(): Iterator<Value> | null {
    return null;
  }
  /** `getattr()`; `undefined` stands for AttributeError. */
  getAttribute(_name: string): Value | undefined {
    return undefined;
  }
  /** `obj[key]`; `undefined` stands for TypeError and LookupError. */
  getItem(_key: Value): Value | undefined {
    return undefined;
  }
  /** Whether `obj[…]` exists at all. */
  get subscriptable(): boolean {
    return false;
  }
  equals(other: Value): boolean {
    return this === other;
  }
  /** Key in a JavaScript `Map` that is the same for equal values; `undefined` for an unhashable type. */
  hashKey(): unknown {
    return this;
  }
}

/** Something a template can call. */
export abstract class Callable extends PyObject {
  abstract call(args: readonly Value[], kwargs: Kwargs): Value;
  override truthy(): boolean {
    return true;
  }
}

/** A function of the environment, or a method bound to its object. */
export class NativeFunction extends Callable {
  override readonly typeName: string;
  constructor(
    readonly name: string,
    private readonly run: (args: readonly Value[], kwargs: Kwargs) => Value,
    typeName = 'builtin_function_or_method',
    private readonly text: string | null = null,
  ) {
    super();
    this.typeName = typeName;
  }
  override call(args: readonly Value[], kwargs: Kwargs): Value {
    return this.run(args, kwargs);
  }
  override repr(): string {
    return this.text ?? `<function ${this.name}>`;
  }
}
