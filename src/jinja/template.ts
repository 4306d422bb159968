import type { JsonObject, JsonValue } from '../canonical/json-value.js';
import { compileEnter } from './compile-frame.js';
import { compileBody } from './compile-statement.js';
import type { Blocks, Execute } from './flow.js';
import { chatGlobals } from './globals.js';
import { type BlockNode, children, type Node, type Statement } from './nodes.js';
import { Callable, type Kwargs, PyObject, type StrDict, type Value } from './object.js';
import { parseTemplate } from './parse-template.js';
import { asTemplateFailure, PythonError } from './python-error.js';
import { writtenMembers } from './record-scope.js';
import type { RenderedTail, RenderMemo } from './render-memo.js';
import { DEFAULT_LIMITS, Frame, type RenderLimits, Runtime } from './runtime.js';
import { rootScope, type Scope } from './scope.js';
import type { LocalTime } from './strftime.js';
import { undeclared } from './symbols.js';
import { Undefined } from './values.js';

/**
 * Chat templates as Python renders them.
 *
 * The oracle is jinja2 3.1.6 in the environment that transformers builds for `apply_chat_template`: an immutable sandbox, `trim_blocks`,
 * `lstrip_blocks`, `break` and `continue`, `{% generation %}`, a `tojson` that is plain `json.dumps`, `raise_exception` and
 * `strftime_now`. Texts are equal character for character, and a template fails where it fails there, with the same class of exception.
 *
 * The parser is our own. That of @huggingface/jinja trims white space with expressions on the raw template (also inside literals), has
 * a smaller grammar (no `with`, `raw`, `+` marks, number literals, chained comparisons, arguments of tests, call arguments with stars) and
 * keeps no lines; mending that means replacing the lexer and most of the parser, and the rules of jinja2's names need a tree of their own.
 *
 * How it works: `parse-template` gives a tree, `symbols` finds out which variable each name is (jinja2's rules are odd and are kept),
 * `compile-…` turns the tree into closures over numbered variables, once; rendering runs the closures. Values are those of
 * `canonical/json-value`, so a history is used as it was parsed.
 */
export interface Template {
  /**
   * Renders with the given variables.
   * @throws TemplateFailure
   */
  render(context: JsonObject | ReadonlyMap<string, JsonValue>, options: RenderOptions): string;
  /**
   * Renders, and gives only what follows the part of the text that is known to be the same as in the previous render with the memo.
   * @throws TemplateFailure
   */
  renderTail(context: JsonObject | ReadonlyMap<string, JsonValue>, options: RenderOptions & { readonly memo: RenderMemo }): RenderedTail;
}

export { TemplateFailure } from './python-error.js';
export { type MemoReport, type RenderedTail, RenderMemo } from './render-memo.js';

export interface RenderOptions {
  /** Clock of `strftime_now`. */
  readonly now: () => LocalTime;
  /** What earlier renders of the same conversation left: the text is that of a fresh render, iterations that need not run do not. */
  readonly memo?: RenderMemo;
}

/** @throws TemplateFailure */
export function compileTemplate(source: string, options: { readonly limits?: Partial<RenderLimits> } = {}): Template {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  try {
    const run = compileRoot(parseTemplate(source));
    const start = (context: ReadonlyMap<string, JsonValue>, { now, memo }: RenderOptions): Runtime =>
      new Runtime(chatGlobals(now), context as StrDict, now, limits, memo?.begin() ?? null);
    return {
      render: (context, options) => runTo(run, start(context, options), (rt) => rt.finish()),
      renderTail: (context, options) => runTo(run, start(context, options), (rt) => rt.finishTail()),
    };
  } catch (error) {
    throw asTemplateFailure(error, null);
  }
}

function runTo<T>(run: (rt: Runtime) => void, rt: Runtime, result: (rt: Runtime) => T): T {
  try {
    run(rt);
    return result(rt);
  } catch (error) {
    throw asTemplateFailure(error, rt.line === 0 ? null : rt.line);
  }
}

function blocksOf(nodes: readonly Node[]): BlockNode[] {
  return nodes.flatMap((node) => [...(node.kind === 'block' ? [node] : []), ...blocksOf(children(node))]);
}

function macrosOf(nodes: readonly Node[]): Node[] {
  return nodes.flatMap((node) => (node.kind === 'macro' || node.kind === 'callblock' ? [node] : macrosOf(children(node))));
}

function compileRoot(statements: readonly Statement[]): (rt: Runtime) => void {
  const blocks: Blocks = new Map();
  const blockNodes = blocksOf(statements);
  for (const node of blockNodes) {
    if (blocks.has(node.name)) throw new PythonError('TemplateAssertionError', `block '${node.name}' defined twice`, node.line);
    blocks.set(node.name, () => undefined);
  }
  const writes = { byMacros: writtenMembers(macrosOf(statements)), all: writtenMembers(statements) };
  const root = compileFunction(statements, { ...rootScope(writes), toplevel: true }, blocks, null);
  for (const node of blockNodes) {
    const run = compileFunction(node.body, rootScope(writes), blocks, node.name);
    blocks.set(node.name, (frame) => run(frame.rt));
  }
  return root;
}

/** The template itself, or one of its blocks. */
function compileFunction(statements: readonly Statement[], scope: Scope, blocks: Blocks, block: string | null): (rt: Runtime) => void {
  const special = undeclared(statements, block === null ? ['self'] : ['self', 'super']);
  const selfSlot = special.has('self') ? scope.fn.slot(scope.symbols.parameter('self')).index : -1;
  const superSlot = special.has('super') ? scope.fn.slot(scope.symbols.parameter('super')).index : -1;
  scope.symbols.visitAll(statements);
  const enter = compileEnter(scope);
  const body: Execute = compileBody(statements, scope, blocks);
  return (rt) => {
    const frame = new Frame(rt, null);
    rt.root ??= frame;
    if (selfSlot >= 0) frame.vars[selfSlot] = new TemplateReference(rt, blocks);
    if (superSlot >= 0) frame.vars[superSlot] = new Undefined(`there is no parent block called '${block}'.`, undefined, 'super');
    enter(frame);
    body(frame);
  };
}

/** The template's `self`: its blocks as functions. */
class TemplateReference extends PyObject {
  override readonly typeName = 'TemplateReference';
  constructor(
    private readonly rt: Runtime,
    private readonly blocks: Blocks,
  ) {
    super();
  }
  override repr(): string {
    return '<TemplateReference None>';
  }
  override truthy(): boolean {
    return true;
  }
  override getItem(key: Value): Value | undefined {
    const block = typeof key === 'string' ? this.blocks.get(key) : undefined;
    return block && new BlockReference(this.rt, block);
  }
}

class BlockReference extends Callable {
  override readonly typeName = 'BlockReference';
  constructor(
    private readonly rt: Runtime,
    private readonly block: (frame: Frame) => void,
  ) {
    super();
  }
  override call(_args: readonly Value[], _kwargs: Kwargs): Value {
    return this.rt.capture(() => this.block(new Frame(this.rt, null)));
  }
}
