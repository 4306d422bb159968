import { isJsonObject, type JsonValue } from '../canonical/json-value.js';
import type { LocatedObject } from './json-scan.js';
import { readJson } from './json-scan.js';
import type { ReadCall } from './span-builder.js';

const NAME_KEYS = ['name', 'tool_name', 'function'] as const;
const ARGUMENT_KEYS = ['arguments', 'parameters', 'args'] as const;

/**
 * A call from an object such as `{"name": …, "arguments": {…}}`; `null` where it names no function. `complete` is
 * false where the arguments are left out.
 */
export function callOfObject(object: LocatedObject): { readonly call: ReadCall; readonly complete: boolean } | null {
  const name = NAME_KEYS.map((key) => object.value.get(key)).find((value) => value !== undefined);
  if (typeof name !== 'string' || name.trim() === '') return null;
  const id = object.value.get('id') ?? object.value.get('tool_call_id');
  const native = typeof id === 'string' ? id : null;
  const key = ARGUMENT_KEYS.find((candidate) => object.value.has(candidate));
  if (key === undefined) {
    return { call: { name, arguments: '{}', value: new Map(), error: MISSING_ARGUMENTS, id: native }, complete: false };
  }
  return { call: jsonCall(name, object.raw.get(key) ?? '{}', object.value.get(key), native), complete: true };
}

/** A call whose arguments are the JSON text `raw` of `value`; a JSON text inside a JSON string is decoded in `value`. */
export function jsonCall(name: string, raw: string, value: JsonValue | undefined, id: string | null): ReadCall {
  const inner = typeof value === 'string' ? (readJson(value) ?? value) : value;
  const error = isJsonObject(inner) ? null : NO_OBJECT;
  return { name, arguments: raw, value: inner, error, id };
}

const MISSING_ARGUMENTS = { code: 'missing_arguments', message: 'the call has a name and no arguments' } as const;
const NO_OBJECT = { code: 'arguments_not_object', message: 'the arguments are JSON, but no object' } as const;
