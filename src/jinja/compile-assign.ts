import { compileExpression } from './compile-expression.js';
import { compileVariable } from './compile-variable.js';
import { type Execute, NORMAL, type Store } from './flow.js';
import { Namespace } from './namespace.js';
import type { Expression, Node, Statement } from './nodes.js';
import { children } from './nodes.js';
import { raise } from './python-error.js';
import type { Scope } from './scope.js';
import { unpack } from './unpack.js';

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

export function compileAssign(node: Statement & { kind: 'assign' }, scope: Scope): Execute {
  const checks = [...new Set(namespaceNames(node.target))].map((name) => compileVariable(name, scope));
  const value = compileExpression(node.value, scope);
  const store = compileStore(node.target, scope);
  return (frame) => {
    for (const check of checks) if (!(check(frame) instanceof Namespace)) refuseNamespace();
    store(frame, value(frame));
    return NORMAL;
  };
}
