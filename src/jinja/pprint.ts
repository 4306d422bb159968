import { ordered } from './compare.js';
import type { List, Value } from './object.js';
import { repr } from './repr.js';
import { type Dict, dictEntries, isDict, Tuple } from './values.js';

const WIDTH = 80;

/** `pprint.pformat(value)`: one line where it fits, else one item a line; dicts are sorted by key. */
export function pprint(value: Value): string {
  return layOut(value, 0, 0);
}

function layOut(value: Value, indent: number, allowance: number): string {
  const line = flat(value);
  if (line.length <= WIDTH - indent - allowance) return line;
  if (Array.isArray(value)) return items(value as List, '[', ']', indent, allowance);
  if (value instanceof Tuple) return items(value.items, '(', value.items.length === 1 ? ',)' : ')', indent, allowance);
  if (!isDict(value)) return line;
  const members = sortedEntries(value).map(([key, member], index, all) => {
    const name = `${flat(key)}: `;
    return name + layOut(member, indent + 1 + name.length, index === all.length - 1 ? allowance + 1 : 1);
  });
  return `{${members.join(`,\n${' '.repeat(indent + 1)}`)}}`;
}

function items(list: List, open: string, close: string, indent: number, allowance: number): string {
  const parts = list.map((item, index) => layOut(item, indent + 1, index === list.length - 1 ? allowance + close.length : 1));
  return open + parts.join(`,\n${' '.repeat(indent + 1)}`) + close;
}

function flat(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(flat).join(', ')}]`;
  if (value instanceof Tuple) return value.items.length === 1 ? `(${flat(value.items[0]!)},)` : `(${value.items.map(flat).join(', ')})`;
  if (isDict(value))
    return `{${sortedEntries(value)
      .map(([key, member]) => `${flat(key)}: ${flat(member)}`)
      .join(', ')}}`;
  return repr(value);
}

function sortedEntries(dict: Dict): (readonly [Value, Value])[] {
  return [...dictEntries(dict)].sort(([a], [b]) => {
    try {
      return ordered('<', a, b) ? -1 : ordered('<', b, a) ? 1 : 0;
    } catch {
      return 0;
    }
  });
}
