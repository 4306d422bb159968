import { formatDouble } from './format-spec.js';
import { escapeHtml, escapeValue } from './html.js';
import { doubleOf, indexOf, intOf, isFloat, toInt } from './numbers.js';
import type { Value } from './object.js';
import { MAX_LENGTH } from './operators.js';
import { overLimit, raise, typeError, valueError } from './python-error.js';
import { escapeCode, repr, str } from './repr.js';
import { codePointLength, codePoints } from './text-tools.js';
import { typeName } from './type-names.js';
import { dictGet, isDict, isStr, Markup, strText, Tuple, Undefined } from './values.js';

const DIRECTIVE = /%(?:\(((?:[^()]|\([^()]*\))*)\))?([#0\- +]*)(\*|\d+)?(\.(?:\*|\d*))?[hlL]?([\s\S])?/gu;

/** `text % args`. With a text that is Markup the arguments are escaped. */
export function formatPercent(text: string | Markup, args: Value): Value {
  const html = text instanceof Markup;
  const isMapping = !isStr(args) && !(args instanceof Tuple) && (isDict(args) || Array.isArray(args) || args instanceof Undefined);
  const list = args instanceof Tuple ? args.items : [args];
  let next = 0;
  let keyed = false;
  const take = (): Value => {
    if (next >= list.length) typeError('not enough arguments for format string');
    return list[next++]!;
  };
  const result = strText(text).replace(
    DIRECTIVE,
    (whole, key: string | undefined, flags: string, width?: string, precision?: string, type?: string) => {
      if (whole === '%%') return '%';
      let value: Value | undefined;
      if (key !== undefined) {
        if (!isMapping) typeError('format requires a mapping');
        if (args instanceof Undefined) args.fail();
        if (!isDict(args)) typeError(`list indices must be integers or slices, not str`);
        value = dictGet(args, key);
        if (value === undefined) raise('KeyError', repr(key));
        keyed = true;
      }
      let left = flags.includes('-');
      let wide = width === undefined ? 0 : width === '*' ? starArgument(take()) : Number(width);
      if (wide < 0) [left, wide] = [true, -wide];
      const places = precision === undefined ? null : precision === '.*' ? Math.max(0, starArgument(take())) : Number(precision.slice(1));
      if (type === undefined) valueError('incomplete format');
      if (value === undefined) value = take();
      if (wide > MAX_LENGTH) overLimit('characters in one text', MAX_LENGTH);
      return layOut(convert(value, type, flags, places, html), type, flags, wide, left);
    },
  );
  if (next < list.length && !keyed && !isMapping) typeError('not all arguments converted during string formatting');
  return html ? new Markup(result) : result;
}

function starArgument(value: Value): number {
  if (intOf(value) === undefined) typeError('* wants int');
  return indexOf(value);
}

function convert(value: Value, type: string, flags: string, places: number | null, html: boolean): string {
  const cut = (text: string): string => (places === null ? text : codePoints(text).slice(0, places).join(''));
  switch (type) {
    case 's':
      return cut(html ? escapeValue(value).text : str(value));
    case 'r':
      return cut(html ? escapeHtml(repr(value)) : repr(value));
    case 'a':
      return cut(repr(value).replace(/[^\x00-\x7f]/gu, (character) => escapeCode(character.codePointAt(0)!)));
    case 'c':
      return characterOf(value);
    case 'd':
    case 'i':
    case 'u':
      return signed(decimal(value, type, html), flags, places);
    case 'o':
    case 'x':
    case 'X':
      return radixText(value, type, flags, places);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': {
      const double = html && isStr(value) ? Number(toInt(value)) : doubleOf(value);
      if (double === undefined) {
        if (value instanceof Undefined) value.fail();
        typeError(`must be real number, not ${typeName(value)}`);
      }
      return signed(formatDouble(double, type, places ?? 6, flags.includes('#')), flags, null);
    }
    default:
      valueError(`unsupported format character '${type}' (0x${type.codePointAt(0)!.toString(16)})`);
  }
}

function decimal(value: Value, type: string, html: boolean): string {
  if (intOf(value) !== undefined || isFloat(value) || (html && isStr(value))) return toInt(value).toString();
  if (value instanceof Undefined) value.fail();
  typeError(`%${type} format: a real number is required, not ${typeName(value)}`);
}

function radixText(value: Value, type: string, flags: string, places: number | null): string {
  const int = intOf(value);
  if (int === undefined) typeError(`%${type} format: an integer is required, not ${typeName(value)}`);
  const radix = type === 'o' ? 8 : 16;
  const digits = BigInt(int < 0 ? -BigInt(int) : int)
    .toString(radix)
    .padStart(places ?? 0, '0');
  const prefix = flags.includes('#') ? `0${type.toLowerCase()}` : '';
  const text = signed((int < 0 ? '-' : '') + prefix + digits, flags, null);
  return type === 'X' ? text.toUpperCase() : text;
}

function signed(text: string, flags: string, places: number | null): string {
  const negative = text.startsWith('-');
  const digits = (negative ? text.slice(1) : text).padStart(places ?? 0, '0');
  return (negative ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '') + digits;
}

function characterOf(value: Value): string {
  if (isStr(value) && codePointLength(strText(value)) === 1) return strText(value);
  const int = intOf(value);
  if (int === undefined) typeError('%c requires int or char');
  if (int < 0 || int > 0x10ffff) raise('OverflowError', '%c arg not in range(0x110000)');
  return String.fromCodePoint(Number(int));
}

function layOut(text: string, type: string, flags: string, width: number, left: boolean): string {
  const missing = width - codePointLength(text);
  if (missing <= 0) return text;
  if (left) return text + ' '.repeat(missing);
  const sign = /^[+\- ]?(?:0[xXo])?/.exec(text)![0];
  const prefix = 'xXo'.includes(type) ? sign : (/^[+\- ]/.exec(text)?.[0] ?? '');
  if (flags.includes('0') && 'diuoxXeEfFgG'.includes(type)) return prefix + '0'.repeat(missing) + text.slice(prefix.length);
  return ' '.repeat(missing) + text;
}
