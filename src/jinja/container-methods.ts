import { positional } from './arguments.js';
import { equal, hashKey } from './compare.js';
import { DictView, each } from './iterate.js';
import { indexOf } from './numbers.js';
import type { Kwargs, List, Value } from './object.js';
import { raise, typeError, valueError } from './python-error.js';
import { repr } from './repr.js';
import { typeName } from './type-names.js';
import { type Dict, dictEntries, dictGet, makeDict, Tuple } from './values.js';

export type Method = (self: Value, args: readonly Value[], kwargs: Kwargs) => Value;

/** Methods that the sandbox hides because they change their object. */
export const UNSAFE_LIST: ReadonlySet<string> = new Set(['append', 'clear', 'pop', 'reverse', 'insert', 'sort', 'extend', 'remove']);
export const UNSAFE_DICT: ReadonlySet<string> = new Set(['clear', 'pop', 'popitem', 'setdefault', 'update']);

const itemsOf = (self: Value): List => (self instanceof Tuple ? self.items : (self as List));
const refused: Method = () => raise('SecurityError', 'the method would change its object');

function find(self: Value, args: readonly Value[], kwargs: Kwargs): Value {
  positional('index', 1, 3, args, kwargs);
  const items = itemsOf(self);
  const place = (value: Value | undefined, absent: number): number => {
    if (value === undefined) return absent;
    const at = indexOf(value);
    return at < 0 ? Math.max(0, at + items.length) : at;
  };
  const end = Math.min(place(args[2], items.length), items.length);
  for (let at = place(args[1], 0); at < end; at++) if (equal(items[at]!, args[0]!)) return at;
  valueError(`${repr(args[0]!)} is not in ${typeName(self)}`);
}

/** Methods of list; `count` and `index` are those of tuple too. */
export const LIST_METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  [
    'count',
    (self, args, kwargs) => {
      positional('count', 1, 1, args, kwargs);
      return itemsOf(self).filter((item) => equal(item, args[0]!)).length;
    },
  ],
  ['index', find],
  [
    'copy',
    (self, args, kwargs) => {
      positional('copy', 0, 0, args, kwargs);
      return [...(self as List)];
    },
  ],
  ...[...UNSAFE_LIST].map((name): [string, Method] => [name, refused]),
]);

const view =
  (kind: 'keys' | 'values' | 'items'): Method =>
  (self, args, kwargs) => {
    positional(`dict.${kind}`, 0, 0, args, kwargs);
    return new DictView(self as Dict, kind);
  };

export const DICT_METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['keys', view('keys')],
  ['values', view('values')],
  ['items', view('items')],
  [
    'get',
    (self, args, kwargs) => {
      positional('get', 1, 2, args, kwargs);
      const key = args[0]!;
      if (typeof key !== 'string' && hashKey(key) === undefined) typeError(`unhashable type: '${typeName(key)}'`);
      const value = dictGet(self as Dict, key);
      return value === undefined ? (args[1] ?? null) : value;
    },
  ],
  [
    'copy',
    (self, args, kwargs) => {
      positional('copy', 0, 0, args, kwargs);
      return makeDict(dictEntries(self as Dict));
    },
  ],
  [
    'fromkeys',
    (_self, args, kwargs) => {
      positional('fromkeys', 1, 2, args, kwargs);
      return makeDict([...each(args[0]!)].map((key): [Value, Value] => [key, args[1] ?? null]));
    },
  ],
  ...[...UNSAFE_DICT].map((name): [string, Method] => [name, refused]),
]);
