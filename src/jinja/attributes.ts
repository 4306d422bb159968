import { JsonFloat } from '../canonical/json-value.js';
import { positional } from './arguments.js';
import { equal } from './compare.js';
import { DICT_METHODS, LIST_METHODS, type Method, UNSAFE_DICT, UNSAFE_LIST } from './container-methods.js';
import { hasDunder } from './dunders.js';
import { formatBraces, formatMap } from './format-braces.js';
import { DictView, Range } from './iterate.js';
import { MARKUP_METHODS } from './markup-methods.js';
import { intOf, isFloat, makeFloat } from './numbers.js';
import { type Kwargs, type List, NativeFunction, PyObject, type Value } from './object.js';
import { typeError, valueError } from './python-error.js';
import { STR_METHODS } from './str-methods.js';
import { typeName } from './type-names.js';
import { type Dict, dictGet, GroupTuple, isDict, Markup, PyDict, Tuple, Undefined } from './values.js';

const bound = (name: string, self: Value, method: Method): NativeFunction =>
  new NativeFunction(name, (args, kwargs) => method(self, args, kwargs));

/** `getattr(value, name)` before the sandbox has its say; `undefined` stands for AttributeError. */
function rawAttribute(value: Value, name: string): Value | undefined {
  if (typeof value === 'string') return strAttribute(value, name);
  if (value instanceof Map || value instanceof PyDict) {
    const method = DICT_METHODS.get(name);
    return method && bound(name, value, method);
  }
  if (Array.isArray(value)) {
    const method = LIST_METHODS.get(name);
    return method && bound(name, value, method);
  }
  if (value instanceof Markup) return markupAttribute(value, name);
  if (value instanceof Tuple) {
    if (value instanceof GroupTuple && value.getAttribute(name) !== undefined) return value.getAttribute(name);
    const method = name === 'count' || name === 'index' ? LIST_METHODS.get(name) : undefined;
    return method && bound(name, value, method);
  }
  if (value instanceof Range) return rangeAttribute(value, name);
  if (value instanceof DictView && name === 'isdisjoint')
    return new NativeFunction(name, (args) => {
      const other = args[0] as Value;
      return ![...value.iterate()].some((item) => other instanceof DictView && other.has(item));
    });
  if (value instanceof PyObject) return value.getAttribute(name);
  return numberAttribute(value, name);
}

function strAttribute(text: string, name: string): Value | undefined {
  if (name === 'format') return new NativeFunction(name, (args, kwargs) => formatBraces(text, args, kwargs, false));
  if (name === 'format_map') return new NativeFunction(name, (args, kwargs) => formatMap(text, args, kwargs, false));
  const method = STR_METHODS.get(name);
  return method && new NativeFunction(name, (args, kwargs) => method(text, args, kwargs));
}

function markupAttribute(markup: Markup, name: string): Value | undefined {
  if (name === 'format') return new NativeFunction(name, (args, kwargs) => new Markup(formatBraces(markup.text, args, kwargs, true)));
  if (name === 'format_map') return new NativeFunction(name, (args, kwargs) => new Markup(formatMap(markup.text, args, kwargs, true)));
  const method = MARKUP_METHODS.get(name);
  return method && new NativeFunction(name, (args, kwargs) => method(markup, args, kwargs));
}

function rangeAttribute(range: Range, name: string): Value | undefined {
  if (name === 'start' || name === 'stop' || name === 'step') return range[name];
  if (name === 'count') return new NativeFunction(name, (args) => [...range.iterate()].filter((item) => equal(item, args[0]!)).length);
  if (name === 'index')
    return new NativeFunction(name, (args) => {
      const at = [...range.iterate()].findIndex((item) => equal(item, args[0]!));
      return at < 0 ? valueError(`${String(args[0])} is not in range`) : at;
    });
  return undefined;
}

function numberAttribute(value: Value, name: string): Value | undefined {
  const int = intOf(value);
  const method = (run: () => Value): NativeFunction =>
    new NativeFunction(name, (args, kwargs) => {
      positional(name, 0, 0, args, kwargs);
      return run();
    });
  if (int !== undefined) {
    if (name === 'real' || name === 'numerator') return int;
    if (name === 'imag') return 0;
    if (name === 'denominator') return 1;
    const bits = (int < 0 ? -BigInt(int) : BigInt(int)).toString(2);
    if (name === 'bit_length') return method(() => (bits === '0' ? 0 : bits.length));
    if (name === 'bit_count') return method(() => bits.replaceAll('0', '').length);
    if (name === 'conjugate') return method(() => int);
    if (name === 'as_integer_ratio') return method(() => new Tuple([int, 1]));
    if (name === 'to_bytes' || name === 'from_bytes') return method(() => typeError(`int.${name} is not available in templates here`));
    return undefined;
  }
  if (!isFloat(value)) return undefined;
  const double = value instanceof JsonFloat ? value.value : value;
  if (name === 'real') return value;
  if (name === 'imag') return makeFloat(0);
  if (name === 'is_integer') return method(() => Number.isInteger(double));
  if (name === 'conjugate') return method(() => value);
  if (name === 'as_integer_ratio' || name === 'hex' || name === 'fromhex')
    return method(() => typeError(`float.${name} is not available in templates here`));
  return undefined;
}

