import { positional } from './arguments.js';
import { intOf } from './numbers.js';
import type { Kwargs, Value } from './object.js';
import { typeError, valueError } from './python-error.js';
import { codePointLength, pointIndex, unitOffset } from './text-tools.js';
import { typeName } from './type-names.js';
import { isStr, strText, Tuple } from './values.js';

export type StrMethod = (self: string, args: readonly Value[], kwargs: Kwargs) => Value;

export function textArgument(name: string, value: Value | undefined): string {
  if (value !== undefined && isStr(value)) return strText(value);
  typeError(`${name}() argument must be str, not ${value === undefined ? 'missing' : typeName(value)}`);
}

/** A bound of a section; unlike a count it may be any int. */
function boundOf(value: Value): number {
  const int = intOf(value);
  if (int === undefined) typeError('slice indices must be integers or None or have an __index__ method');
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(int)));
}

/** The part of the text that `start` and `end` leave, and its UTF-16 offset; `null` where `start` lies beyond the end. */
function section(self: string, start: Value | undefined, end: Value | undefined): { text: string; offset: number } | null {
  if ((start ?? null) === null && (end ?? null) === null) return { text: self, offset: 0 };
  const size = codePointLength(self);
  const place = (value: Value | undefined, absent: number): number => {
    if (value === undefined || value === null) return absent;
    const at = boundOf(value);
    return at < 0 ? Math.max(0, at + size) : at;
  };
  const from = place(start, 0);
  const to = Math.min(place(end, size), size);
  if (from > size || from > to) return null;
  const offset = unitOffset(self, from);
  return { text: self.slice(offset, unitOffset(self, to)), offset };
}

export const finder =
  (name: string, last: boolean, mustFind: boolean): StrMethod =>
  (self, args, kwargs) => {
    positional(name, 1, 3, args, kwargs);
    const wanted = textArgument(name, args[0]);
    const part = section(self, args[1], args[2]);
    const at = part === null ? -1 : last ? part.text.lastIndexOf(wanted) : part.text.indexOf(wanted);
    if (at < 0 && mustFind) valueError('substring not found');
    return at < 0 ? -1 : pointIndex(self, part!.offset + at);
  };

export const affix =
  (name: 'startswith' | 'endswith'): StrMethod =>
  (self, args, kwargs) => {
    positional(name, 1, 3, args, kwargs);
    const wanted = args[0]!;
    const part = section(self, args[1], args[2]);
    const test = (text: string): boolean =>
      part !== null && (name === 'startswith' ? part.text.startsWith(text) : part.text.endsWith(text));
    if (isStr(wanted)) return test(strText(wanted));
    if (!(wanted instanceof Tuple)) typeError(`${name} first arg must be str or a tuple of str, not ${typeName(wanted)}`);
    return wanted.items.some((item) => {
      if (!isStr(item)) typeError(`tuple for ${name} must only contain str, not ${typeName(item)}`);
      return test(strText(item));
    });
  };

export function countOf(self: string, args: readonly Value[], kwargs: Kwargs): number {
  positional('count', 1, 3, args, kwargs);
  const wanted = textArgument('count', args[0]);
  const part = section(self, args[1], args[2]);
  if (part === null) return 0;
  return wanted === '' ? codePointLength(part.text) + 1 : part.text.split(wanted).length - 1;
}
