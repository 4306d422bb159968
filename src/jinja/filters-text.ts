import { JsonFloat } from '../canonical/json-value.js';
import { fixed } from './decimal-digits.js';
import { callStrMethod, type Filter, filter, likeText, ownText, textOf } from './filter-helpers.js';
import { formatPercent } from './format-percent.js';
import { escapeValue, stripTags } from './html.js';
import { each, length, slice } from './iterate.js';
import { indexOf, toDouble } from './numbers.js';
import type { Value } from './object.js';
import { add, multiply } from './operators.js';
import { pprint } from './pprint.js';
import { raise, typeError, valueError } from './python-error.js';
import { str } from './repr.js';
import { codePoints, PY_SPACE, replace, splitLines } from './text-tools.js';
import { toJson } from './tojson.js';
import { truthy } from './truth.js';
import { typeName } from './type-names.js';
import { unpack } from './unpack.js';
import { urlize } from './urlize.js';
import { dictEntries, isDict, isStr, Markup, makeDict, strText, Tuple, Undefined } from './values.js';
import { wrapText } from './word-wrap.js';

const WORD_START = new RegExp(`([-${PY_SPACE}({\\[<]+)`);

function title(value: Value): string {
  return (isStr(value) ? strText(value) : str(value))
    .split(WORD_START)
    .map((word) => {
      const first = codePoints(word)[0] ?? '';
      return first.toUpperCase() + word.slice(first.length).toLowerCase();
    })
    .join('');
}

function indent([value, width = 4, first = false, blank = false]: readonly (Value | undefined)[]): Value {
  const text = value!;
  const indentation = isStr(width) ? strText(width) : strText(multiply(' ', width) as string);
  if (!isStr(text)) {
    // `list += text` extends the list.
    if (!Array.isArray(text)) add(text, '\n');
    raise('AttributeError', `'${typeName(text)}' object has no attribute 'splitlines'`);
  }
  const lines = splitLines(`${strText(text)}\n`, false);
  const pad = (line: string, index: number): string => (index === 0 || (line === '' && !truthy(blank)) ? line : indentation + line);
  const result = lines.map(pad).join('\n');
  return likeText(text, truthy(first) ? indentation + result : result);
}

function truncate([value, limit = 255, killWords = false, end = '...', leeway = null]: readonly (Value | undefined)[]): Value {
  const text = value!;
  const most = indexOf(limit);
  const slack = leeway === null ? 5 : indexOf(leeway);
  const ending = length(end);
  if (most < ending) raise('AssertionError', `expected length >= ${ending}, got ${most}`);
  if (slack < 0) raise('AssertionError', `expected leeway >= 0, got ${slack}`);
  if (length(text) <= most + slack) return text;
  const cut = slice(text, null, most - ending, null);
  if (truthy(killWords)) return add(cut, end);
  if (!isStr(cut)) raise('AttributeError', `'${typeName(cut)}' object has no attribute 'rsplit'`);
  const at = strText(cut).lastIndexOf(' ');
  return add(at < 0 ? cut : likeText(cut, strText(cut).slice(0, at)), end);
}

const percentEncode = (value: Value, query: boolean): string => {
  const text = isStr(value) ? strText(value) : str(value);
  if (!text.isWellFormed()) raise('UnicodeEncodeError', "'utf-8' codec can't encode characters: surrogates not allowed");
  const encoded = encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  return query ? encoded.replaceAll('%20', '+') : encoded.replaceAll('%2F', '/');
};

function urlEncode(value: Value): string {
  if (isStr(value)) return percentEncode(value, false);
  const isIterable =
    Array.isArray(value) || value instanceof Map || (value !== null && typeof value === 'object' && !(value instanceof JsonFloat));
  if (!isIterable) return percentEncode(value, false);
  const parts: string[] = [];
  const add = (key: Value, member: Value): void => {
    parts.push(`${percentEncode(key, true)}=${percentEncode(member, true)}`);
  };
  if (isDict(value)) for (const [key, member] of dictEntries(value)) add(key, member);
  else for (const pair of each(value)) add(...(unpack(pair, 2) as [Value, Value]));
  return parts.join('&');
}

function xmlAttributes([value, autospace = true]: readonly (Value | undefined)[]): string {
  if (value instanceof Undefined) value.fail();
  if (!isDict(value!)) raise('AttributeError', `'${typeName(value!)}' object has no attribute 'items'`);
  const parts: string[] = [];
  for (const [key, member] of dictEntries(value)) {
    if (member === null || member instanceof Undefined) continue;
    if (!isStr(key)) typeError('expected string or bytes-like object');
    if (/[\s/>=]/.test(strText(key).replace(/[^\x00-\x7f]/g, 'x'))) valueError(`Invalid character in attribute name: '${strText(key)}'`);
    parts.push(`${escapeValue(key).text}="${escapeValue(member).text}"`);
  }
  return parts.length > 0 && truthy(autospace) ? ` ${parts.join(' ')}` : parts.join(' ');
}

