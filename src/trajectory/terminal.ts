export type Style = 'dim' | 'bold' | 'red' | 'green' | 'yellow' | 'cyan' | 'trained' | 'masked';

const CODES: Readonly<Record<Style, readonly [on: number | string, off: number]>> = {
  dim: [2, 22],
  bold: [1, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  trained: ['30;42', 0],
  masked: ['33', 39],
};

/** Wraps text in a terminal's colour codes, or leaves it plain. */
export const painter =
  (colour: boolean) =>
  (style: Style, text: string): string =>
    colour && text !== '' ? `\x1b[${CODES[style][0]}m${text}\x1b[${CODES[style][1]}m` : text;

/** Text of others that is safe to print: control characters, which could steer a terminal, become visible signs. */
export function printable(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (c) => {
    if (c === '\n') return '⏎';
    if (c === '\t') return '⇥';
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** `1 turn`, `2 turns`. */
export const numbered = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The start of a text on one line. @param width in UTF-16 units, at least 1 */
export function preview(text: string, width: number): string {
  const line = printable(text.slice(0, width + 1)).replace(/⏎/g, ' ');
  return line.length <= width ? line : `${line.slice(0, width - 1).toWellFormed()}…`;
}
