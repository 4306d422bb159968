import type { Arguments, BinaryOperator, CallNode, CompareOperator, Context, Expression, FilterNode } from './nodes.js';
import { describe, type TokenStream } from './token-stream.js';

const COMPARE: ReadonlySet<unknown> = new Set(['==', '!=', '<', '<=', '>', '>=']);
const CONSTANTS: ReadonlyMap<unknown, boolean | null> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
]);

export interface TupleRules {
  /** Only names and literals, as in assignment targets. */
  readonly simplified?: boolean;
  readonly withConditional?: boolean;
  /** A name that ends the tuple. */
  readonly endName?: string;
  readonly parentheses?: boolean;
  readonly withNamespace?: boolean;
}

/** Reads expressions with jinja2's grammar. */
export class ExpressionParser {
  constructor(readonly stream: TokenStream) {}

  expression(withConditional = true): Expression {
    return withConditional ? this.conditional() : this.or();
  }

  /** One expression, or several with commas between as a tuple. */
  tuple(rules: TupleRules = {}): Expression {
    const { stream } = this;
    let line = stream.current.line;
    const items: Expression[] = [];
    let isTuple = false;
    for (;;) {
      if (items.length > 0) stream.expectOperator(',');
      if (this.atTupleEnd(rules.endName)) break;
      items.push(rules.simplified ? this.primary(rules.withNamespace) : this.expression(rules.withConditional ?? true));
      if (!stream.isOperator(',')) break;
      isTuple = true;
      line = stream.current.line;
    }
    if (!isTuple) {
      if (items.length > 0) return items[0]!;
      if (!rules.parentheses) stream.fail(`Expected an expression, got '${describe(stream.current)}'`);
    }
    return { kind: 'tuple', items, line };
  }

  private atTupleEnd(endName: string | undefined): boolean {
    const { current } = this.stream;
    if (current.type === 'variable_end' || current.type === 'block_end' || this.stream.isOperator(')')) return true;
    return endName !== undefined && this.stream.isName(endName);
  }

  private conditional(): Expression {
    const { stream } = this;
    let line = stream.current.line;
    let node = this.or();
    while (stream.skipName('if')) {
      const test = this.or();
      const otherwise = stream.skipName('else') ? this.conditional() : null;
      node = { kind: 'conditional', test, yes: node, otherwise, line };
      line = stream.current.line;
    }
    return node;
  }

  private or(): Expression {
    let left = this.and();
    for (let line = left.line; this.stream.skipName('or'); line = this.stream.current.line)
      left = { kind: 'or', left, right: this.and(), line };
    return left;
  }

  private and(): Expression {
    let left = this.not();
    for (let line = left.line; this.stream.skipName('and'); line = this.stream.current.line)
      left = { kind: 'and', left, right: this.not(), line };
    return left;
  }

  private not(): Expression {
    if (!this.stream.isName('not')) return this.compare();
    const { line } = this.stream.next();
    return { kind: 'not', node: this.not(), line };
  }

  private compare(): Expression {
    const { stream } = this;
    const { line } = stream.current;
    const left = this.sum();
    const ops: { op: CompareOperator; right: Expression }[] = [];
    for (;;) {
      if (stream.current.type === 'operator' && COMPARE.has(stream.current.value))
        ops.push({ op: stream.next().value as CompareOperator, right: this.sum() });
      else if (stream.skipName('in')) ops.push({ op: 'in', right: this.sum() });
      else if (stream.isName('not') && stream.look().type === 'name' && stream.look().value === 'in') {
        stream.next();
        stream.next();
        ops.push({ op: 'not in', right: this.sum() });
      } else break;
    }
    return ops.length === 0 ? left : { kind: 'compare', left, ops, line };
  }

  private binary(operators: readonly string[], operand: () => Expression): Expression {
    const { stream } = this;
    let { line } = stream.current;
    let left = operand();
    while (stream.current.type === 'operator' && operators.includes(stream.current.value as string)) {
      const op = stream.next().value as BinaryOperator;
      left = { kind: 'binary', op, left, right: operand(), line };
      line = stream.current.line;
    }
    return left;
  }

  private sum(): Expression {
    return this.binary(['+', '-'], () => this.concat());
  }

  private concat(): Expression {
    const { line } = this.stream.current;
    const nodes = [this.product()];
    while (this.stream.skipOperator('~')) nodes.push(this.product());
    return nodes.length === 1 ? nodes[0]! : { kind: 'concat', nodes, line };
  }

