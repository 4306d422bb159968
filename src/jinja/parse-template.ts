import { tokenize } from './lexer.js';
import type { Expression, FilterNode, IfNode, Name, Signature, Statement } from './nodes.js';
import { ExpressionParser } from './parse-expression.js';
import { parseLoader } from './parse-loader.js';
import { setContext } from './parse-primary.js';
import { TokenStream } from './token-stream.js';

/** Parses a template into its statements. Raises TemplateSyntaxError. */
export function parseTemplate(source: string): Statement[] {
  const stream = new TokenStream(tokenize(source));
  return new TemplateParser(stream).template();
}

class TemplateParser {
  private readonly expressions: ExpressionParser;
  private readonly tags: Readonly<Record<string, () => Statement | readonly Statement[]>>;

  constructor(private readonly stream: TokenStream) {
    this.expressions = new ExpressionParser(stream);
    this.tags = {
      for: () => this.for(),
      if: () => this.if(),
      block: () => this.block(),
      extends: () => parseLoader('extends', this.expressions),
      include: () => parseLoader('include', this.expressions),
      import: () => parseLoader('import', this.expressions),
      from: () => parseLoader('from', this.expressions),
      print: () => this.print(),
      macro: () => this.macro(),
      set: () => this.set(),
      with: () => this.with(),
      autoescape: () => this.autoescape(),
      call: () => this.callBlock(),
      filter: () => this.filterBlock(),
      generation: () => this.generation(),
      break: () => ({ kind: 'break', line: this.stream.next().line }),
      continue: () => ({ kind: 'continue', line: this.stream.next().line }),
    };
  }

  template(): Statement[] {
    return this.statements(null);
  }

  /** Statements up to one of the end tags, which is left as the current token; `null` reads to the end of the template. */
  private statements(endTags: readonly string[] | null): Statement[] {
    const { stream } = this;
    const body: Statement[] = [];
    let nodes: Expression[] = [];
    const flush = (): void => {
      if (nodes.length > 0) body.push({ kind: 'output', nodes, line: nodes[0]!.line });
      nodes = [];
    };
    for (;;) {
      const token = stream.current;
      if (token.type === 'data') {
        nodes.push({ kind: 'data', text: token.value as string, line: token.line });
        stream.next();
      } else if (token.type === 'variable_begin') {
        stream.next();
        nodes.push(this.expressions.tuple());
        stream.expect('variable_end');
      } else if (token.type === 'block_begin') {
        flush();
        stream.next();
        if (endTags !== null && stream.current.type === 'name' && endTags.includes(stream.current.value as string)) return body;
        const statement = this.statement(endTags);
        if (Array.isArray(statement)) body.push(...(statement as readonly Statement[]));
        else body.push(statement as Statement);
        stream.expect('block_end');
      } else {
        flush();
        if (endTags !== null)
          stream.fail(`Unexpected end of template. Jinja was looking for the following tags: '${endTags.join("' or '")}'.`);
        return body;
      }
    }
  }

  private statement(endTags: readonly string[] | null): Statement | readonly Statement[] {
    const token = this.stream.current;
    if (token.type !== 'name') this.stream.fail('tag name expected');
    const name = token.value as string;
    const tag = Object.hasOwn(this.tags, name) ? this.tags[name]! : undefined;
    if (tag) return tag();
    const wanted = endTags === null ? '' : ` Jinja was looking for the following tags: '${endTags.join("' or '")}'.`;
    this.stream.fail(`Encountered unknown tag '${name}'.${wanted}`);
  }

  /** The body of a tag up to an end tag, which is left as the current token. */
  private body(...endTags: string[]): Statement[] {
    this.stream.skipOperator(':');
    this.stream.expect('block_end');
    return this.statements(endTags);
  }

  private closedBody(endTag: string): Statement[] {
    const body = this.body(endTag);
    this.stream.next();
    return body;
  }

  private for(): Statement {
    const { stream, expressions } = this;
    const { line } = stream.next();
    const target = expressions.target({ endName: 'in' });
    stream.expectName('in');
    const iter = expressions.tuple({ withConditional: false, endName: 'recursive' });
    const test = stream.skipName('if') ? expressions.expression() : null;
    const recursive = stream.skipName('recursive');
    const body = this.body('endfor', 'else');
    const otherwise = stream.next().value === 'endfor' ? [] : this.closedBody('endfor');
    return { kind: 'for', target, iter, body, otherwise, test, recursive, line };
  }

