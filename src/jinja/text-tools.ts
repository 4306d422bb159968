/** White space as `str.isspace` has it, as the body of a character class. */
export const PY_SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';

const SURROGATE = /[\ud800-\udfff]/;

/** Whether UTF-16 units and code points of the text are counted differently. */
export const hasSurrogates = (text: string): boolean => SURROGATE.test(text);

export function isSpaceUnit(unit: number): boolean {
  if (unit <= 0x20) return unit === 0x20 || (unit >= 9 && unit <= 13) || (unit >= 0x1c && unit <= 0x1f);
  if (unit < 0x1680) return unit === 0x85 || unit === 0xa0;
  return (
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000
  );
}

/** `len(text)`: code points. */
export function codePointLength(text: string): number {
  if (!hasSurrogates(text)) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The code points of a text, one string each. */
export function codePoints(text: string): string[] {
  return hasSurrogates(text) ? [...text] : text.split('');
}

/** UTF-16 offset of the code point with the given index (0 ≤ index ≤ length). */
export function unitOffset(text: string, index: number): number {
  if (!hasSurrogates(text)) return index;
  let unit = 0;
  for (let point = 0; point < index && unit < text.length; point++) unit += text.codePointAt(unit)! > 0xffff ? 2 : 1;
  return unit;
}

/** Index of the code point at a UTF-16 offset. */
export function pointIndex(text: string, offset: number): number {
  return codePointLength(text.slice(0, offset));
}

export type Side = 'both' | 'left' | 'right';

/** `strip`, `lstrip`, `rstrip`; without `chars` white space goes. */
export function strip(text: string, side: Side, chars: string | null): string {
  if (chars !== null) return stripChars(text, side, chars);
  let start = 0;
  let end = text.length;
  if (side !== 'right') while (start < end && isSpaceUnit(text.charCodeAt(start))) start++;
  if (side !== 'left') while (end > start && isSpaceUnit(text.charCodeAt(end - 1))) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

function stripChars(text: string, side: Side, chars: string): string {
  if (hasSurrogates(chars)) {
    const set = new Set(chars);
    const points = [...text];
    let from = 0;
    let to = points.length;
    if (side !== 'right') while (from < to && set.has(points[from]!)) from++;
    if (side !== 'left') while (to > from && set.has(points[to - 1]!)) to--;
    return points.slice(from, to).join('');
  }
  let start = 0;
  let end = text.length;
  if (side !== 'right') while (start < end && chars.includes(text[start]!)) start++;
  if (side !== 'left') while (end > start && chars.includes(text[end - 1]!)) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g;

/** `text.splitlines(keepends)`. */
export function splitLines(text: string, keepEnds: boolean): string[] {
  const lines: string[] = [];
  let start = 0;
  for (const match of text.matchAll(LINE_END)) {
    const end = match.index + match[0].length;
    lines.push(text.slice(start, keepEnds ? end : match.index));
    start = end;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

const SPACES = new RegExp(`[${PY_SPACE}]+`, 'g');
const FIRST_SPACES = new RegExp(`[${PY_SPACE}]+`);

/** `text.split(None, limit)`, or from the right; a negative limit is none. */
export function splitSpaces(text: string, limit: number, fromRight: boolean): string[] {
  if (limit < 0) {
    const inner = strip(text, 'both', null);
    return inner === '' ? [] : inner.split(SPACES);
  }
  const parts: string[] = [];
  let rest = strip(text, fromRight ? 'right' : 'left', null);
  while (rest !== '' && parts.length < limit) {
    const run = fromRight ? [...rest.matchAll(SPACES)].at(-1) : FIRST_SPACES.exec(rest);
    if (!run) break;
    const end = run.index + run[0].length;
    parts.push(fromRight ? rest.slice(end) : rest.slice(0, run.index));
    rest = fromRight ? rest.slice(0, run.index) : rest.slice(end);
  }
  if (rest !== '') parts.push(rest);
  return fromRight ? parts.reverse() : parts;
}

/** `text.split(separator, limit)`, or from the right; a negative limit is none. */
export function splitOn(text: string, separator: string, limit: number, fromRight: boolean): string[] {
  const all = text.split(separator);
  if (limit < 0 || all.length <= limit + 1) return all;
  if (fromRight) return [all.slice(0, all.length - limit).join(separator), ...all.slice(all.length - limit)];
  return [...all.slice(0, limit), all.slice(limit).join(separator)];
}

/** `text.replace(old, new, count)`; a negative count is all. */
export function replace(text: string, old: string, replacement: string, count: number): string {
  if (count === 0) return text;
  if (old === '') {
    const points = codePoints(text);
    const places = count < 0 ? points.length + 1 : Math.min(count, points.length + 1);
    let result = '';
    for (let index = 0; index <= points.length; index++) result += (index < places ? replacement : '') + (points[index] ?? '');
    return result;
  }
  if (!text.includes(old)) return text;
  if (count < 0) return text.replaceAll(old, () => replacement);
  return splitOn(text, old, count, false).join(replacement);
}
