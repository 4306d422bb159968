import { bind, positional } from './arguments.js';
import { encode } from './bytes.js';
import { capitalize, caseFold, swapCase, TEXT_PREDICATES, titleText } from './case-mapping.js';
import { each } from './iterate.js';
import { indexOf } from './numbers.js';
import type { Value } from './object.js';
import { checkedText, MAX_LENGTH } from './operators.js';
import { overLimit, raise, typeError, valueError } from './python-error.js';
import { affix, countOf, finder, type StrMethod, textArgument } from './str-search.js';
import { codePointLength, codePoints, replace, type Side, splitLines, splitOn, splitSpaces, strip } from './text-tools.js';
import { translate } from './translate.js';
import { truthy } from './truth.js';
import { typeName } from './type-names.js';
import { isStr, strText, Tuple } from './values.js';

const simple =
  (name: string, run: (self: string) => Value): StrMethod =>
  (self, args, kwargs) => {
    positional(name, 0, 0, args, kwargs);
    return run(self);
  };

const stripper =
  (name: string, side: Side): StrMethod =>
  (self, args, kwargs) => {
    positional(name, 0, 1, args, kwargs);
    const chars = args[0] ?? null;
    if (chars !== null && !isStr(chars)) typeError(`${name} arg must be None or str`);
    return strip(self, side, chars === null ? null : strText(chars));
  };

const splitter =
  (name: string, fromRight: boolean): StrMethod =>
  (self, args, kwargs) => {
    const [separator = null, limit = -1] = bind(name, ['sep', 'maxsplit'], 0, args, kwargs);
    const most = indexOf(limit);
    if (separator === null) return splitSpaces(self, most, fromRight);
    if (!isStr(separator)) typeError(`must be str or None, not ${typeName(separator)}`);
    if (strText(separator) === '') valueError('empty separator');
    return splitOn(self, strText(separator), most, fromRight);
  };

export function pad(self: string, width: number, fill: string, side: 'left' | 'right' | 'center'): string {
  if (width > MAX_LENGTH) overLimit('characters in one text', MAX_LENGTH);
  const missing = width - codePointLength(self);
  if (missing <= 0) return self;
  if (side === 'left') return self + fill.repeat(missing);
  if (side === 'right') return fill.repeat(missing) + self;
  const left = Math.floor(missing / 2) + (missing & width & 1);
  return fill.repeat(left) + self + fill.repeat(missing - left);
}

const padder =
  (name: string, side: 'left' | 'right' | 'center'): StrMethod =>
  (self, args, kwargs) => {
    positional(name, 1, 2, args, kwargs);
    const width = indexOf(args[0]!);
    const fill = args[1] === undefined ? ' ' : textArgument(name, args[1]);
    if (codePointLength(fill) !== 1) typeError('The fill character must be exactly one character long');
    return pad(self, width, fill, side);
  };

const partitioner =
  (name: string, last: boolean): StrMethod =>
  (self, args, kwargs) => {
    positional(name, 1, 1, args, kwargs);
    const separator = textArgument(name, args[0]);
    if (separator === '') valueError('empty separator');
    const at = last ? self.lastIndexOf(separator) : self.indexOf(separator);
    if (at < 0) return new Tuple(last ? ['', '', self] : [self, '', '']);
    return new Tuple([self.slice(0, at), separator, self.slice(at + separator.length)]);
  };

export function joinText(separator: string, value: Value): string {
  let result = '';
  let index = 0;
  for (const item of each(value)) {
    if (!isStr(item)) typeError(`sequence item ${index}: expected str instance, ${typeName(item)} found`);
    result += index++ === 0 ? strText(item) : separator + strText(item);
  }
  return checkedText(result);
}

function expandTabs(self: string, size: number): string {
  let column = 0;
  let result = '';
  for (const character of codePoints(self)) {
    if (character === '\t') {
      const spaces = size > 0 ? size - (column % size) : 0;
      result += ' '.repeat(spaces);
      column += spaces;
    } else {
      result += character;
      column = character === '\n' || character === '\r' ? 0 : column + 1;
    }
  }
  return result;
}

