import { JsonSyntaxError, parseJson } from '../canonical/json-parse.js';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../canonical/json-value.js';
import { compactJson } from '../canonical/json-write.js';
import { GatewayError } from '../errors.js';

/** What `tokenize` needs of a tokenizer. */
export interface BatchTokenizer {
  encode(text: string): Int32Array;
  /** Special tokens are kept. */
  decode(ids: ArrayLike<number>): string;
  readonly vocabularySize: number;
}

/**
 * Answers requests of `tokenize --batch`, one JSON line each, in their order: `{"id","text"}` → `{"id","ids"}` and `{"id","ids"}` →
 * `{"id","text"}`; what cannot be answered gives `{"id","ok":false,"error":{"code","message"}}`. No special tokens are added; those
 * spelled in a text are recognised. Lines without an end; empty ones are passed over.
 */
export async function* tokenizeBatch(lines: AsyncIterable<string>, tokenizer: BatchTokenizer): AsyncGenerator<string> {
  for await (const line of lines) if (line.trim() !== '') yield answer(line, tokenizer);
}

function answer(line: string, tokenizer: BatchTokenizer): string {
  let id: JsonValue = null;
  try {
    const request = readRequest(line);
    id = request.get('id') ?? null;
    const text = request.get('text');
    const ids = request.get('ids');
    if ((text === undefined) === (ids === undefined)) throw invalid('give either `text`, to encode it, or `ids`, to decode them');
    if (ids !== undefined) return `{"id":${wellFormed(compactJson(id))},"text":${compactJson(tokenizer.decode(readIds(ids, tokenizer)))}}`;
    if (typeof text !== 'string') throw invalid('`text` must be a string');
    return `{"id":${wellFormed(compactJson(id))},"ids":[${tokenizer.encode(text).join(',')}]}`;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const failure = new Map([
      ['code', error.code],
      ['message', error.message],
    ]);
    return `{"id":${wellFormed(compactJson(id))},"ok":false,"error":${wellFormed(compactJson(failure))}}`;
  }
}

function readRequest(line: string): JsonObject {
  try {
    const request = parseJson(line);
    if (isJsonObject(request)) return request;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new GatewayError('invalid_json', `the line is not JSON: ${error.message}`);
  }
  throw new GatewayError('invalid_json', 'the line is JSON, but no object');
}

function readIds(value: JsonValue, { vocabularySize }: BatchTokenizer): Int32Array {
  if (!isJsonArray(value)) throw invalid('`ids` must be a list of token ids');
  return Int32Array.from(value, (id, index) => {
    if (typeof id === 'number' && Number.isInteger(id) && id >= 0 && id < vocabularySize) return id;
    throw invalid(`\`ids[${index}]\` is no token id: it must be a whole number from 0 to ${vocabularySize - 1}`);
  });
}

const invalid = (message: string): GatewayError => new GatewayError('invalid_request', message);

/** Lone surrogates, which an id may hold, have no UTF-8: they leave as escapes. */
function wellFormed(json: string): string {
  if (json.isWellFormed()) return json;
  const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
  return json.replace(lone, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}
