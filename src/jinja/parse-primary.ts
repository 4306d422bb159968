import type { Arguments, CallNode, Context, Expression } from './nodes.js';
import { describe, type TokenStream } from './token-stream.js';

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

/**
 * Reads names, literals, brackets, and what follows them: members, items and calls. Operators, filters and tests are read by the class
 * that extends it.
 */
export abstract class PrimaryParser {
  constructor(readonly stream: TokenStream) {}

  abstract expression(withConditional?: boolean): Expression;

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

  protected postfix(start: Expression): Expression {
    let node = start;
    for (;;) {
      if (this.stream.isOperator('.') || this.stream.isOperator('[')) node = this.subscript(node);
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

  protected callArguments(): Arguments {
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

  protected call(node: Expression): CallNode {
    const { line } = this.stream.current;
    return { kind: 'call', node, ...this.callArguments(), line };
  }

  protected optionalArguments(): Arguments {
    return this.stream.isOperator('(') ? this.callArguments() : { args: [], kwargs: [], dynArgs: null, dynKwargs: null };
  }

  protected dottedName(): { name: string; line: number } {
    const { value, line } = this.stream.expectName();
    let name = value;
    while (this.stream.skipOperator('.')) name += `.${this.stream.expectName().value}`;
    return { name, line };
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
