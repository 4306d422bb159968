import {
  compileCall,
  compileCondition,
  compileExpression,
  compileFilter,
  compileKept,
  compileRead,
  compileVariable,
  type Evaluate,
} from './compile-expression.js';
import { compileFor } from './compile-for.js';
import { compileMacro } from './compile-macro.js';
import { constantValue } from './constant-fold.js';
import { unpack } from './globals.js';
import { Macro } from './macro.js';
import { Namespace } from './namespace.js';
import type { Expression, IfNode, Node, Statement } from './nodes.js';
import { children } from './nodes.js';
import type { Value } from './object.js';
import { PythonError, raise, typeError } from './python-error.js';
import { isContextName, levelOf } from './record-scope.js';
import { str } from './repr.js';
import type { Frame } from './runtime.js';
import { guardScope, innerScope, type Scope, softScope } from './scope.js';
import type { Load } from './symbols.js';

/** How a statement ended. */
export const NORMAL = 0;
export const BREAK = 1;
export const CONTINUE = 2;
export type Flow = typeof NORMAL | typeof BREAK | typeof CONTINUE;
export type Execute = (frame: Frame) => Flow;
export type Store = (frame: Frame, value: Value) => void;
/** Blocks by name; filled while the template is compiled. */
export type Blocks = Map<string, (frame: Frame) => void>;

export function compileBody(statements: readonly Statement[], scope: Scope, blocks: Blocks): Execute {
  const steps = statements.map((statement) => compileStatement(statement, scope, blocks));
  if (steps.length === 1) return steps[0]!;
  return (frame) => {
    for (const step of steps) {
      const flow = step(frame);
      if (flow !== NORMAL) return flow;
    }
    return NORMAL;
  };
}

/** Gives a frame's variables their first values. */
export function compileEnter(scope: Scope): (frame: Frame) => void {
  const steps: { readonly index: number; readonly read: (frame: Frame) => Value | undefined }[] = [];
  for (const [ident, load] of scope.symbols.loads) {
    if (load.kind === 'parameter') continue;
    const { index } = scope.fn.slot(ident);
    steps.push({ index, read: compileLoad(load, ident, scope) });
  }
  return (frame) => {
    for (const { index, read } of steps) frame.vars[index] = read(frame);
  };
}

function compileLoad(load: Load, ident: string, scope: Scope): (frame: Frame) => Value | undefined {
  const { record, symbols } = scope;
  if (load.kind === 'resolve') {
    const { name } = load;
    const resolve = (frame: Frame): Value | undefined => frame.rt.resolve(name);
    // Where the name is only read, reading it is what is remembered.
    return record === null || isContextName(symbols, ident, name) ? resolve : compileKept(resolve, record.at);
  }
  if (load.kind !== 'alias') return () => undefined;
  if (record === null || levelOf(load.ident) >= record.level) return compileRead(load.ident, scope);
  return compileKept(compileRead(load.ident, guardScope(scope)), record.at);
}

/** Takes a frame's variables away again. */
export function compileLeave(scope: Scope): (frame: Frame) => void {
  const slots = [...scope.symbols.loads.keys()].map((ident) => scope.fn.slot(ident).index);
  return (frame) => {
    for (const slot of slots) frame.vars[slot] = undefined;
  };
}

function compileStatement(node: Statement, scope: Scope, blocks: Blocks): Execute {
  const run = compileKind(node, scope, blocks);
  const { line } = node;
  if (node.kind === 'output' || node.kind === 'if') return run;
  return (frame) => {
    frame.rt.line = line;
    return run(frame);
  };
}

