import { JsonFloat } from '../canonical/json-value.js';
import { compareCodePoints, formatFloat, quoteJson } from '../canonical/json-write.js';
import { bind } from './arguments.js';
import { ordered } from './compare.js';
import { toList } from './iterate.js';
import { indexOf, intOf } from './numbers.js';
import type { Kwargs, List, Value } from './object.js';
import { typeError } from './python-error.js';
import { str } from './repr.js';
import { truthy } from './truth.js';
import { typeName } from './type-names.js';
import { dictEntries, isDict, isStr, Markup, type PyDict, strText, Tuple } from './values.js';

interface Layout {
  readonly ensureAscii: boolean;
  readonly indent: string | null;
  readonly item: string;
  readonly member: string;
  readonly sortKeys: boolean;
}

const PLAIN: Layout = { ensureAscii: false, indent: null, item: ', ', member: ': ', sortKeys: false };

/** The `tojson` of chat templates: `json.dumps` without HTML escapes, with tuples and the keys that Python converts to text. */
export function toJson(value: Value, args: readonly Value[], kwargs: Kwargs): string {
  if (args.length === 0 && kwargs === null) return write(value, PLAIN, '\n');
  const [ascii, indent, separators, sortKeys] = bind('tojson', ['ensure_ascii', 'indent', 'separators', 'sort_keys'], 0, args, kwargs);
  const step = indentOf(indent ?? null);
  const [item, member] = separators === undefined || separators === null ? [step === null ? ', ' : ',', ': '] : separatorsOf(separators);
  const layout = { ensureAscii: truthy(ascii ?? false), indent: step, item, member, sortKeys: truthy(sortKeys ?? false) };
  return write(value, layout, '\n');
}

function indentOf(indent: Value): string | null {
  if (indent === null) return null;
  if (isStr(indent)) return strText(indent);
  return intOf(indent) === undefined
    ? typeError(`can't multiply sequence by non-int of type '${typeName(indent)}'`)
    : ' '.repeat(Math.max(0, indexOf(indent)));
}

function separatorsOf(value: Value): [string, string] {
  const parts = toList(value);
  if (parts.length !== 2) typeError('separators must be a pair of texts');
  return parts.map((part) => (isStr(part) ? strText(part) : typeError(`separators must be str, not ${typeName(part)}`))) as [
    string,
    string,
  ];
}

/** `newline` is the line break with the indentation of the enclosing level. */
function write(value: Value, layout: Layout, newline: string): string {
  switch (typeof value) {
    case 'string':
      return quoteJson(value, layout.ensureAscii);
    case 'number':
      return Number.isInteger(value) ? String(value) : formatFloat(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    default:
      if (value === null) return 'null';
      if (value instanceof JsonFloat) return formatFloat(value.value);
      if (Array.isArray(value)) return writeItems(value as List, layout, newline);
      if (value instanceof Tuple) return writeItems(value.items, layout, newline);
      if (value instanceof Markup) return quoteJson(value.text, layout.ensureAscii);
      if (value instanceof Map && !layout.sortKeys) return writeMembers(value as Iterable<readonly [string, Value]>, layout, newline);
      if (isDict(value)) return writeMembers(keyTexts(value, layout.sortKeys), layout, newline);
      typeError(`Object of type ${typeName(value)} is not JSON serializable`);
  }
}

function writeItems(items: List, layout: Layout, newline: string): string {
  if (items.length === 0) return '[]';
  const inner = layout.indent === null ? '' : newline + layout.indent;
  const next = layout.item + inner;
  let text = `[${inner}`;
  for (let index = 0; index < items.length; index++) text += (index > 0 ? next : '') + write(items[index]!, layout, inner);
  return layout.indent === null ? `${text}]` : `${text}${newline}]`;
}

function writeMembers(members: Iterable<readonly [string, Value]>, layout: Layout, newline: string): string {
  const inner = layout.indent === null ? '' : newline + layout.indent;
  const next = layout.item + inner;
  let text = '';
  for (const [name, value] of members)
    text += (text === '' ? `{${inner}` : next) + quoteJson(name, layout.ensureAscii) + layout.member + write(value, layout, inner);
  if (text === '') return '{}';
  return layout.indent === null ? `${text}}` : `${text}${newline}}`;
}

function keyTexts(dict: ReadonlyMap<string, Value> | PyDict, sorted: boolean): [string, Value][] {
  const members = [...dictEntries(dict)];
  if (sorted)
    members.sort(([a], [b]) =>
      isStr(a) && isStr(b) ? compareCodePoints(strText(a), strText(b)) : ordered('<', a, b) ? -1 : ordered('<', b, a) ? 1 : 0,
    );
  return members.map(([key, value]) => [keyText(key), value]);
}

function keyText(key: Value): string {
  if (isStr(key)) return strText(key);
  if (key === null) return 'null';
  if (typeof key === 'boolean') return String(key);
  if (typeof key === 'number') return Number.isInteger(key) ? String(key) : formatFloat(key);
  if (typeof key === 'bigint') return str(key);
  if (key instanceof JsonFloat) return formatFloat(key.value);
  typeError(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
}
