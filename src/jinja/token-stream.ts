import type { Token } from './lexer.js';
import { PythonError } from './python-error.js';
import { str } from './repr.js';

const DESCRIPTIONS: Readonly<Partial<Record<Token['type'], string>>> = {
  variable_begin: 'begin of print statement',
  variable_end: 'end of print statement',
  block_begin: 'begin of statement block',
  block_end: 'end of statement block',
  data: 'template data / text',
  eof: 'end of template',
  number: 'number',
  string: 'string',
};

export const describe = (token: Token): string => DESCRIPTIONS[token.type] ?? str(token.value);

/** The tokens of a template with the parser's way of reading them. */
export class TokenStream {
  private position = 0;
  constructor(private readonly tokens: readonly Token[]) {}

  get current(): Token {
    return this.tokens[this.position]!;
  }
  look(): Token {
    return this.tokens[Math.min(this.position + 1, this.tokens.length - 1)]!;
  }
  next(): Token {
    const token = this.current;
    if (token.type !== 'eof') this.position++;
    return token;
  }
  isOperator(sign: string): boolean {
    return this.current.type === 'operator' && this.current.value === sign;
  }
  isName(name: string): boolean {
    return this.current.type === 'name' && this.current.value === name;
  }
  skipOperator(sign: string): boolean {
    const found = this.isOperator(sign);
    if (found) this.next();
    return found;
  }
  skipName(name: string): boolean {
    const found = this.isName(name);
    if (found) this.next();
    return found;
  }
  expectOperator(sign: string): Token {
    return this.isOperator(sign) ? this.next() : this.expected(sign);
  }
  expectName(name?: string): Token & { readonly value: string } {
    if (this.current.type === 'name' && (name === undefined || this.current.value === name))
      return this.next() as Token & { value: string };
    return this.expected(name ?? 'name');
  }
  expect(type: Token['type']): Token {
    return this.current.type === type ? this.next() : this.expected(DESCRIPTIONS[type] ?? type);
  }
  fail(message: string, line = this.current.line, pythonClass = 'TemplateSyntaxError'): never {
    throw new PythonError(pythonClass, message, line);
  }
  private expected(what: string): never {
    if (this.current.type === 'eof') this.fail(`unexpected end of template, expected '${what}'.`);
    this.fail(`expected token '${what}', got '${describe(this.current)}'`);
  }
}