function compileKind(node: Statement, scope: Scope, blocks: Blocks): Execute {
  switch (node.kind) {
    case 'output':
      return compileOutput(node.nodes, scope);
    case 'if':
      return compileIf(node, softScope(scope), blocks);
    case 'for':
      return compileFor(node, scope, blocks);
    case 'assign':
      return compileAssign(node, scope);
    case 'assignblock':
      return compileAssignBlock(node, scope, blocks);
    case 'with':
      return compileWith(node, scope, blocks);
    case 'filterblock':
      return compileFilterBlock(node, scope, blocks);
    case 'macro': {
      const code = compileMacro(node, node.name, scope, blocks);
      const store = compileStore({ kind: 'name', name: node.name, ctx: 'store', line: node.line }, scope);
      return (frame) => {
        store(frame, new Macro(code, frame));
        return NORMAL;
      };
    }
    case 'callblock': {
      const code = compileMacro(node, null, scope, blocks);
      const caller: Evaluate = (frame) => new Macro(code, frame);
      const call: Evaluate =
        node.call.kind === 'call' ? compileCall(node.call, scope, caller) : (frame) => (caller(frame) as Macro).call([], null);
      return (frame) => {
        const text = str(call(frame));
        frame.rt.out += text;
        return NORMAL;
      };
    }
    case 'block':
      return compileBlockUse(node, scope, blocks);
    case 'break':
    case 'continue': {
      if (!scope.breakable) throw new PythonError('SyntaxError', `'${node.kind}' outside loop`, node.line);
      const flow = node.kind === 'break' ? BREAK : CONTINUE;
      return () => flow;
    }
    case 'loader': {
      if (node.tag === 'extends' && !scope.toplevel)
        throw new PythonError('TemplateAssertionError', 'cannot use extend from a non top-level scope', node.line);
      const template = compileExpression(node.template, scope);
      return (frame) => {
        template(frame);
        typeError('no loader for this environment specified');
      };
    }
  }
}

function compileOutput(nodes: readonly Expression[], scope: Scope): Execute {
  const parts: (string | { readonly evaluate: Evaluate; readonly line: number })[] = [];
  for (const node of nodes) {
    const text = constantText(node);
    const last = parts.length - 1;
    if (text === undefined) parts.push({ evaluate: compileExpression(node, scope), line: node.line });
    else if (typeof parts[last] === 'string') parts[last] += text;
    else parts.push(text);
  }
  if (parts.length === 1 && typeof parts[0] === 'string') {
    const text = parts[0];
    return (frame) => {
      frame.rt.out += text;
      return NORMAL;
    };
  }
  return (frame) => {
    const { rt } = frame;
    for (const part of parts) {
      if (typeof part === 'string') rt.out += part;
      else {
        rt.line = part.line;
        const value = part.evaluate(frame);
        rt.out += typeof value === 'string' ? value : str(value);
      }
    }
    return NORMAL;
  };
}

/** The text of an expression that is known while compiling. */
function constantText(node: Expression): string | undefined {
  if (node.kind === 'data') return node.text;
  const value = constantValue(node);
  try {
    return value === undefined ? undefined : str(value);
  } catch (error) {
    if (error instanceof PythonError) return undefined;
    throw error;
  }
}

function compileIf(node: IfNode, scope: Scope, blocks: Blocks): Execute {
  const branches = [node, ...node.elifs].map((branch) => ({
    test: compileCondition(branch.test, scope),
    body: compileBody(branch.body, scope, blocks),
    line: branch.line,
  }));
  const otherwise = node.otherwise.length > 0 ? compileBody(node.otherwise, scope, blocks) : null;
  return (frame) => {
    for (const branch of branches) {
      frame.rt.line = branch.line;
      if (branch.test(frame)) return branch.body(frame);
    }
    return otherwise ? otherwise(frame) : NORMAL;
  };
}

/** Stores a value in a target. At the template's own level macros and blocks see it too. */
export function compileStore(target: Expression, scope: Scope): Store {
  if (target.kind === 'name') {
    const { index } = scope.fn.slot(scope.symbols.ref(target.name));
    if (!scope.toplevel)
      return (frame, value) => {
        frame.vars[index] = value;
      };
    const { name } = target;
    return (frame, value) => {
      frame.vars[index] = value;
      frame.rt.vars.set(name, value);
    };
  }
  if (target.kind === 'nsref') {
    const read = compileVariable(target.name, scope);
    const { attr } = target;
    return (frame, value) => {
      const namespace = read(frame);
      if (!(namespace instanceof Namespace)) refuseNamespace();
      namespace.set(attr, value);
    };
  }
  const stores = children(target).map((part) => compileStore(part as Expression, scope));
  return (frame, value) => {
    const values = unpack(value, stores.length);
    for (let index = 0; index < stores.length; index++) stores[index]!(frame, values[index]!);
  };
}

function refuseNamespace(): never {
  raise('TemplateRuntimeError', 'cannot assign attribute on non-namespace object');
}

function namespaceNames(node: Node): string[] {
  return node.kind === 'nsref' ? [node.name] : children(node).flatMap(namespaceNames);
}