  private product(): Expression {
    return this.binary(['*', '/', '//', '%'], () => this.binary(['**'], () => this.unary()));
  }

  private unary(withFilter = true): Expression {
    const { stream } = this;
    const { line } = stream.current;
    let node: Expression;
    if (stream.skipOperator('-')) node = { kind: 'neg', node: this.unary(false), line };
    else if (stream.skipOperator('+')) node = { kind: 'pos', node: this.unary(false), line };
    else node = this.primary();
    node = this.postfix(node);
    return withFilter ? this.filters(node) : node;
  }

  primary(withNamespace = false): Expression {
    const { stream } = this;
    const token = stream.current;
    const { line } = token;
    if (token.type === 'name') {
      stream.next();
      const constant = CONSTANTS.get(token.value);
      if (constant !== undefined) return { kind: 'const', value: constant, line };
      const name = token.value as string;
      if (withNamespace && stream.skipOperator('.')) return { kind: 'nsref', name, attr: stream.expectName().value, line };
      return { kind: 'name', name, ctx: 'load', line };
    }
    if (token.type === 'string') {
      let text = '';
      while (stream.current.type === 'string') text += stream.next().value as string;
      return { kind: 'const', value: text, line };
    }
    if (token.type === 'number') return { kind: 'const', value: stream.next().value, line };
    if (stream.skipOperator('(')) {
      const node = this.tuple({ parentheses: true });
      stream.expectOperator(')');
      return node;
    }
    if (stream.isOperator('[')) return this.list();
    if (stream.isOperator('{')) return this.dict();
    return stream.fail(`unexpected '${describe(token)}'`);
  }

  private list(): Expression {
    const { stream } = this;
    const { line } = stream.expectOperator('[');
    const items: Expression[] = [];
    while (!stream.isOperator(']')) {
      if (items.length > 0) stream.expectOperator(',');
      if (stream.isOperator(']')) break;
      items.push(this.expression());
    }
    stream.expectOperator(']');
    return { kind: 'list', items, line };
  }

  private dict(): Expression {
    const { stream } = this;
    const { line } = stream.expectOperator('{');
    const items: { key: Expression; value: Expression }[] = [];
    while (!stream.isOperator('}')) {
      if (items.length > 0) stream.expectOperator(',');
      if (stream.isOperator('}')) break;
      const key = this.expression();
      stream.expectOperator(':');
      items.push({ key, value: this.expression() });
    }
    stream.expectOperator('}');
    return { kind: 'dict', items, line };
  }

  private postfix(start: Expression): Expression {
    let node = start;
    for (;;) {
      if (this.stream.isOperator('.') || this.stream.isOperator('[')) node = this.subscript(node);
      else if (this.stream.isOperator('(')) node = this.call(node);
      else return node;
    }
  }

  private filters(start: Expression): Expression {
    let node = start;
    for (;;) {
      if (this.stream.isOperator('|')) node = this.filter(node)!;
      else if (this.stream.isName('is')) node = this.test(node);
      else if (this.stream.isOperator('(')) node = this.call(node);
      else return node;
    }
  }

  private subscript(node: Expression): Expression {
    const { stream } = this;
    const { line } = stream.current;
    if (stream.skipOperator('.')) {
      const token = stream.next();
      if (token.type === 'name') return { kind: 'attribute', node, attr: token.value as string, line };
      if (
        token.type !== 'number' ||
        (typeof token.value !== 'number' && typeof token.value !== 'bigint') ||
        !Number.isInteger(Number(token.value))
      )
        stream.fail('expected name or number', token.line);
      return { kind: 'item', node, arg: { kind: 'const', value: token.value, line: token.line }, line };
    }
    stream.expectOperator('[');
    const parts: Expression[] = [];
    while (!stream.isOperator(']')) {
      if (parts.length > 0) stream.expectOperator(',');
      parts.push(this.subscribed());
    }
    stream.expectOperator(']');
    return { kind: 'item', node, arg: parts.length === 1 ? parts[0]! : { kind: 'tuple', items: parts, line }, line };
  }

  private subscribed(): Expression {
    const { stream } = this;
    const { line } = stream.current;
    const atEnd = (): boolean => stream.isOperator(']') || stream.isOperator(',');
    let start: Expression | null = null;
    if (!stream.isOperator(':')) {
      start = this.expression();
      if (!stream.isOperator(':')) return start;
    }
    stream.next();
    const stop = stream.isOperator(':') || atEnd() ? null : this.expression();
    const step = stream.skipOperator(':') && !atEnd() ? this.expression() : null;
    return { kind: 'slice', start, stop, step, line };
  }