function isUnsafe(value: Value, name: string): boolean {
  if (name.startsWith('_')) return true;
  if (Array.isArray(value)) return UNSAFE_LIST.has(name);
  return (value instanceof Map || value instanceof PyDict) && UNSAFE_DICT.has(name);
}

function unsafe(value: Value, name: string): Undefined {
  return new Undefined(`access to attribute '${name}' of '${typeName(value)}' object is unsafe.`, value, name, 'SecurityError');
}

/** `value.name` as the sandboxed environment resolves it: attribute first, then item, then undefined. */
export function getAttribute(value: Value, name: string): Value {
  if (value instanceof Map && !DICT_METHODS.has(name) && !name.startsWith('_'))
    return (value as ReadonlyMap<string, Value>).get(name) ?? missing(value, name);
  if (hasDunder(value, name)) return unsafe(value, name);
  const attribute = rawAttribute(value, name);
  if (attribute !== undefined) return isUnsafe(value, name) ? unsafe(value, name) : attribute;
  const item = rawItem(value, name);
  return item === undefined ? new Undefined(null, value, name) : item;
}

// `null` is a value, so `?? ` must not swallow it.
function missing(value: ReadonlyMap<string, Value>, name: string): Value {
  return value.has(name) ? null : new Undefined(null, value, name);
}

/** `value[key]` as the sandboxed environment resolves it: item first, then (for a text) attribute, then undefined. */
export function getItem(value: Value, key: Value): Value {
  const item = rawItem(value, key);
  if (item !== undefined) return item;
  const name = typeof key === 'string' ? key : key instanceof Markup ? key.text : undefined;
  if (name === undefined) return new Undefined(null, value, key);
  if (hasDunder(value, name)) return unsafe(value, name);
  const attribute = rawAttribute(value, name);
  if (attribute === undefined) return new Undefined(null, value, name);
  return isUnsafe(value, name) ? unsafe(value, name) : attribute;
}

function rawItem(value: Value, key: Value): Value | undefined {
  if (value instanceof Map) return dictGet(value as Dict, key);
  if (Array.isArray(value)) return itemAt(value, key);
  if (value instanceof Tuple) return itemAt(value.items, key);
  if (typeof value === 'string') return characterAt(value, key);
  if (value instanceof Markup) {
    const character = characterAt(value.text, key);
    return character === undefined ? undefined : new Markup(character);
  }
  if (value instanceof Range) {
    const at = indexIn(value.size, key);
    return at === undefined ? undefined : value.at(at);
  }
  return value instanceof PyObject ? value.getItem(key) : undefined;
}

function indexIn(size: number, key: Value): number | undefined {
  const int = intOf(key);
  if (int === undefined) return undefined;
  const at = Number(int) < 0 ? Number(int) + size : Number(int);
  return at >= 0 && at < size ? at : undefined;
}

function itemAt(items: List, key: Value): Value | undefined {
  const at = indexIn(items.length, key);
  return at === undefined ? undefined : items[at];
}

function characterAt(text: string, key: Value): string | undefined {
  const int = intOf(key);
  if (int === undefined) return undefined;
  if (!/[\ud800-\udfff]/.test(text)) {
    const at = indexIn(text.length, key);
    return at === undefined ? undefined : text[at];
  }
  const points = [...text];
  const at = indexIn(points.length, key);
  return at === undefined ? undefined : points[at];
}

/** Whether `getattr(value, name)` finds something, before the sandbox has its say. */
export function directAttributeExists(value: Value, name: string): boolean {
  return hasDunder(value, name) || rawAttribute(value, name) !== undefined;
}

/** The method of a plain text, list or dict, for a call without an intermediate object; `undefined` where there is none or it is unsafe. */
export function directMethod(value: Value, name: string): ((self: Value, args: readonly Value[], kwargs: Kwargs) => Value) | undefined {
  if (typeof value === 'string') return STR_METHODS.get(name) as Method | undefined;
  if (isDict(value)) return UNSAFE_DICT.has(name) ? undefined : DICT_METHODS.get(name);
  if (Array.isArray(value)) return UNSAFE_LIST.has(name) ? undefined : LIST_METHODS.get(name);
  return undefined;
}
