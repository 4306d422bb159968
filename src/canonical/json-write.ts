import { isJsonArray, JsonFloat, type JsonObject, type JsonValue } from './json-value.js';

/** The arguments of Python's `json.dumps`. */
export interface JsonWriteOptions {
  readonly ensureAscii?: boolean;
  /** Spaces per level, or the text of one level; `null` = one line. */
  readonly indent?: number | string | null;
  /** Between items, between name and value; default `", "` and `": "`, with `indent` `","` and `": "`. */
  readonly separators?: readonly [item: string, member: string];
  readonly sortKeys?: boolean;
}

interface Layout {
  readonly quote: (text: string) => string;
  readonly float: (x: number) => string;
  readonly indent: string | null;
  readonly item: string;
  readonly member: string;
  readonly sortKeys: boolean;
}

/** The text of Python's `json.dumps`, with `ensure_ascii=False` unless asked for; numbers that are not finite as Python names them. */
export function writeJson(value: JsonValue, options: JsonWriteOptions = {}): string {
  const indent = typeof options.indent === 'number' ? ' '.repeat(Math.max(0, options.indent)) : (options.indent ?? null);
  const [item, member] = options.separators ?? [indent === null ? ', ' : ',', ': '];
  const ensureAscii = options.ensureAscii ?? false;
  return write(
    value,
    { quote: (text) => quoteJson(text, ensureAscii), float: formatFloat, indent, item, member, sortKeys: options.sortKeys ?? false },
    '\n',
  );
}

const COMPACT: Layout = {
  quote: (text) => JSON.stringify(text),
  float: formatWireFloat,
  indent: null,
  item: ',',
  member: ':',
  sortKeys: false,
};

/**
 * Without spaces, for the wire: lone surrogates are escaped, since UTF-8 has no bytes for them; an infinity is `1e400`,
 * which every reader of doubles takes for one, and NaN is `null`.
 */
export function compactJson(value: JsonValue): string {
  return write(value, COMPACT, '\n');
}

/** `newline` is the line break with the indentation of the enclosing level. */
function write(value: JsonValue, layout: Layout, newline: string): string {
  if (typeof value === 'string') return layout.quote(value);
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : layout.float(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof JsonFloat) return layout.float(value.value);
  return isJsonArray(value) ? writeArray(value, layout, newline) : writeObject(value as JsonObject, layout, newline);
}

function writeArray(items: readonly JsonValue[], layout: Layout, newline: string): string {
  if (items.length === 0) return '[]';
  const inner = layout.indent === null ? '' : newline + layout.indent;
  const next = layout.item + inner;
  let text = `[${inner}`;
  for (let i = 0; i < items.length; i++) {
    if (i > 0) text += next;
    text += write(items[i]!, layout, inner);
  }
  return layout.indent === null ? `${text}]` : `${text}${newline}]`;
}

function writeObject(members: JsonObject, layout: Layout, newline: string): string {
  if (members.size === 0) return '{}';
  const inner = layout.indent === null ? '' : newline + layout.indent;
  const next = layout.item + inner;
  let text = `{${inner}`;
  let first = true;
  for (const [name, value] of layout.sortKeys ? sortedMembers(members) : members) {
    if (first) first = false;
    else text += next;
    text += layout.quote(name) + layout.member + write(value, layout, inner);
  }
  return layout.indent === null ? `${text}}` : `${text}${newline}}`;
}

const sortedMembers = (members: JsonObject): [string, JsonValue][] => [...members].sort(([a], [b]) => compareCodePoints(a, b));

/** Python's order of strings: by code points, which differs from UTF-16 units beyond the basic plane. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (a.charCodeAt(i) === b.charCodeAt(i)) continue;
    // A second half here belongs to a character that began before: it is larger than the lone first half of the other.
    const pairs = Number(endsPair(a, i)) - Number(endsPair(b, i));
    return pairs !== 0 ? pairs : a.codePointAt(i)! - b.codePointAt(i)!;
  }
  return a.length - b.length;
}

const endsPair = (text: string, at: number): boolean => at > 0 && text.codePointAt(at - 1)! > 0xffff;

/** A string literal as Python writes it. Lone surrogates stay as they are unless `ensureAscii`. */
export function quoteJson(text: string, ensureAscii = false): string {
  if (ensureAscii) return JSON.stringify(text).replace(/[\x7f-\uffff]/g, escapeUnit);
  return text.isWellFormed() ? JSON.stringify(text) : `"${text.replace(/["\\\x00-\x1f]/g, (unit) => JSON.stringify(unit).slice(1, -1))}"`;
}

const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

function formatWireFloat(x: number): string {
  if (Number.isFinite(x)) return formatFloat(x);
  return Number.isNaN(x) ? 'null' : x > 0 ? '1e400' : '-1e400';
}

/** Python's `repr` of a float: the shortest digits that read back, an exponent below 1e-4 and from 1e16 on. */
export function formatFloat(x: number): string {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? 'NaN' : x > 0 ? 'Infinity' : '-Infinity';
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) return x.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  if (Object.is(x, -0)) return '-0.0';
  return Number.isInteger(x) ? `${x}.0` : String(x);
}
