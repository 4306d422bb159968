import { isJsonArray, isJsonObject, JsonFloat, type JsonObject, type JsonValue } from '../canonical/json-value.js';
import { compactJson } from '../canonical/json-write.js';
import { GatewayError } from '../errors.js';

/** Longest piece of a client's value that an error message repeats. */
const SHOWN_LENGTH = 80;

/** A refusal of a field: which one, what would be right, what came. */
export function invalidField(path: string, expected: string, value: JsonValue | undefined): GatewayError {
  return new GatewayError('invalid_request', `\`${path}\` must be ${expected}, got ${shown(value)}.`);
}

/** A refusal of what is understood and cannot be honoured. */
export function unsupported(path: string, why: string): GatewayError {
  return new GatewayError('unsupported_feature', `\`${path}\` is not supported: ${why}.`);
}

/** A value as an error message shows it: its JSON, cut. */
export function shown(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing';
  if (isJsonArray(value) && value.length > 8) return `a list of ${value.length} items`;
  if (isJsonObject(value) && value.size > 8) return `an object of ${value.size} members`;
  if (typeof value === 'string' && value.length > SHOWN_LENGTH) return `a string of ${value.length} characters`;
  const text = compactJson(value);
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}

/** The member, where `null` is as good as none: SDKs send both. */
export function member(body: JsonObject, name: string): JsonValue | undefined {
  return body.get(name) ?? undefined;
}

export function optionalBoolean(body: JsonObject, name: string, fallback: boolean): boolean {
  const value = member(body, name) ?? fallback;
  if (typeof value !== 'boolean') throw invalidField(name, 'true or false', value);
  return value;
}

export function requiredString(body: JsonObject, name: string, path = name): string {
  const value = body.get(name);
  if (typeof value !== 'string') throw invalidField(path, 'a string', value);
  return value;
}

export function optionalObject(body: JsonObject, name: string): JsonObject | undefined {
  const value = member(body, name);
  if (value !== undefined && !isJsonObject(value)) throw invalidField(name, 'an object', value);
  return value;
}

export function optionalArray(body: JsonObject, name: string): readonly JsonValue[] {
  const value = member(body, name) ?? [];
  if (!isJsonArray(value)) throw invalidField(name, 'a list', value);
  return value;
}

/** The double of a number however it was spelled, `undefined` for anything else. */
export function numberOf(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  return value instanceof JsonFloat ? value.value : undefined;
}

/** Whether a member asks for nothing: absent, null, false, empty. */
export function isIdle(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === false) return true;
  if (isJsonArray(value)) return value.length === 0;
  return isJsonObject(value) ? value.size === 0 : value === '';
}
