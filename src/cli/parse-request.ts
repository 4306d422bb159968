import { JsonSyntaxError, parseJson } from '../canonical/json-parse.js';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../canonical/json-value.js';
import type { ToolDefinition } from '../canonical/message.js';
import { GatewayError } from '../errors.js';

/** The object of one line. */
export function readRequest(line: string): JsonObject {
  try {
    const request = parseJson(line);
    if (isJsonObject(request)) return request;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new GatewayError('invalid_json', `the line is not JSON: ${error.message}`);
  }
  throw new GatewayError('invalid_json', 'the line is JSON, but no object');
}

/** `{"type": "function", "function": {…}}`, `{"name", "parameters"}` or `{"name", "input_schema"}`. */
export function readTools(value: JsonValue): ToolDefinition[] {
  if (value === null) return [];
  if (!isJsonArray(value)) throw invalid('`tools` must be a list of tool definitions');
  return value.map((item, index) => {
    const wrapped = isJsonObject(item) ? item.get('function') : undefined;
    const tool = isJsonObject(wrapped) ? wrapped : item;
    const name = isJsonObject(tool) ? tool.get('name') : undefined;
    if (!isJsonObject(tool) || typeof name !== 'string') throw invalid(`\`tools[${index}]\` has no name`);
    const parameters = tool.get('parameters') ?? tool.get('input_schema');
    return parameters === undefined ? { name } : { name, parameters };
  });
}

export function readIds(value: JsonValue, vocabularySize: number): Int32Array {
  if (!isJsonArray(value)) throw invalid('`ids` must be a list of token ids');
  return Int32Array.from(value, (id, index) => {
    if (typeof id === 'number' && Number.isInteger(id) && id >= 0 && id < vocabularySize) return id;
    throw invalid(`\`ids[${index}]\` is no token id: it must be a whole number from 0 to ${vocabularySize - 1}`);
  });
}

/** `null` where the member is absent or null. */
export function stringMember(request: JsonObject, name: string): string | null {
  const value = request.get(name) ?? null;
  if (value === null || typeof value === 'string') return value;
  throw invalid(`\`${name}\` must be a string`);
}

export function stringList(request: JsonObject, name: string): string[] {
  const value = request.get(name) ?? [];
  if (isJsonArray(value) && value.every((item) => typeof item === 'string')) return [...value];
  throw invalid(`\`${name}\` must be a list of strings`);
}

/** The refusal of a request that makes no sense. */
export const invalid = (message: string): GatewayError => new GatewayError('invalid_request', message);
