import { makeFloat, makeInt } from './numbers.js';
import type { Value } from './object.js';
import { PythonError } from './python-error.js';
import { unescapeLiteral } from './string-literal.js';
import { PY_SPACE, strip } from './text-tools.js';

/** `value` is the text of data, names and strings, the number of numbers, the sign of operators. */
export interface Token {
  readonly type:
    | 'data'
    | 'variable_begin'
    | 'variable_end'
    | 'block_begin'
    | 'block_end'
    | 'name'
    | 'string'
    | 'number'
    | 'operator'
    | 'eof';
  readonly value: Value;
  readonly line: number;
}

function syntaxError(message: string, line: number): never {
  throw new PythonError('TemplateSyntaxError', message, line);
}

const OPENING = new RegExp(`\\{%([-+]?)[${PY_SPACE}]*raw[${PY_SPACE}]*(?:-%\\}[${PY_SPACE}]*|%\\})|\\{([{%#])([-+]?)`, 'g');
const COMMENT_END = new RegExp(`\\+#\\}|-#\\}[${PY_SPACE}]*|#\\}\\n?`, 'g');
const RAW_END = new RegExp(`\\{%([-+]?)[${PY_SPACE}]*endraw[${PY_SPACE}]*(?:\\+%\\}|-%\\}[${PY_SPACE}]*|%\\}\\n?)`, 'g');
const BLOCK_END = new RegExp(`\\+%\\}|-%\\}[${PY_SPACE}]*|%\\}\\n?`, 'y');
const VARIABLE_END = new RegExp(`-\\}\\}[${PY_SPACE}]*|\\}\\}`, 'y');
const SPACE = new RegExp(`[${PY_SPACE}]+`, 'y');
const ONLY_SPACE = new RegExp(`^[${PY_SPACE}]+$`);
const FLOAT = /(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?[eE][+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/y;
const INTEGER = /0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[\da-fA-F])+|[1-9](?:_?\d)*|0(?:_?0)*/y;
const NAME = /[\p{L}\p{N}_\p{XIDC}]+/uy;
const STRING = /'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y;
const OPERATOR = /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y;
const CLOSING: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']' };

/** Cuts a template into tokens, with jinja2's rules for white space control (`trim_blocks` and `lstrip_blocks` on). */
export function tokenize(template: string): Token[] {
  return new Lexer(template).run();
}

class Lexer {
  private readonly source: string;
  private readonly tokens: Token[] = [];
  private position = 0;
  private line = 1;
  /** Whether the last thing matched ended a line. */
  private lineStarting = true;

  constructor(template: string) {
    const normal = template.replace(/\r\n?/g, '\n');
    this.source = normal.endsWith('\n') ? normal.slice(0, -1) : normal;
  }

  run(): Token[] {
    while (this.position < this.source.length) {
      OPENING.lastIndex = this.position;
      const opening = OPENING.exec(this.source);
      if (!opening) break;
      const [whole, rawSign, kind, sign] = opening;
      this.data(this.source.slice(this.position, opening.index), rawSign ?? sign ?? '', kind !== '{');
      this.advance(whole, opening.index);
      if (kind === undefined) this.raw();
      else if (kind === '#') this.comment();
      else this.tag(kind === '{' ? 'variable' : 'block');
    }
    if (this.position < this.source.length) this.push('data', this.source.slice(this.position));
    this.push('eof', '');
    return this.tokens;
  }

  private push(type: Token['type'], value: Value): void {
    this.tokens.push({ type, value, line: this.line });
  }

  /** Moves behind `text`, which begins at `start`. */
  private advance(text: string, start: number): void {
    this.position = start + text.length;
    this.line += countLines(text);
    if (text !== '') this.lineStarting = text.endsWith('\n');
  }

  /** Text before a tag: `-` takes the white space in front of it, and a tag that is no `{{` takes the indentation of its line. */
  private data(text: string, sign: string, mayTrimIndent: boolean): void {
    let kept = text;
    if (sign === '-') kept = strip(text, 'right', null);
    else if (sign !== '+' && mayTrimIndent) {
      const lineStart = text.lastIndexOf('\n') + 1;
      if ((lineStart > 0 || this.lineStarting) && ONLY_SPACE.test(text.slice(lineStart))) kept = text.slice(0, lineStart);
    }
    if (kept !== '') this.push('data', kept);
    this.line += countLines(text);
  }

  private comment(): void {
    COMMENT_END.lastIndex = this.position;
    const end = COMMENT_END.exec(this.source);
    if (!end) syntaxError('Missing end of comment tag', this.line);
    this.line += countLines(this.source.slice(this.position, end.index));
    this.advance(end[0], end.index);
  }

  private raw(): void {
    RAW_END.lastIndex = this.position;
    const end = RAW_END.exec(this.source);
    if (!end) syntaxError('Missing end of raw directive', this.line);
    this.data(this.source.slice(this.position, end.index), end[1]!, true);
    this.advance(end[0], end.index);
  }

  private tag(kind: 'variable' | 'block'): void {
    this.push(`${kind}_begin`, '');
    const end = kind === 'block' ? BLOCK_END : VARIABLE_END;
    const open: string[] = [];
    for (;;) {
      if (open.length === 0) {
        const closing = this.match(end);
        if (closing !== null) {
          this.push(`${kind}_end`, '');
          this.advance(closing, this.position);
          return;
        }
      }
      if (this.position >= this.source.length) return;
      this.expressionToken(open);
    }
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.position;
    return pattern.exec(this.source)?.[0] ?? null;
  }

  private expressionToken(open: string[]): void {
    const space = this.match(SPACE);
    if (space !== null) this.advance(space, this.position);
    else if (!this.number() && !this.word()) this.operator(open);
  }

  private number(): boolean {
    const float = this.source[this.position - 1] === '.' ? null : this.match(FLOAT);
    if (float !== null) this.emit('number', makeFloat(Number(float.replaceAll('_', ''))), float);
    const integer = float === null ? this.match(INTEGER) : null;
    if (integer !== null) this.emit('number', makeInt(BigInt(integer.replaceAll('_', ''))), integer);
    return float !== null || integer !== null;
  }

  /** A name or a string. */
  private word(): boolean {
    const name = this.match(NAME);
    if (name !== null) {
      if (!/^[\p{XIDS}_][\p{XIDC}]*$/u.test(name)) syntaxError('Invalid character in identifier', this.line);
      this.emit('name', name, name);
      return true;
    }
    const string = this.match(STRING);
    if (string !== null) this.emit('string', unescapeLiteral(string.slice(1, -1), this.line), string);
    return string !== null;
  }

  private operator(open: string[]): void {
    const operator = this.match(OPERATOR);
    if (operator === null) syntaxError(`unexpected char '${this.source[this.position]}' at ${this.position}`, this.line);
    this.balance(operator, open);
    this.emit('operator', operator, operator);
  }

  private emit(type: Token['type'], value: Value, text: string): void {
    this.push(type, value);
    this.advance(text, this.position);
  }

  private balance(operator: string, open: string[]): void {
    const closing = CLOSING[operator];
    if (closing !== undefined) open.push(closing);
    else if (operator === '}' || operator === ')' || operator === ']') {
      const expected = open.pop();
      if (expected === undefined) syntaxError(`unexpected '${operator}'`, this.line);
      else if (expected !== operator) syntaxError(`unexpected '${operator}', expected '${expected}'`, this.line);
    }
  }
}

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
