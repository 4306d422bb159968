import { Buffer } from 'node:buffer';
import { endOfJsonValue } from '../canonical/json-bytes.js';
import { JsonSyntaxError, parseJson, parseJsonPart } from '../canonical/json-parse.js';
import type { JsonValue } from '../canonical/json-value.js';
import { decodeUtf8 } from '../canonical/utf8.js';

/** Reads single JSON values out of the bytes of a longer text. */
export interface ValueReader {
  /**
   * Reads the value that begins at byte `at`, where no white space stands; `end` is one past its last byte.
   * @throws JsonSyntaxError whose position means nothing to the whole
   */
  read(at: number, depth: number): { readonly value: JsonValue; readonly end: number };
}

/** For a few values: decodes each by itself. */
export class PartReader implements ValueReader {
  constructor(private readonly bytes: Buffer) {}

  read(at: number, depth: number): { readonly value: JsonValue; readonly end: number } {
    const end = endOfJsonValue(this.bytes, at);
    return { value: parseJson(this.#text(at, end), { depth }), end };
  }

  /** The quick decoder marks what is no UTF-8 instead of refusing it. */
  #text(start: number, end: number): string {
    const quick = this.bytes.toString('utf8', start, end);
    return quick.includes('\ufffd') ? wholeText(this.bytes.subarray(start, end)) : quick;
  }
}

/** For all values, from the first to the last with nothing but structure and ASCII white space between them: decodes the whole text once. */
export class TextReader implements ValueReader {
  readonly #text: string;
  readonly #isAscii: boolean;
  /** The same place in bytes and in the text. */
  #byte = 0;
  #unit = 0;

  constructor(bytes: Buffer) {
    this.#text = wholeText(bytes);
    this.#isAscii = this.#text.length === bytes.length;
  }

  read(at: number, depth: number): { readonly value: JsonValue; readonly end: number } {
    const start = this.#unit + at - this.#byte;
    const { value, end } = parseJsonPart(this.#text, start, { depth });
    this.#byte = at + (this.#isAscii ? end - start : Buffer.byteLength(this.#text.slice(start, end)));
    this.#unit = end;
    return { value, end: this.#byte };
  }
}

function wholeText(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (typeof text !== 'string') throw new JsonSyntaxError('the bytes are not UTF-8', text.invalidAt);
  return text;
}
