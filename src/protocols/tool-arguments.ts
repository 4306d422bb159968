import { JsonSyntaxError, parseJson } from '../canonical/json-parse.js';
import { isJsonArray, isJsonObject, JsonFloat, type JsonObject, type JsonValue } from '../canonical/json-value.js';
import { writeJson } from '../canonical/json-write.js';
import type { ToolCall } from '../canonical/message.js';

/** The value of a call's arguments as Python reads it, an object inside a string decoded; `undefined` where the text is not JSON. */
export function argumentsValue(text: string): JsonValue | undefined {
  const value = tryParse(text);
  if (typeof value !== 'string') return value;
  const inner = tryParse(value);
  return isJsonObject(inner) ? inner : value;
}

function tryParse(text: string): JsonValue | undefined {
  try {
    return parseJson(text, { allowNonFinite: true });
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

/** A call as a client gave it, its arguments as text or as a value. */
export function toolCall(id: string | null, name: string, args: JsonValue): ToolCall {
  if (typeof args === 'string') return { id, name, arguments: args, value: argumentsValue(args) };
  return { id, name, arguments: writeJson(args), value: args };
}

/** Whether a value holds NaN, which sampled arguments can spell and JSON on the wire cannot. */
export function holdsNaN(value: JsonValue): boolean {
  if (typeof value === 'number') return Number.isNaN(value);
  if (value === null || typeof value !== 'object' || value instanceof JsonFloat) return false;
  return isJsonArray(value) ? value.some(holdsNaN) : [...(value as JsonObject).values()].some(holdsNaN);
}