  private if(): Statement {
    const { line } = this.stream.next();
    const first = this.branch(line);
    const elifs: IfNode[] = [];
    for (;;) {
      const token = this.stream.next();
      if (token.value === 'elif') elifs.push(this.branch(this.stream.current.line));
      else return { ...first, elifs, otherwise: token.value === 'else' ? this.closedBody('endif') : [] };
    }
  }

  private branch(line: number): IfNode {
    const test = this.expressions.tuple({ withConditional: false });
    return { kind: 'if', test, body: this.body('elif', 'else', 'endif'), elifs: [], otherwise: [], line };
  }

  private set(): Statement {
    const { line } = this.stream.next();
    const target = this.expressions.target({ withNamespace: true });
    if (this.stream.skipOperator('=')) return { kind: 'assign', target, value: this.expressions.tuple(), line };
    const filter = this.expressions.filter(null) as FilterNode | null;
    return { kind: 'assignblock', target, filter, body: this.closedBody('endset'), line };
  }

  private with(): Statement {
    const { stream, expressions } = this;
    const { line } = stream.next();
    const targets: Expression[] = [];
    const values: Expression[] = [];
    while (stream.current.type !== 'block_end') {
      if (targets.length > 0) stream.expectOperator(',');
      const target = expressions.target();
      setContext(target, 'param');
      targets.push(target);
      stream.expectOperator('=');
      values.push(expressions.expression());
    }
    return { kind: 'with', targets, values, body: this.closedBody('endwith'), line };
  }

  /** Escaping is off for chat templates and can only be left off: the tag is a scope. */
  private autoescape(): Statement {
    const { line } = this.stream.next();
    const on = this.expressions.expression();
    if (on.kind !== 'const' || on.value !== false) this.stream.fail('autoescape cannot be switched on here', line);
    return { kind: 'with', targets: [], values: [], body: this.closedBody('endautoescape'), line };
  }

  private block(): Statement {
    const { stream } = this;
    const { line } = stream.next();
    const name = stream.expectName().value;
    const scoped = stream.skipName('scoped');
    const required = stream.skipName('required');
    if (stream.isOperator('-')) stream.fail('Block names may not contain hyphens, use an underscore instead.');
    const body = this.closedBody('endblock');
    const blank = (node: Expression): boolean => node.kind === 'data' && node.text.trim() === '';
    if (required && !body.every((part) => part.kind === 'output' && part.nodes.every(blank)))
      stream.fail('Required blocks can only contain comments or whitespace');
    stream.skipName(name);
    return { kind: 'block', name, body, scoped, required, line };
  }

  private print(): Statement {
    const { line } = this.stream.next();
    const nodes: Expression[] = [];
    while (this.stream.current.type !== 'block_end') {
      if (nodes.length > 0) this.stream.expectOperator(',');
      nodes.push(this.expressions.expression());
    }
    return { kind: 'output', nodes, line };
  }

  private signature(): Signature {
    const { stream, expressions } = this;
    const args: Name[] = [];
    const defaults: Expression[] = [];
    stream.expectOperator('(');
    while (!stream.isOperator(')')) {
      if (args.length > 0) stream.expectOperator(',');
      const arg = expressions.nameTarget('param');
      if (stream.skipOperator('=')) defaults.push(expressions.expression());
      else if (defaults.length > 0) stream.fail('non-default argument follows default argument');
      args.push(arg);
    }
    stream.expectOperator(')');
    return { args, defaults };
  }

  private macro(): Statement {
    const { line } = this.stream.next();
    const { name } = this.expressions.nameTarget();
    return { kind: 'macro', name, ...this.signature(), body: this.closedBody('endmacro'), line };
  }

  private callBlock(): Statement {
    const { line } = this.stream.next();
    const signature = this.stream.isOperator('(') ? this.signature() : { args: [], defaults: [] };
    const call = this.expressions.expression();
    if (call.kind !== 'call') this.stream.fail('expected call', line);
    return { kind: 'callblock', call, ...signature, body: this.closedBody('endcall'), line };
  }

  private filterBlock(): Statement {
    const { line } = this.stream.next();
    const filter = this.expressions.filter(null, true) as FilterNode;
    return { kind: 'filterblock', filter, body: this.closedBody('endfilter'), line };
  }

  private generation(): Statement {
    const { line } = this.stream.next();
    return { kind: 'callblock', call: { kind: 'generation', line }, args: [], defaults: [], body: this.closedBody('endgeneration'), line };
  }
}
