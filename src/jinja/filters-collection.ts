import { directAttributeExists, getAttribute } from './attributes.js';
import { equal, hashKey, ordered } from './compare.js';
import { attributeGetter, callOwnMethod, type Filter, filter, type Getter, ignoreCase, multiGetter, sorted } from './filter-helpers.js';
import { runFilter } from './filters.js';
import { each, iterate, length, PyIterator, reversed, slice, toList, tryIterate } from './iterate.js';
import { indexOf } from './numbers.js';
import type { Kwargs, List, Value } from './object.js';
import { add, checkedText, floorDivide, modulo } from './operators.js';
import { raise, typeError } from './python-error.js';
import { repr, str } from './repr.js';
import { runTest } from './tests.js';
import { touched } from './tracing.js';
import { truthy } from './truth.js';
import { typeName } from './type-names.js';
import { dictEntries, GroupTuple, isDict, isStr, strText, Tuple, Undefined } from './values.js';

const generator = (name: string, items: Iterable<Value>): PyIterator => new PyIterator(name, items[Symbol.iterator]());
const caseless = (caseSensitive: Value | undefined): Getter | null => (truthy(caseSensitive ?? false) ? null : ignoreCase);

function* unique(value: Value, key: Getter): Generator<Value> {
  const seen = new Set<unknown>();
  for (const item of each(value)) {
    const hash = hashKey(key(item));
    if (hash === undefined) typeError(`unhashable type: '${typeName(key(item))}'`);
    if (seen.has(hash)) continue;
    seen.add(hash);
    yield item;
  }
}

const extreme =
  (ordering: '<' | '>') =>
  ([value, caseSensitive, attribute = null]: readonly (Value | undefined)[]): Value => {
    const key = attributeGetter(attribute, null, caseless(caseSensitive));
    let best: { item: Value; key: Value } | null = null;
    for (const item of each(value!)) {
      const itemKey = key(item);
      if (best === null || ordered(ordering, itemKey, (best as { key: Value }).key)) best = { item, key: itemKey };
    }
    return best === null ? new Undefined('No aggregated item, sequence was empty.', undefined, null) : best.item;
  };

function groupBy([value, attribute, fallback = null, caseSensitive = false]: readonly (Value | undefined)[]): Value {
  const key = attributeGetter(attribute!, fallback, caseless(caseSensitive));
  const shown = attributeGetter(attribute!, fallback);
  const groups: { key: Value; items: Value[] }[] = [];
  for (const item of sorted(toList(value!), key, false)) {
    const itemKey = key(item);
    const last = groups[groups.length - 1];
    if (last && equal(last.key, itemKey)) last.items.push(item);
    else groups.push({ key: itemKey, items: [item] });
  }
  return groups.map((group) => new GroupTuple([truthy(caseSensitive) ? group.key : shown(group.items[0]!), group.items]));
}

function sum([value, attribute = null, start = 0]: readonly (Value | undefined)[]): Value {
  if (isStr(start)) typeError("sum() can't sum strings [use ''.join(seq) instead]");
  const getter = attributeGetter(attribute);
  let total: Value = start;
  for (const item of each(value!)) total = add(total, getter(item));
  return total;
}

function* batch(value: Value, size: Value, fill: Value): Generator<Value> {
  let row: Value[] = [];
  for (const item of each(value)) {
    if (equal(row.length, size)) {
      yield row;
      row = [];
    }
    row.push(item);
  }
  if (row.length === 0) return;
  if (fill !== null && ordered('<', row.length, size)) row.push(...new Array<Value>(indexOf(size) - row.length).fill(fill));
  yield row;
}

function* slices(value: Value, count: Value, fill: Value): Generator<Value> {
  const items = toList(value);
  const perSlice = indexOf(floorDivide(items.length, count));
  const withExtra = indexOf(modulo(items.length, count));
  let offset = 0;
  for (let number = 0; number < indexOf(count); number++) {
    const start = offset + number * perSlice;
    if (number < withExtra) offset++;
    const part = items.slice(start, offset + (number + 1) * perSlice);
    yield fill !== null && number >= withExtra ? [...part, fill] : part;
  }
}

function dictSort([value, caseSensitive = false, by = 'key', reverse = false]: readonly (Value | undefined)[]): Value {
  const place = equal(by, 'key')
    ? 0
    : equal(by, 'value')
      ? 1
      : raise('FilterArgumentError', 'You can only sort by either "key" or "value"');
  const items = toList(callOwnMethod(value!, 'items', []));
  const key: Getter = (item) => (item as Tuple).items[place]!;
  return sorted(items, truthy(caseSensitive) ? key : (item) => ignoreCase(key(item)), truthy(reverse));
}

function reverse(value: Value): Value {
  if (isStr(value)) return slice(value, null, null, -1);
  const turned = reversed(value);
  if (turned !== null) return new PyIterator(turned.typeName, turned.items[Symbol.iterator]());
  if (tryIterate(value) === null) raise('FilterArgumentError', 'argument must be iterable');
  return [...each(value)].reverse();
}

function join([value, separator = '', attribute = null]: readonly (Value | undefined)[]): Value {
  const getter = attribute === null ? null : attributeGetter(attribute);
  const glue = str(separator);
  let text = '';
  let first = true;
  for (const item of each(value!)) {
    const part = str(getter ? getter(item) : item);
    text += first ? part : glue + part;
    first = false;
  }
  return checkedText(text);
}

function* items(value: Value): Generator<Value> {
  if (value instanceof Undefined) return;
  if (!isDict(value)) typeError('Can only get item pairs from a mapping.');
  for (const [key, member] of dictEntries(value)) yield new Tuple([key, member]);
}