function compileAssign(node: Statement & { kind: 'assign' }, scope: Scope): Execute {
  const checks = [...new Set(namespaceNames(node.target))].map((name) => compileVariable(name, scope));
  const value = compileExpression(node.value, scope);
  const store = compileStore(node.target, scope);
  return (frame) => {
    for (const check of checks) if (!(check(frame) instanceof Namespace)) refuseNamespace();
    store(frame, value(frame));
    return NORMAL;
  };
}

/** Runs `body` with its output caught; `null` where it left by `break` or `continue`, which loses the text. */
function caught(body: Execute, frame: Frame): { readonly text: string; readonly flow: Flow } {
  let flow: Flow = NORMAL;
  const text = frame.rt.capture(() => {
    flow = body(frame);
  });
  return { text, flow };
}

function compileAssignBlock(node: Statement & { kind: 'assignblock' }, scope: Scope, blocks: Blocks): Execute {
  const inner = innerScope(scope, 'same function');
  inner.symbols.visitAll(node.body);
  const [enter, leave, body] = [compileEnter(inner), compileLeave(inner), compileBody(node.body, inner, blocks)];
  let text = '';
  const filter = node.filter && compileFilterChain(node.filter, inner, () => text);
  const store = compileStore(node.target, scope);
  return (frame) => {
    enter(frame);
    const result = caught(body, frame);
    if (result.flow !== NORMAL) return result.flow;
    text = result.text;
    store(frame, filter ? filter(frame) : result.text);
    leave(frame);
    return NORMAL;
  };
}

/** A chain of filters whose innermost value is the text of a block. */
function compileFilterChain(node: Expression & { kind: 'filter' }, scope: Scope, text: () => string): Evaluate {
  const inner = node.node;
  return compileFilter(node, scope, inner === null ? text : compileFilterChain(inner as Expression & { kind: 'filter' }, scope, text));
}

function compileFilterBlock(node: Statement & { kind: 'filterblock' }, scope: Scope, blocks: Blocks): Execute {
  const inner = innerScope(scope, 'same function');
  inner.symbols.visitAll(node.body);
  inner.symbols.visit(node.filter);
  const [enter, leave, body] = [compileEnter(inner), compileLeave(inner), compileBody(node.body, inner, blocks)];
  let text = '';
  const filter = compileFilterChain(node.filter, inner, () => text);
  return (frame) => {
    enter(frame);
    const result = caught(body, frame);
    if (result.flow !== NORMAL) return result.flow;
    text = result.text;
    frame.rt.out += str(filter(frame));
    leave(frame);
    return NORMAL;
  };
}

function compileWith(node: Statement & { kind: 'with' }, scope: Scope, blocks: Blocks): Execute {
  const inner = innerScope(scope, 'same function');
  inner.symbols.visitAll(node.targets);
  inner.symbols.visitAll(node.body);
  const stores = node.targets.map((target) => compileStore(target, inner));
  const values = node.values.map((value) => compileExpression(value, scope));
  const [enter, leave, body] = [compileEnter(inner), compileLeave(inner), compileBody(node.body, inner, blocks)];
  return (frame) => {
    enter(frame);
    for (let index = 0; index < stores.length; index++) stores[index]!(frame, values[index]!(frame));
    const flow = body(frame);
    if (flow === NORMAL) leave(frame);
    return flow;
  };
}

function compileBlockUse(node: Statement & { kind: 'block' }, scope: Scope, blocks: Blocks): Execute {
  const visible = node.scoped ? visibleStores(scope) : [];
  const { name, required } = node;
  return (frame) => {
    if (required) raise('TemplateRuntimeError', `Required block '${name}' not found`);
    const { rt } = frame;
    const outer = rt.vars;
    if (visible.length > 0) {
      rt.vars = new Map(outer);
      for (const { name: variable, read } of visible) {
        const value = read(frame);
        if (value !== undefined) rt.vars.set(variable, value);
      }
    }
    blocks.get(name)!(frame);
    rt.vars = outer;
    return NORMAL;
  };
}

function visibleStores(scope: Scope): { name: string; read: (frame: Frame) => Value | undefined }[] {
  const names = new Map<string, string>();
  for (let symbols: Scope['symbols'] | null = scope.symbols; symbols; symbols = symbols.parent)
    for (const name of symbols.stores) if (!names.has(name)) names.set(name, scope.symbols.ref(name));
  return [...names].map(([name, ident]) => ({ name, read: compileRead(ident, scope) }));
}
