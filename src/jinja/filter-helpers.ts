import { bind } from './arguments.js';
import { getAttribute, getItem } from './attributes.js';
import { ordered } from './compare.js';
import type { Callable, Kwargs, Value } from './object.js';
import { NativeFunction } from './object.js';
import { raise, typeError } from './python-error.js';
import { str } from './repr.js';
import { typeName } from './type-names.js';
import { isStr, Markup, strText, Undefined } from './values.js';

/** A filter: its parameters by name (the first is the value), how many of them must be given, and what it does. */
export interface Filter {
  readonly run: (value: Value, args: readonly Value[], kwargs: Kwargs) => Value;
  /** Whether jinja2 gives it the context: such a filter is never evaluated while the template is compiled. */
  readonly context: boolean;
}

export function filter(
  name: string,
  parameters: readonly string[],
  required: number,
  run: (bound: readonly (Value | undefined)[]) => Value,
): [string, Filter] {
  return [
    name,
    {
      context: false,
      run: (value, args, kwargs) =>
        run(args.length === 0 && kwargs === null && required <= 1 ? [value] : bind(name, parameters, required, [value, ...args], kwargs)),
    },
  ];
}

export type Getter = (item: Value) => Value;

function parts(attribute: Value): Value[] {
  if (attribute === null) return [];
  if (isStr(attribute))
    return strText(attribute)
      .split('.')
      .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return [attribute];
}

/** Looks up a dotted attribute; `fallback` replaces undefined ones. */
export function attributeGetter(attribute: Value, fallback: Value = null, post: Getter | null = null): Getter {
  const path = parts(attribute);
  return (item) => {
    let value = item;
    for (const part of path) {
      value = getItem(value, part);
      if (fallback !== null && value instanceof Undefined) value = fallback;
    }
    return post === null ? value : post(value);
  };
}

/** Looks up several attributes, separated by commas. */
export function multiGetter(attribute: Value, post: Getter | null): Getter {
  const names = isStr(attribute) ? strText(attribute).split(',') : [attribute];
  const getters = names.map((name) => attributeGetter(name, null, post));
  return (item) => getters.map((getter) => getter(item));
}

export const ignoreCase: Getter = (value) => (isStr(value) ? strText(value).toLowerCase() : value);

/** `sorted(items, key=…, reverse=…)`. */
export function sorted(items: readonly Value[], key: Getter, reverse: boolean): Value[] {
  const keyed = items.map((item) => ({ item, key: key(item) }));
  const before = (a: Value, b: Value): number => (ordered('<', a, b) ? -1 : ordered('<', b, a) ? 1 : 0);
  keyed.sort((a, b) => (reverse ? before(b.key, a.key) : before(a.key, b.key)));
  return keyed.map(({ item }) => item);
}

/** A method of str on `soft_str(value)`: Markup stays Markup. */
export function callStrMethod(value: Value, name: string, args: readonly Value[]): Value {
  const text = isStr(value) ? value : str(value);
  return (getAttribute(text, name) as Callable).call(args, null);
}

/** A method that the value must have itself. */
export function callOwnMethod(value: Value, name: string, args: readonly Value[]): Value {
  if (value instanceof Undefined) value.fail();
  const method = getAttribute(value, name);
  if (!(method instanceof NativeFunction)) raise('AttributeError', `'${typeName(value)}' object has no attribute '${name}'`);
  return method.call(args, null);
}

/** A text that the filter calls `method` on. */
export function ownText(value: Value, method: string): string {
  if (isStr(value)) return strText(value);
  if (value instanceof Undefined) value.fail();
  raise('AttributeError', `'${typeName(value)}' object has no attribute '${method}'`);
}

export function textOf(value: Value, what: string): string {
  return isStr(value) ? strText(value) : typeError(`${what} must be str, not ${typeName(value)}`);
}

export const likeText = (original: Value, text: string): Value => (original instanceof Markup ? new Markup(text) : text);
