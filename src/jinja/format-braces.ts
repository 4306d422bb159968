import { getAttribute, getItem } from './attributes.js';
import { formatValue } from './format-spec.js';
import { escapeValue } from './html.js';
import type { Kwargs, Value } from './object.js';
import { raise, typeError, valueError } from './python-error.js';
import { escapeCode, repr, str } from './repr.js';
import { dictGet, isDict, Markup } from './values.js';

/** Arguments of one `str.format` call. */
interface Fields {
  readonly args: readonly Value[];
  readonly named: (name: string) => Value | undefined;
  readonly html: boolean;
  automatic: number | null;
}

/** `text.format(*args, **kwargs)` under the sandbox's rules for attributes. */
export function formatBraces(text: string, args: readonly Value[], kwargs: Kwargs, html: boolean): string {
  return expand(text, { args, named: (name) => kwargs?.get(name), html, automatic: 0 }, 2);
}

/** `text.format_map(mapping)`. */
export function formatMap(text: string, args: readonly Value[], kwargs: Kwargs, html: boolean): string {
  if (kwargs !== null && kwargs.size > 0) typeError('format_map() takes no keyword arguments');
  if (args.length !== 1) typeError(`format_map() takes exactly one argument (${args.length} given)`);
  const mapping = args[0]!;
  const named = (name: string): Value | undefined => (isDict(mapping) ? dictGet(mapping, name) : typeError('format_map() needs a mapping'));
  return expand(text, { args: [], named, html, automatic: 0 }, 2);
}

function expand(text: string, fields: Fields, depth: number): string {
  if (depth < 0) valueError('Max string recursion exceeded');
  let result = '';
  for (let at = 0; at < text.length; ) {
    const unit = text[at]!;
    if (unit === '{' || unit === '}') {
      if (text[at + 1] === unit) {
        result += unit;
        at += 2;
        continue;
      }
      if (unit === '}') valueError("Single '}' encountered in format string");
      const end = fieldEnd(text, at);
      result += field(text.slice(at + 1, end), fields, depth);
      at = end + 1;
      continue;
    }
    result += unit;
    at++;
  }
  return result;
}

function fieldEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '{') depth++;
    else if (text[at] === '}' && --depth === 0) return at;
  }
  valueError(text.length === start + 1 ? "Single '{' encountered in format string" : "expected '}' before end of string");
}

function field(source: string, fields: Fields, depth: number): string {
  const match = /^((?:[^[\]:!{}]|\[[^\]]*\])*)(?:!([\s\S]?))?(?::([\s\S]*))?$/u.exec(source);
  if (!match) valueError("expected ':' after conversion specifier");
  const [, name, conversion, spec] = match as unknown as [string, string, string | undefined, string | undefined];
  const value = convert(lookUp(name, fields), conversion);
  const expanded = expand(spec ?? '', fields, depth - 1);
  if (!fields.html) return formatValue(value, expanded);
  if (value instanceof Markup && expanded !== '') valueError('Unsupported format specification for Markup.');
  return value instanceof Markup ? value.text : escapeValue(formatValue(value, expanded)).text;
}

function convert(value: Value, conversion: string | undefined): Value {
  if (conversion === undefined) return value;
  if (conversion === 's') return str(value);
  if (conversion === 'r') return repr(value);
  if (conversion === 'a') return repr(value).replace(/[^\x00-\x7f]/gu, (character) => escapeCode(character.codePointAt(0)!));
  valueError(`Unknown conversion specifier ${conversion}`);
}

function lookUp(name: string, fields: Fields): Value {
  const [, first = '', rest = ''] = /^([^.[]*)([\s\S]*)$/.exec(name)!;
  let value = firstValue(first, fields);
  for (const part of rest.matchAll(/\.([^.[]*)|\[([^\]]*)\]|[\s\S]/g)) {
    if (part[1] !== undefined && part[1] !== '') value = getAttribute(value, part[1]);
    else if (part[2] !== undefined && part[2] !== '') value = getItem(value, /^\d+$/.test(part[2]) ? Number(part[2]) : part[2]);
    else valueError('Empty attribute in format string');
  }
  return value;
}

function firstValue(first: string, fields: Fields): Value {
  if (first !== '' && !/^\d+$/.test(first)) {
    const named = fields.named(first);
    return named === undefined ? raise('KeyError', repr(first)) : named;
  }
  if (first === '') {
    if (fields.automatic === null) valueError('cannot switch from manual field specification to automatic field numbering');
    return argument(fields.args, fields.automatic++);
  }
  if (fields.automatic !== null && fields.automatic > 0)
    valueError('cannot switch from automatic field numbering to manual field specification');
  fields.automatic = null;
  return argument(fields.args, Number(first));
}

function argument(args: readonly Value[], index: number): Value {
  const value = args[index];
  return value === undefined ? raise('IndexError', `Replacement index ${index} out of range for positional args tuple`) : value;
}
