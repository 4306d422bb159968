import { JsonSyntaxError, parseJsonBytes } from '../canonical/json-parse.js';
import { isJsonObject, type JsonObject } from '../canonical/json-value.js';
import { GatewayError } from '../errors.js';
import { shown } from './request-fields.js';

/**
 * Reads the body of a call, JSON in UTF-8.
 * @param depth bound of nesting
 * @throws GatewayError `invalid_json` with the position of what is wrong
 */
export function parseBody(bytes: Uint8Array, depth: number): JsonObject {
  const body = parse(bytes, depth);
  if (!isJsonObject(body)) throw new GatewayError('invalid_json', `The body must be a JSON object, got ${shown(body)}.`);
  return body;
}

function parse(bytes: Uint8Array, depth: number): ReturnType<typeof parseJsonBytes> {
  try {
    return parseJsonBytes(bytes, { depth });
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new GatewayError('invalid_json', `The body cannot be read as JSON: ${error.reason} at position ${error.position}.`);
  }
}
