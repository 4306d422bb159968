import type { Arguments, BinaryOperator, CompareOperator, Expression, FilterNode } from './nodes.js';
import { PrimaryParser } from './parse-primary.js';

const COMPARE: ReadonlySet<unknown> = new Set(['==', '!=', '<', '<=', '>', '>=']);
/** Reads expressions with jinja2's grammar. */
export class ExpressionParser extends PrimaryParser {
  override expression(withConditional = true): Expression {
    return withConditional ? this.conditional() : this.or();
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

  private filters(start: Expression): Expression {
    let node = start;
    for (;;) {
      if (this.stream.isOperator('|')) node = this.filter(node)!;
      else if (this.stream.isName('is')) node = this.test(node);
      else if (this.stream.isOperator('(')) node = this.call(node);
      else return node;
    }
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
}
