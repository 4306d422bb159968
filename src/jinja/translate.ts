import { positional } from './arguments.js';
import { isInt } from './numbers.js';
import type { Kwargs, Value } from './object.js';
import { typeError } from './python-error.js';
import { codePoints } from './text-tools.js';
import { typeName } from './type-names.js';
import { dictGet, isDict, isStr, strText } from './values.js';

/** `text.translate(table)` with a dict from code points to a code point, a text or None. */
export function translate(text: string, args: readonly Value[], kwargs: Kwargs): string {
  positional('translate', 1, 1, args, kwargs);
  const table = args[0]!;
  if (!isDict(table)) typeError(`'${typeName(table)}' object is not subscriptable`);
  return codePoints(text)
    .map((character) => {
      const mapped = dictGet(table, character.codePointAt(0)!);
      if (mapped === undefined) return character;
      if (mapped === null) return '';
      if (isStr(mapped)) return strText(mapped);
      return isInt(mapped) ? String.fromCodePoint(Number(mapped)) : typeError('character mapping must return integer, None or str');
    })
    .join('');
}
