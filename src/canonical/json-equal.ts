import { isJsonArray, isJsonObject, JsonFloat, type JsonValue } from './json-value.js';

/** Equality by value: order of members ignored, `1` ≡ `1.0`, large integers exact, NaN ≡ NaN. A boolean is no number. */
export function jsonEquals(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (isJsonArray(a)) return isJsonArray(b) && a.length === b.length && a.every((item, i) => jsonEquals(item, b[i]!));
  if (isJsonObject(a)) {
    if (!isJsonObject(b) || a.size !== b.size) return false;
    for (const [name, value] of a) {
      const other = b.get(name);
      if (other === undefined || !jsonEquals(value, other)) return false;
    }
    return true;
  }
  const x = numberOf(a);
  const y = numberOf(b);
  if (x === undefined || y === undefined) return false;
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint and a number are equal by `==` only, which compares exactly
  return x == y || (Number.isNaN(x) && Number.isNaN(y));
}

function numberOf(value: JsonValue): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  return value instanceof JsonFloat ? value.value : undefined;
}
