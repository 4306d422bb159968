import { parseJson } from '../canonical/json-parse.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../canonical/json-value.js';

/** A JSON object in a text, and where the texts of its members' values are. */
export interface LocatedObject {
  readonly start: number;
  readonly end: number;
  readonly value: JsonObject;
  /** Sampled text of a member's value, the last one of a repeated name. */
  readonly raw: ReadonlyMap<string, string>;
}

/** A JSON value at `start`, read as Python reads JSON; `null` where there is none. */
export interface LocatedValue {
  readonly start: number;
  readonly end: number;
  readonly value: JsonValue;
}

/** Reads the JSON object, array or string that begins at `start` and ends before `limit`. */
export function locateJson(text: string, start: number, limit = text.length): LocatedValue | null {
  const end = text.charCodeAt(start) === QUOTE ? stringEnd(text, start) : bracketEnd(text, start, limit);
  if (end < 0 || end > limit) return null;
  const value = readJson(text.slice(start, end));
  return value === undefined ? null : { start, end, value };
}

/** Reads the JSON object that begins at `start`, with the texts of its members. */
export function locateObject(text: string, start: number): LocatedObject | null {
  if (text[start] !== '{') return null;
  const located = locateJson(text, start);
  if (located === null || !isJsonObject(located.value)) return null;
  return { start, end: located.end, value: located.value, raw: memberTexts(text, start) };
}

/** `undefined` where the text is not JSON. */
export function readJson(text: string): JsonValue | undefined {
  try {
    return parseJson(text, { allowNonFinite: true });
  } catch {
    return undefined;
  }
}

/**
 * Offset behind the bracket that closes the one at `start`, by counting brackets outside strings; -1 without one, or
 * where a character stands outside strings that JSON has not.
 */
function bracketEnd(text: string, start: number, limit = text.length): number {
  const first = text.charCodeAt(start);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return -1;
  let depth = 0;
  for (let at = start; at < limit; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at) - 1;
      if (at < 0) return -1;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (--depth === 0) return at + 1;
    } else if (!isPlain(code)) return -1;
  }
  return -1;
}

/** White space, separators and what numbers and words are made of. */
const isPlain = (code: number): boolean => code < 128 && PLAIN[code] === 1;
const PLAIN = Uint8Array.from({ length: 128 }, (_, code) => (/[\s,:\w+.-]/.test(String.fromCharCode(code)) ? 1 : 0));

/** Offset behind the string literal that begins at `start`; -1 where it does not end. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return -1;
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/** Walks over an object that is known to be JSON. */
function memberTexts(text: string, start: number): Map<string, string> {
  const members = new Map<string, string>();
  let at = skip(text, start + 1);
  while (text[at] === '"') {
    const nameEnd = stringEnd(text, at);
    const name = readJson(text.slice(at, nameEnd));
    const valueStart = skip(text, skip(text, nameEnd) + 1);
    const valueEnd = valueEndAt(text, valueStart);
    if (typeof name === 'string') members.set(name, text.slice(valueStart, valueEnd));
    at = skip(text, valueEnd);
    if (text[at] === ',') at = skip(text, at + 1);
  }
  return members;
}

function valueEndAt(text: string, start: number): number {
  const code = text.charCodeAt(start);
  if (code === QUOTE) return stringEnd(text, start);
  if (code === OPEN_BRACE || code === OPEN_BRACKET) return bracketEnd(text, start);
  let at = start;
  while (at < text.length && !SCALAR_END.test(text[at]!)) at++;
  return at;
}

function skip(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\n\r'.includes(text[at]!)) at++;
  return at;
}

const SCALAR_END = /[\s,}\]]/;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
