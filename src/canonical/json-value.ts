/**
 * JSON values as Python reads them: what `JSON.parse` loses (member order of digit-like keys, `1.0` against `1`,
 * integers beyond 2^53) is kept, because a chat template prints it.
 *
 * - an integer is a `number` when it is a safe integer, else a `bigint`;
 * - a float is a plain `number` when it has a fractional part or is not finite, else a {@link JsonFloat} (`1.0`, `1e16`, `-0.0`);
 * - an object is a `Map` in Python's order (a repeated key keeps its first place and takes its last value).
 *
 * So `Number.isInteger(x)` on a plain number means "Python int". Values are never mutated after they were read.
 */
export type JsonValue = null | boolean | number | bigint | JsonFloat | string | readonly JsonValue[] | JsonObject;
export type JsonObject = ReadonlyMap<string, JsonValue>;

/** A Python float whose value is a whole number. Its `value` is never a number with a fractional part. */
export class JsonFloat {
  constructor(readonly value: number) {}
}

export const isJsonObject = (value: JsonValue | undefined): value is JsonObject => value instanceof Map;
export const isJsonArray = (value: JsonValue | undefined): value is readonly JsonValue[] => Array.isArray(value);