function zeroFill(self: string, width: number): string {
  const missing = width - codePointLength(self);
  if (missing <= 0) return self;
  const sign = self[0] === '+' || self[0] === '-' ? self[0] : '';
  return sign + pad('', missing, '0', 'left') + self.slice(sign.length);
}

/** The methods of str but `format` and `format_map`, which need the environment. */
export const STR_METHODS: ReadonlyMap<string, StrMethod> = new Map<string, StrMethod>([
  ['strip', stripper('strip', 'both')],
  ['lstrip', stripper('lstrip', 'left')],
  ['rstrip', stripper('rstrip', 'right')],
  ['split', splitter('split', false)],
  ['rsplit', splitter('rsplit', true)],
  ['find', finder('find', false, false)],
  ['rfind', finder('rfind', true, false)],
  ['index', finder('index', false, true)],
  ['rindex', finder('rindex', true, true)],
  ['startswith', affix('startswith')],
  ['endswith', affix('endswith')],
  ['center', padder('center', 'center')],
  ['ljust', padder('ljust', 'left')],
  ['rjust', padder('rjust', 'right')],
  ['partition', partitioner('partition', false)],
  ['rpartition', partitioner('rpartition', true)],
  ['count', countOf],
  ['upper', simple('upper', (self) => self.toUpperCase())],
  ['lower', simple('lower', (self) => self.toLowerCase())],
  ['title', simple('title', titleText)],
  ['capitalize', simple('capitalize', capitalize)],
  ['swapcase', simple('swapcase', swapCase)],
  ['casefold', simple('casefold', caseFold)],
  ...Object.entries(TEXT_PREDICATES).map(([name, test]): [string, StrMethod] => [name, simple(name, test)]),
  [
    'splitlines',
    (self, args, kwargs) => {
      const [keepEnds = false] = bind('splitlines', ['keepends'], 0, args, kwargs);
      return splitLines(self, truthy(keepEnds));
    },
  ],
  [
    'replace',
    (self, args, kwargs) => {
      positional('replace', 2, 3, args, kwargs);
      const [old, replacement] = [textArgument('replace', args[0]), textArgument('replace', args[1])];
      return checkedText(replace(self, old, replacement, args[2] === undefined ? -1 : indexOf(args[2])));
    },
  ],
  [
    'join',
    (self, args, kwargs) => {
      positional('join', 1, 1, args, kwargs);
      return joinText(self, args[0]!);
    },
  ],
  [
    'removeprefix',
    (self, args, kwargs) => {
      positional('removeprefix', 1, 1, args, kwargs);
      const prefix = textArgument('removeprefix', args[0]);
      return self.startsWith(prefix) ? self.slice(prefix.length) : self;
    },
  ],
  [
    'removesuffix',
    (self, args, kwargs) => {
      positional('removesuffix', 1, 1, args, kwargs);
      const suffix = textArgument('removesuffix', args[0]);
      return suffix !== '' && self.endsWith(suffix) ? self.slice(0, -suffix.length) : self;
    },
  ],
  [
    'zfill',
    (self, args, kwargs) => {
      positional('zfill', 1, 1, args, kwargs);
      return zeroFill(self, indexOf(args[0]!));
    },
  ],
  [
    'expandtabs',
    (self, args, kwargs) => {
      const [size = 8] = bind('expandtabs', ['tabsize'], 0, args, kwargs);
      const width = indexOf(size);
      if (Math.abs(width) >= 2 ** 31) raise('OverflowError', 'Python int too large to convert to C int');
      return expandTabs(self, width);
    },
  ],
  ['encode', (self, args, kwargs) => encode(self, bind('encode', ['encoding', 'errors'], 0, args, kwargs))],
  ['translate', (self, args, kwargs) => translate(self, args, kwargs)],
  ['maketrans', () => raise('LimitExceeded', 'str.maketrans is not available in templates here; write the dict itself')],
]);
