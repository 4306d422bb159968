import { compileStore } from './compile-assign.js';
import { compileFilter } from './compile-call.js';
import { compileExpression, type Evaluate } from './compile-expression.js';
import { compileEnter, compileLeave } from './compile-frame.js';
import { compileBody } from './compile-statement.js';
import { compileRead } from './compile-variable.js';
import { type Blocks, type Execute, type Flow, NORMAL } from './flow.js';
import type { Expression, Statement } from './nodes.js';
import type { Value } from './object.js';
import { raise } from './python-error.js';
import type { Frame } from './runtime.js';
import { innerScope, type Scope } from './scope.js';

/** Runs `body` with its output caught; `null` where it left by `break` or `continue`, which loses the text. */
function caught(body: Execute, frame: Frame): { readonly text: string; readonly flow: Flow } {
  let flow: Flow = NORMAL;
  const text = frame.rt.capture(() => {
    flow = body(frame);
  });
  return { text, flow };
}

export function compileAssignBlock(node: Statement & { kind: 'assignblock' }, scope: Scope, blocks: Blocks): Execute {
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

export function compileFilterBlock(node: Statement & { kind: 'filterblock' }, scope: Scope, blocks: Blocks): Execute {
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
    frame.rt.printOnlyText(filter(frame));
    leave(frame);
    return NORMAL;
  };
}

export function compileWith(node: Statement & { kind: 'with' }, scope: Scope, blocks: Blocks): Execute {
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

export function compileBlockUse(node: Statement & { kind: 'block' }, scope: Scope, blocks: Blocks): Execute {
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
