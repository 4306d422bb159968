import { isJsonArray, isJsonObject, JsonFloat, type JsonValue } from '../canonical/json-value.js';

/** 32-bit hashes for look-up only: whatever they find is compared before it is used. */
export const HASH_SEED = 0x811c9dc5 | 0;

export function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, 0x01000193);
  return mixed ^ (mixed >>> 15);
}

export function hashText(hash: number, text: string): number {
  let h = mix(hash, text.length);
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return mix(h, 0x5f);
}

/** Equal for values that {@link jsonEquals} calls equal: order of members and spelling of numbers do not matter. */
export function hashJson(hash: number, value: JsonValue): number {
  if (value === null) return mix(hash, 1);
  if (typeof value === 'boolean') return mix(hash, value ? 2 : 3);
  if (typeof value === 'string') return hashText(mix(hash, 4), value);
  if (typeof value === 'number' || typeof value === 'bigint') return hashNumber(hash, Number(value));
  if (value instanceof JsonFloat) return hashNumber(hash, value.value);
  if (isJsonArray(value)) return value.reduce<number>(hashJson, mix(hash, 6));
  let sum = 0;
  if (isJsonObject(value)) for (const [name, member] of value) sum = (sum + hashJson(hashText(HASH_SEED, name), member)) | 0;
  return mix(mix(hash, 7), sum);
}

const numberBits = new Float64Array(1);
const numberWords = new Int32Array(numberBits.buffer);

function hashNumber(hash: number, value: number): number {
  numberBits[0] = value === 0 ? 0 : value;
  return mix(mix(mix(hash, 5), numberWords[0]!), numberWords[1]!);
}