function fileSize([value, binary = false]: readonly (Value | undefined)[]): string {
  const bytes = toDouble(value!);
  const base = truthy(binary) ? 1024 : 1000;
  if (bytes === 1) return '1 Byte';
  if (bytes < base) return `${Math.trunc(bytes)} Bytes`;
  const units = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'].map((unit) => (truthy(binary) ? `${unit.toUpperCase()}iB` : `${unit}B`));
  let unit = 0;
  while (unit < units.length - 1 && bytes >= base ** (unit + 2)) unit++;
  return `${fixed((base * bytes) / base ** (unit + 2), 1)} ${units[unit]}`;
}

function format(value: Value, args: readonly Value[], kwargs: ReadonlyMap<string, Value> | null): Value {
  const named = kwargs !== null && kwargs.size > 0;
  if (args.length > 0 && named) raise('FilterArgumentError', "can't handle positional and keyword arguments at the same time");
  return formatPercent(isStr(value) ? value : str(value), named ? makeDict(kwargs) : new Tuple(args));
}

const method = (name: string): [string, Filter] => filter(name, ['s'], 1, ([value]) => callStrMethod(value!, name, []));

/** Filters on texts. */
export const TEXT_FILTERS: readonly [string, Filter][] = [
  method('upper'),
  method('lower'),
  method('capitalize'),
  filter('title', ['s'], 1, ([value]) => title(value!)),
  filter('trim', ['value', 'chars'], 1, ([value, chars = null]) => callStrMethod(value!, 'strip', [chars])),
  filter('center', ['value', 'width'], 1, ([value, width = 80]) => callStrMethod(value!, 'center', [width])),
  filter('string', ['s'], 1, ([value]) => (isStr(value!) ? value : str(value!))),
  filter('safe', ['value'], 1, ([value]) => (value instanceof Markup ? value : new Markup(str(value!)))),
  ...['e', 'escape'].map((name) => filter(name, ['s'], 1, ([value]) => escapeValue(value!))),
  filter('forceescape', ['value'], 1, ([value]) => escapeValue(str(value!))),
  filter('striptags', ['value'], 1, ([value]) => stripTags(str(value!))),
  filter('replace', ['s', 'old', 'new', 'count'], 3, ([value, old, replacement, count = null]) =>
    replace(str(value!), str(old!), str(replacement!), count === null ? -1 : indexOf(count)),
  ),
  filter('indent', ['s', 'width', 'first', 'blank'], 1, indent),
  filter('truncate', ['s', 'length', 'killwords', 'end', 'leeway'], 1, truncate),
  filter('wordcount', ['s'], 1, ([value]) => (str(value!).match(/[\p{L}\p{N}_]+/gu) ?? []).length),
  filter(
    'wordwrap',
    ['s', 'width', 'break_long_words', 'wrapstring', 'break_on_hyphens'],
    1,
    ([value, width = 79, long = true, glue = null, hyphens = true]) => {
      const text = ownText(value!, 'splitlines');
      const newline = glue === null ? '\n' : textOf(glue, 'wrapstring');
      return splitLines(text, false)
        .map((line) => wrapText(line, indexOf(width), truthy(long), truthy(hyphens)).join(newline))
        .join(newline);
    },
  ),
  filter('urlencode', ['value'], 1, ([value]) => urlEncode(value!)),
  filter(
    'urlize',
    ['value', 'trim_url_limit', 'nofollow', 'target', 'rel', 'extra_schemes'],
    1,
    ([value, trim, nofollow, target, rel, schemes]) =>
      urlize(str(value!), {
        limit: trim === undefined || trim === null ? null : indexOf(trim),
        nofollow: truthy(nofollow ?? false),
        target: target === undefined || target === null ? null : str(target),
        rel: rel === undefined || rel === null ? '' : str(rel),
        schemes: schemes === undefined || schemes === null ? [] : [...each(schemes)].map((scheme) => textOf(scheme, 'scheme')),
      }),
  ),
  filter('xmlattr', ['d', 'autospace'], 1, xmlAttributes),
  filter('filesizeformat', ['value', 'binary'], 1, fileSize),
  filter('pprint', ['value'], 1, ([value]) => pprint(value!)),
  ['format', { context: false, run: format }],
  ['tojson', { context: false, run: toJson }],
];
