import { overLimit, valueError } from './python-error.js';
import { codePointLength, codePoints, strip } from './text-tools.js';

// Words, runs of white space, and the places after a hyphen where a word may be broken.
const WORD = '[\\p{L}\\p{N}_!"\'&.,?]';
const LETTER = '[\\p{L}_]';
const SPACE = '[\\t\\n\\v\\f\\r ]';
const CHUNKS = new RegExp(
  `(${SPACE}+|(?<=${WORD})-{2,}(?=[\\p{L}\\p{N}_])|[^\\t\\n\\v\\f\\r ]+?(?:-(?:(?<=${LETTER}{2}-)|(?<=${LETTER}-${LETTER}-))(?=${LETTER}-?${LETTER})|(?=${SPACE}|$)|(?<=${WORD})(?=-{2,}[\\p{L}\\p{N}_])))`,
  'u',
);
const SIMPLE_CHUNKS = new RegExp(`(${SPACE}+)`);

/** `textwrap.wrap(text, width, expand_tabs=False, replace_whitespace=False, …)`. */
export function wrapText(text: string, width: number, breakLongWords: boolean, breakOnHyphens: boolean): string[] {
  const chunks = text
    .split(breakOnHyphens ? CHUNKS : SIMPLE_CHUNKS)
    .filter((chunk) => chunk !== '')
    .reverse();
  if (width <= 0) valueError(`invalid width ${width} (must be > 0)`);
  const lines: string[] = [];
  const blank = (chunk: string): boolean => strip(chunk, 'both', null) === '';
  while (chunks.length > 0) {
    if (lines.length > 1_000_000) overLimit('lines in one text', 1_000_000);
    let line: string[] = [];
    let size = 0;
    if (lines.length > 0 && blank(chunks[chunks.length - 1]!)) chunks.pop();
    while (chunks.length > 0) {
      const length = codePointLength(chunks[chunks.length - 1]!);
      if (size + length > width) break;
      line.push(chunks.pop()!);
      size += length;
    }
    const next = chunks[chunks.length - 1];
    if (next !== undefined && codePointLength(next) > width) {
      if (breakLongWords) line.push(breakWord(chunks, width - size, breakOnHyphens));
      else if (line.length === 0) line.push(chunks.pop()!);
    }
    if (line.length > 0 && blank(line[line.length - 1]!)) line = line.slice(0, -1);
    if (line.length > 0) lines.push(line.join(''));
  }
  return lines;
}

/** Takes as much of the long word on top of the stack as fits. */
function breakWord(chunks: string[], left: number, breakOnHyphens: boolean): string {
  const space = left;
  const points = codePoints(chunks.pop()!);
  let end = space;
  if (breakOnHyphens && points.length > space) {
    const hyphen = points.slice(0, space).lastIndexOf('-');
    if (hyphen > 0 && points.slice(0, hyphen).some((point) => point !== '-')) end = hyphen + 1;
  }
  chunks.push(points.slice(end).join(''));
  return points.slice(0, end).join('');
}
