import { JsonFloat } from '../canonical/json-value.js';
import { formatFloat } from '../canonical/json-write.js';
import { PyObject, type Value } from './object.js';
import { valueError } from './python-error.js';

/** Digits beyond which Python refuses to print an int. */
const MAX_INT_DIGITS = 4300;

/** `repr` of a float. */
export function floatText(value: number): string {
  if (Number.isFinite(value)) return formatFloat(value);
  return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
}

/** `str(value)`. */
export function str(value: Value): string {
  if (typeof value === 'string') return value;
  return value instanceof PyObject ? value.str() : repr(value);
}

/** `repr(value)`. */
export function repr(value: Value): string {
  switch (typeof value) {
    case 'string':
      return reprStr(value);
    case 'boolean':
      return value ? 'True' : 'False';
    case 'number':
      return Number.isInteger(value) ? String(value === 0 ? 0 : value) : floatText(value);
    case 'bigint':
      return reprBigInt(value);
    default:
      if (value === null) return 'None';
      if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`;
      if (value instanceof JsonFloat) return floatText(value.value);
      if (value instanceof PyObject) return value.repr();
      return reprMap(value as ReadonlyMap<string, Value>);
  }
}

function reprMap(map: ReadonlyMap<string, Value>): string {
  let text = '';
  for (const [key, member] of map) text += `${text === '' ? '' : ', '}${reprStr(key)}: ${repr(member)}`;
  return `{${text}}`;
}

function reprBigInt(value: bigint): string {
  const text = value.toString();
  if (text.length > MAX_INT_DIGITS + 1 || (text.length === MAX_INT_DIGITS + 1 && text[0] !== '-'))
    valueError(`Exceeds the limit (${MAX_INT_DIGITS} digits) for integer string conversion`);
  return text;
}

// Characters that Python's repr escapes: the backslash and all that is neither printable nor a space.
const ESCAPED = /[\\]|(?! )[\p{C}\p{Z}]/gu;
const NEEDS_ESCAPE = /[\\]|(?! )[\p{C}\p{Z}]/u;
const SHORT: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function reprStr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let body = NEEDS_ESCAPE.test(text) ? text.replace(ESCAPED, escapeCharacter) : text;
  if (quote === "'" && body.includes("'")) body = body.replaceAll("'", "\\'");
  return quote + body + quote;
}

function escapeCharacter(character: string): string {
  const short = SHORT[character];
  if (short !== undefined) return short;
  return escapeCode(character.codePointAt(0)!);
}

/** `\xNN`, `\uNNNN` or `\UNNNNNNNN`, whichever is the shortest that holds the code point. */
export function escapeCode(code: number): string {
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}
