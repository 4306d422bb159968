import { isJsonArray, JsonFloat, type JsonObject, type JsonValue } from './json-value.js';

/**
 * A JavaScript value as {@link JsonValue}: whole numbers become integers, members that are `undefined` are left out.
 * @throws TypeError for what JSON has no word for (functions, symbols)
 */
export function fromPlain(value: unknown): JsonValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return value;
    case 'number':
      return Number.isInteger(value) && (!Number.isSafeInteger(value) || Object.is(value, -0)) ? new JsonFloat(value) : value;
    case 'object':
      if (value === null || value instanceof JsonFloat) return value;
      if (Array.isArray(value)) return value.map(fromPlain);
      if (value instanceof Map) return new Map([...(value as Map<string, unknown>)].map(([name, item]) => [name, fromPlain(item)]));
      return new Map(
        Object.entries(value)
          .filter(([, item]) => item !== undefined)
          .map(([name, item]) => [name, fromPlain(item)]),
      );
    default:
      throw new TypeError(`A value of type ${typeof value} cannot be JSON`);
  }
}

/** For validation only: objects without a prototype, all numbers as doubles; spelling and precision are lost. */
export function toPlain(value: JsonValue): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof JsonFloat) return value.value;
  if (isJsonArray(value)) return value.map(toPlain);
  const plain: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, item] of value as JsonObject) plain[name] = toPlain(item);
  return plain;
}
