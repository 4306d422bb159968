import { isJsonArray, isJsonObject, JsonFloat, type JsonObject, type JsonValue } from '../canonical/json-value.js';
import type { ToolDefinition } from '../canonical/message.js';
import { readJson } from './json-scan.js';
import { readNumber, readPythonLiteral } from './python-literal.js';

export interface TypedValue {
  readonly value: JsonValue;
  /** Set where the text fits none of the types that the schema allows; `value` is then the text. */
  readonly mismatch: string | null;
}

type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'object' | 'array' | 'string';

/** The schema of one parameter; `undefined` where the tool or the parameter is not declared. */
export function parameterSchema(tool: ToolDefinition | undefined, name: string): JsonValue | undefined {
  if (!isJsonObject(tool?.parameters)) return undefined;
  const properties = tool.parameters.get('properties');
  const declared = isJsonObject(properties) ? properties.get(name) : undefined;
  return declared === undefined ? undefined : resolve(declared, tool.parameters, 0);
}

/**
 * The value of a parameter that a grammar prints as bare text. The schema decides: a text is whatever an allowed type
 * makes of it, tried from the narrowest type to the widest, with Python's spellings (`True`, `None`, `{'a': 1}`) beside
 * JSON's because templates print both. Without a declared type it stays a string.
 */
export function typedValue(text: string, schema: JsonValue | undefined): TypedValue {
  const types = allowedTypes(schema, 0);
  if (types.size === 0) return { value: text, mismatch: null };
  for (const type of ORDER) {
    if (!types.has(type)) continue;
    const value = READERS[type](text);
    if (value !== undefined) return { value, mismatch: null };
  }
  return { value: text, mismatch: [...types].join(' or ') };
}

const ORDER: readonly JsonType[] = ['null', 'integer', 'number', 'boolean', 'object', 'array', 'string'];

const READERS: Readonly<Record<JsonType, (text: string) => JsonValue | undefined>> = {
  null: (text) => (/^\s*(?:null|None)\s*$/.test(text) ? null : undefined),
  boolean: (text) => {
    const word = text.trim().toLowerCase();
    return word === 'true' ? true : word === 'false' ? false : undefined;
  },
  integer: (text) => {
    const value = readNumber(text.trim());
    return value instanceof JsonFloat || Number.isInteger(value) || typeof value === 'bigint' ? value : undefined;
  },
  number: (text) => readNumber(text.trim()),
  object: (text) => {
    const value = readJson(text) ?? readPythonLiteral(text);
    return isJsonObject(value) ? value : undefined;
  },
  array: (text) => {
    const value = readJson(text) ?? readPythonLiteral(text);
    return isJsonArray(value) ? value : undefined;
  },
  string: (text) => text,
};

const MAX_DEPTH = 16;

function allowedTypes(schema: JsonValue | undefined, depth: number): Set<JsonType> {
  const types = new Set<JsonType>();
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return types;
  const declared = schema.get('type');
  for (const name of isJsonArray(declared) ? declared : [declared]) {
    const type = typeof name === 'string' ? typeNamed(name) : undefined;
    if (type !== undefined) types.add(type);
  }
  if (types.size === 0) for (const type of impliedTypes(schema, depth)) types.add(type);
  if (types.size > 0 && schema.get('nullable') === true) types.add('null');
  return types;
}

function impliedTypes(schema: JsonObject, depth: number): Iterable<JsonType> {
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const options = schema.get(key);
    if (!isJsonArray(options)) continue;
    const sets = options.map((option) => allowedTypes(option, depth + 1));
    // An option without a type allows everything, so that nothing is known about the whole.
    if (key !== 'allOf' && sets.some((set) => set.size === 0)) return [];
    return sets.flatMap((set) => [...set]);
  }
  const values = schema.has('const') ? [schema.get('const')!] : schema.get('enum');
  if (isJsonArray(values)) return values.map(typeOf);
  if (schema.has('properties') || schema.has('additionalProperties')) return ['object'];
  return schema.has('items') || schema.has('prefixItems') ? ['array'] : [];
}

/** JSON Schema's names and those of other vocabularies that clients send. */
const TYPE_NAMES: Readonly<Record<string, JsonType>> = {
  null: 'null',
  boolean: 'boolean',
  bool: 'boolean',
  integer: 'integer',
  int: 'integer',
  long: 'integer',
  number: 'number',
  float: 'number',
  double: 'number',
  object: 'object',
  dict: 'object',
  array: 'array',
  list: 'array',
  string: 'string',
  str: 'string',
};
const typeNamed = (name: string): JsonType | undefined => {
  const key = name.trim().toLowerCase();
  return Object.hasOwn(TYPE_NAMES, key) ? TYPE_NAMES[key] : undefined;
};

function typeOf(value: JsonValue): JsonType {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'string') return 'string';
  if (isJsonArray(value)) return 'array';
  if (isJsonObject(value)) return 'object';
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value)) ? 'integer' : 'number';
}

/** Follows `$ref` inside the tool's own schema. */
function resolve(schema: JsonValue, root: JsonObject, depth: number): JsonValue {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return schema;
  const ref = schema.get('$ref');
  if (typeof ref === 'string' && ref.startsWith('#/')) {
    let target: JsonValue | undefined = root;
    for (const step of ref.slice(2).split('/')) {
      target = isJsonObject(target) ? target.get(step.replaceAll('~1', '/').replaceAll('~0', '~')) : undefined;
    }
    return target === undefined ? schema : resolve(target, root, depth + 1);
  }
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const options = schema.get(key);
    if (isJsonArray(options))
      return new Map(schema).set(
        key,
        options.map((option) => resolve(option, root, depth + 1)),
      );
  }
  return schema;
}
