import { parseJson } from '../canonical/json-parse.js';
import type { JsonValue } from '../canonical/json-value.js';

export interface LocatedLiteral {
  readonly value: JsonValue;
  readonly end: number;
}

/** Reads a whole text as a Python literal (`ast.literal_eval`, with JSON's words beside Python's); `undefined` where it is none. */
export function readPythonLiteral(text: string): JsonValue | undefined {
  const located = locatePythonLiteral(text, skipSpace(text, 0));
  return located !== null && skipSpace(text, located.end) === text.length ? located.value : undefined;
}

/** Reads the Python literal that begins at `start`: strings, numbers, words, lists, tuples, sets and dicts of them. */
export function locatePythonLiteral(text: string, start: number): LocatedLiteral | null {
  return literal(text, start, 0);
}

export interface LocatedPythonCall {
  readonly name: string;
  readonly value: ReadonlyMap<string, JsonValue>;
  readonly end: number;
}

/** Reads `name(key=literal, …)` at `start`; names may have dots and dashes. Positional arguments are not taken. */
export function locatePythonCall(text: string, start: number): LocatedPythonCall | null {
  CALL_NAME.lastIndex = start;
  const name = CALL_NAME.exec(text)?.[1];
  if (name === undefined) return null;
  const value = new Map<string, JsonValue>();
  let at = skipSpace(text, CALL_NAME.lastIndex);
  while (text[at] !== ')') {
    KEYWORD.lastIndex = at;
    const key = KEYWORD.exec(text)?.[1];
    if (key === undefined) return null;
    const item = argument(text, KEYWORD.lastIndex);
    if (item === null) return null;
    value.set(key, item.value);
    at = skipSpace(text, item.end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
    else if (text[at] !== ')') return null;
  }
  return { name, value, end: at + 1 };
}

/** A string that is no literal, because its own quotes were not escaped, ends where an argument can end. */
function argument(text: string, start: number): LocatedLiteral | null {
  const item = literal(text, start, 0);
  const behind = item === null ? undefined : text[skipSpace(text, item.end)];
  if (behind === ',' || behind === ')') return item;
  const quote = text[start];
  if (quote !== '"' && quote !== "'") return item;
  const end = new RegExp(`${quote}(?=\\s*(?:\\)|,\\s*[\\p{L}_][\\p{L}\\p{N}_-]*\\s*=))`, 'gu');
  end.lastIndex = start + 1;
  const found = end.exec(text);
  return found === null ? item : { value: text.slice(start + 1, found.index), end: end.lastIndex };
}

const CALL_NAME = /([\p{L}_][\p{L}\p{N}_.-]*)\s*\(/uy;
const KEYWORD = /([\p{L}_][\p{L}\p{N}_-]*)\s*=\s*/uy;
const NUMBER = /[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const WORD = /(?:True|False|None|true|false|null)(?![\p{L}\p{N}_])/uy;
const WORDS: Readonly<Record<string, JsonValue>> = { True: true, true: true, False: false, false: false, None: null, null: null };
const MAX_DEPTH = 200;

function literal(text: string, start: number, depth: number): LocatedLiteral | null {
  if (depth > MAX_DEPTH) return null;
  switch (text[start]) {
    case '[':
      return items(text, start, ']', depth);
    case '(':
      return items(text, start, ')', depth);
    case '{':
      return braces(text, start, depth);
    case undefined:
      return null;
    default:
      return string(text, start) ?? word(text, start) ?? number(text, start);
  }
}

function items(text: string, start: number, close: string, depth: number): LocatedLiteral | null {
  const value: JsonValue[] = [];
  let commas = 0;
  let at = skipSpace(text, start + 1);
  while (text[at] !== close) {
    const item = literal(text, at, depth + 1);
    if (item === null) return null;
    value.push(item.value);
    at = skipSpace(text, item.end);
    if (text[at] === ',') {
      commas++;
      at = skipSpace(text, at + 1);
    } else if (text[at] !== close) return null;
  }
  const grouped = close === ')' && commas === 0 && value.length === 1;
  return { value: grouped ? value[0]! : value, end: at + 1 };
}

/** A dict, or a set as a list. */
function braces(text: string, start: number, depth: number): LocatedLiteral | null {
  const members = new Map<string, JsonValue>();
  const elements: JsonValue[] = [];
  let at = skipSpace(text, start + 1);
  while (text[at] !== '}') {
    const key = literal(text, at, depth + 1);
    if (key === null) return null;
    at = skipSpace(text, key.end);
    if (text[at] === ':') {
      const item = literal(text, skipSpace(text, at + 1), depth + 1);
      if (item === null) return null;
      members.set(keyText(key.value), item.value);
      at = skipSpace(text, item.end);
    } else elements.push(key.value);
    if (text[at] === ',') at = skipSpace(text, at + 1);
    else if (text[at] !== '}') return null;
  }
  if (elements.length > 0) return members.size > 0 ? null : { value: elements, end: at + 1 };
  return { value: members, end: at + 1 };
}

/** `json.dumps` makes a string of a key in the same way. */
const keyText = (key: JsonValue): string => (typeof key === 'string' ? key : String(key));

function word(text: string, start: number): LocatedLiteral | null {
  WORD.lastIndex = start;
  const found = WORD.exec(text)?.[0];
  return found === undefined ? null : { value: WORDS[found] ?? null, end: WORD.lastIndex };
}

function number(text: string, start: number): LocatedLiteral | null {
  NUMBER.lastIndex = start;
  const found = NUMBER.exec(text)?.[0];
  if (found === undefined) return null;
  const value = readNumber(found);
  return value === undefined ? null : { value, end: NUMBER.lastIndex };
}

/** A number as Python spells it, of which JSON's spelling is a part; `undefined` where it is none. */
export function readNumber(spelling: string): JsonValue | undefined {
  if (/^(?:0|-?[1-9]\d{0,14})$/.test(spelling)) return Number(spelling);
  if (!/\d/.test(spelling)) return undefined;
  const plain = spelling.replaceAll('_', '').replace(/^\+/, '');
  const json = plain.replace(/^(-?)\./, '$10.').replace(/\.(?=$|[eE])/, '.0');
  if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(json)) return undefined;
  try {
    return parseJson(json.replace(/^(-?)0+(?=\d)/, '$1'));
  } catch {
    return undefined;
  }
}

function string(text: string, start: number): LocatedLiteral | null {
  const prefix = /^(?:[rRuU](?=['"]))?/.exec(text.slice(start, start + 2))?.[0] ?? '';
  const open = start + prefix.length;
  const quote = text[open];
  if (quote !== '"' && quote !== "'") return null;
  const delimiter = text.startsWith(quote.repeat(3), open) ? quote.repeat(3) : quote;
  const rawString = prefix.toLowerCase() === 'r';
  let value = '';
  let at = open + delimiter.length;
  for (;;) {
    const char = text[at];
    if (char === undefined) return null;
    if (text.startsWith(delimiter, at)) return { value, end: at + delimiter.length };
    if (char === '\\' && !rawString) {
      const escaped = escapeAt(text, at);
      value += escaped.value;
      at = escaped.end;
    } else {
      value += char;
      at++;
    }
  }
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  '0': '\0',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
};
const CODE_ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/y;

/** An escape that Python does not know stands for itself. */
function escapeAt(text: string, start: number): { value: string; end: number } {
  CODE_ESCAPE.lastIndex = start;
  const code = CODE_ESCAPE.exec(text);
  if (code !== null) {
    const point = Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16);
    if (point <= 0x10ffff) return { value: String.fromCodePoint(point), end: CODE_ESCAPE.lastIndex };
  }
  const next = text[start + 1];
  if (next === undefined) return { value: '\\', end: start + 1 };
  const simple = SIMPLE_ESCAPES[next];
  return { value: simple ?? `\\${next}`, end: start + 2 };
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text[at]!)) at++;
  return at;
}