function* mapped(value: Value, args: readonly Value[], kwargs: Kwargs): Generator<Value> {
  if (!truthy(value)) return;
  let apply: Getter;
  if (args.length === 0 && kwargs?.has('attribute')) {
    const extra = [...kwargs.keys()].find((key) => key !== 'attribute' && key !== 'default');
    if (extra !== undefined) raise('FilterArgumentError', `Unexpected keyword argument ${repr(extra)}`);
    apply = attributeGetter(kwargs.get('attribute')!, kwargs.get('default') ?? null);
  } else {
    const [name, ...rest] = args;
    if (name === undefined) raise('FilterArgumentError', 'map requires a filter argument');
    apply = (item) => runFilter(name, item, rest, kwargs);
  }
  for (const item of each(value)) yield apply(item);
}

function* selected(value: Value, args: readonly Value[], kwargs: Kwargs, keep: boolean, byAttribute: boolean): Generator<Value> {
  if (!truthy(value)) return;
  let getter: Getter = (item) => item;
  if (byAttribute) {
    if (args.length === 0) raise('FilterArgumentError', 'Missing parameter for attribute name');
    getter = attributeGetter(args[0]!);
  }
  const [name, ...rest] = byAttribute ? args.slice(1) : args;
  const test = (item: Value): boolean => (name === undefined ? truthy(item) : runTest(name, item, rest, kwargs));
  for (const item of each(value)) if (test(getter(item)) === keep) yield item;
}

const lazy = (name: string, run: (value: Value, args: readonly Value[], kwargs: Kwargs) => Iterable<Value>): [string, Filter] => [
  name,
  { context: true, run: (value, args, kwargs) => generator('generator', run(value, args, kwargs)) },
];

function attributeOf([value, name]: readonly (Value | undefined)[]): Value {
  if (!isStr(name!)) typeError(`attribute name must be string, not '${typeName(name!)}'`);
  if (value instanceof Undefined) return getAttribute(value, strText(name));
  return directAttributeExists(value!, strText(name)) ? getAttribute(value!, strText(name)) : new Undefined(null, value!, name);
}

function choose(value: Value): Value {
  touched(-1);
  const list: List = [...each(value)];
  return list[Math.floor(Math.random() * list.length)] ?? new Undefined('No random item, sequence was empty.', undefined, null);
}

const firstOf = (value: Value): Value => {
  const step = iterate(value).next();
  return step.done ? new Undefined('No first item, sequence was empty.', undefined, null) : step.value;
};

function lastOf(value: Value): Value {
  const turned = reversed(value);
  if (turned === null) typeError(`'${typeName(value)}' object is not reversible`);
  const last = turned.items[0];
  return last === undefined ? new Undefined('No last item, sequence was empty.', undefined, null) : last;
}

/** Filters on lists, dicts and other collections. */
export const COLLECTION_FILTERS: readonly [string, Filter][] = [
  ...['length', 'count'].map((name) => filter(name, ['obj'], 1, ([value]) => length(value!))),
  filter('list', ['value'], 1, ([value]) => toList(value!)),
  filter('first', ['seq'], 1, ([value]) => firstOf(value!)),
  filter('last', ['seq'], 1, ([value]) => lastOf(value!)),
  ['random', { context: true, run: choose }],
  filter('join', ['value', 'd', 'attribute'], 1, join),
  filter('reverse', ['value'], 1, ([value]) => reverse(value!)),
  filter('sort', ['value', 'reverse', 'case_sensitive', 'attribute'], 1, ([value, backwards = false, caseSensitive, attribute = null]) =>
    sorted(toList(value!), multiGetter(attribute, caseless(caseSensitive)), truthy(backwards)),
  ),
  filter('dictsort', ['value', 'case_sensitive', 'by', 'reverse'], 1, dictSort),
  filter('unique', ['value', 'case_sensitive', 'attribute'], 1, ([value, caseSensitive, attribute = null]) =>
    generator('generator', unique(value!, attributeGetter(attribute, null, caseless(caseSensitive)))),
  ),
  filter('min', ['value', 'case_sensitive', 'attribute'], 1, extreme('<')),
  filter('max', ['value', 'case_sensitive', 'attribute'], 1, extreme('>')),
  filter('sum', ['iterable', 'attribute', 'start'], 1, sum),
  filter('groupby', ['value', 'attribute', 'default', 'case_sensitive'], 2, groupBy),
  filter('batch', ['value', 'linecount', 'fill_with'], 2, ([value, size, fill = null]) =>
    generator('generator', batch(value!, size!, fill)),
  ),
  filter('slice', ['value', 'slices', 'fill_with'], 2, ([value, count, fill = null]) =>
    generator('generator', slices(value!, count!, fill)),
  ),
  filter('items', ['value'], 1, ([value]) => generator('generator', items(value!))),
  filter('attr', ['obj', 'name'], 2, attributeOf),
  filter('default', ['value', 'default_value', 'boolean'], 1, defaultOf),
  filter('d', ['value', 'default_value', 'boolean'], 1, defaultOf),
  lazy('map', mapped),
  lazy('select', (value, args, kwargs) => selected(value, args, kwargs, true, false)),
  lazy('reject', (value, args, kwargs) => selected(value, args, kwargs, false, false)),
  lazy('selectattr', (value, args, kwargs) => selected(value, args, kwargs, true, true)),
  lazy('rejectattr', (value, args, kwargs) => selected(value, args, kwargs, false, true)),
];

function defaultOf([value, fallback = '', boolean = false]: readonly (Value | undefined)[]): Value {
  return value instanceof Undefined || (truthy(boolean) && !truthy(value!)) ? fallback : value!;
}
