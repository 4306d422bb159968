import { PythonError } from './python-error.js';
import { escapeCode } from './repr.js';

const SIMPLE: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** The text of a string literal's body, with Python's escapes; an unknown escape is kept as it stands. */
export function unescapeLiteral(body: string, line: number): string {
  if (!body.includes('\\')) return body;
  const fail = (message: string): never => {
    throw new PythonError('TemplateSyntaxError', message, line);
  };
  let result = '';
  for (let at = 0; at < body.length; ) {
    const unit = body[at]!;
    if (unit !== '\\') {
      result += unit;
      at++;
      continue;
    }
    const point = body.codePointAt(at + 1);
    if (point === undefined) fail('\\ at end of string');
    const letter = String.fromCodePoint(point!);
    at += 1 + letter.length;
    const simple = SIMPLE[letter];
    const digits = HEX_DIGITS[letter];
    if (simple !== undefined) result += simple;
    else if (digits !== undefined) {
      const hex = body.slice(at, at + digits);
      if (!new RegExp(`^[0-9a-fA-F]{${digits}}$`).test(hex))
        fail(`truncated \\${letter}${letter === 'x' ? 'XX' : letter.repeat(digits)} escape`);
      const code = Number.parseInt(hex, 16);
      if (code > 0x10ffff) fail('illegal Unicode character');
      result += String.fromCodePoint(code);
      at += digits;
    } else if (letter >= '0' && letter <= '7') {
      const octal = /^[0-7]{1,3}/.exec(body.slice(at - 1))![0];
      result += String.fromCharCode(Number.parseInt(octal, 8));
      at += octal.length - 1;
    } else if (letter === 'N') fail('\\N escapes are not supported; write the character itself or \\u');
    // A character beyond ASCII reaches Python's decoder as an escape of its own, whose backslash the one before it swallows.
    else result += point! > 0x7f ? escapeCode(point!) : `\\${letter}`;
  }
  return result;
}
