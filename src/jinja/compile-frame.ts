import { compileKept, compileRead } from './compile-variable.js';
import type { Value } from './object.js';
import { isContextName, levelOf } from './record-scope.js';
import type { Frame } from './runtime.js';
import { guardScope, type Scope } from './scope.js';
import type { Load } from './symbols.js';

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