  private callArguments(): Arguments {
    const { stream } = this;
    const { line } = stream.expectOperator('(');
    const args: Expression[] = [];
    const kwargs: { key: string; value: Expression }[] = [];
    let dynArgs: Expression | null = null;
    let dynKwargs: Expression | null = null;
    const ensure = (holds: boolean): void => {
      if (!holds) stream.fail('invalid syntax for function call expression', line);
    };
    for (let first = true; !stream.isOperator(')'); first = false) {
      if (!first) {
        stream.expectOperator(',');
        if (stream.isOperator(')')) break;
      }
      if (stream.skipOperator('*')) {
        ensure(dynArgs === null && dynKwargs === null);
        dynArgs = this.expression();
      } else if (stream.skipOperator('**')) {
        ensure(dynKwargs === null);
        dynKwargs = this.expression();
      } else if (stream.current.type === 'name' && stream.look().type === 'operator' && stream.look().value === '=') {
        ensure(dynKwargs === null);
        const key = stream.next().value as string;
        stream.next();
        kwargs.push({ key, value: this.expression() });
      } else {
        ensure(dynArgs === null && dynKwargs === null && kwargs.length === 0);
        args.push(this.expression());
      }
    }
    stream.expectOperator(')');
    return { args, kwargs, dynArgs, dynKwargs };
  }

  private call(node: Expression): CallNode {
    const { line } = this.stream.current;
    return { kind: 'call', node, ...this.callArguments(), line };
  }

  private optionalArguments(): Arguments {
    return this.stream.isOperator('(') ? this.callArguments() : { args: [], kwargs: [], dynArgs: null, dynKwargs: null };
  }

  private dottedName(): { name: string; line: number } {
    const { value, line } = this.stream.expectName();
    let name = value;
    while (this.stream.skipOperator('.')) name += `.${this.stream.expectName().value}`;
    return { name, line };
  }

  /** A chain of filters; `inline` begins with a name instead of a bar. `null` where there is none and `start` is `null`. */
  filter(start: Expression | null, inline = false): Expression | null {
    let node = start;
    for (let first = inline; first || this.stream.skipOperator('|'); first = false) {
      const { name, line } = this.dottedName();
      const filter: FilterNode = { kind: 'filter', node, name, ...this.optionalArguments(), line };
      node = filter;
    }
    return node;
  }

  private test(node: Expression): Expression {
    const { stream } = this;
    const { line } = stream.next();
    const negated = stream.skipName('not');
    const { name } = this.dottedName();
    let rest: Arguments = { args: [], kwargs: [], dynArgs: null, dynKwargs: null };
    const { type } = stream.current;
    if (stream.isOperator('(')) rest = this.callArguments();
    else if (
      (type === 'name' || type === 'string' || type === 'number' || stream.isOperator('[') || stream.isOperator('{')) &&
      !stream.isName('else') &&
      !stream.isName('or') &&
      !stream.isName('and')
    ) {
      if (stream.isName('is')) stream.fail('You cannot chain multiple tests with is');
      rest = { ...rest, args: [this.postfix(this.primary())] };
    }
    const test: Expression = { kind: 'test', node, name, ...rest, line };
    return negated ? { kind: 'not', node: test, line } : test;
  }

  /** An assignment target; `nameOnly` allows no tuple. */
  target(rules: { readonly endName?: string; readonly withNamespace?: boolean } = {}): Expression {
    const node = this.tuple({ simplified: true, ...rules });
    setContext(node, 'store');
    if (!canAssign(node)) this.stream.fail(`can't assign to '${node.kind}'`, node.line);
    return node;
  }

  nameTarget(ctx: Context = 'store'): Expression & { kind: 'name' } {
    const { value, line } = this.stream.expectName();
    if (CONSTANTS.has(value)) this.stream.fail("can't assign to 'name'", line);
    return { kind: 'name', name: value, ctx, line };
  }
}

export function setContext(node: Expression, ctx: Context): void {
  if (node.kind === 'name') node.ctx = ctx;
  else if (node.kind === 'tuple') for (const item of node.items) setContext(item, ctx);
}

function canAssign(node: Expression): boolean {
  return node.kind === 'name' || node.kind === 'nsref' || (node.kind === 'tuple' && node.items.every(canAssign));
}
