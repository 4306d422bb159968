import type { Evaluate } from './compile-expression.js';
import type { Place, Recorder } from './iteration-record.js';
import type { Value } from './object.js';
import { isContextName, nameOrigin, ownerOf } from './record-scope.js';
import type { Frame } from './runtime.js';
import { guardScope, type Scope } from './scope.js';
import { tracing } from './tracing.js';
import { undefinedName } from './values.js';

/** Reads a variable; `undefined` where it has no value. */
export function compileRead(ident: string, scope: Scope): (frame: Frame) => Value | undefined {
  const { depth, index } = scope.fn.slot(ident);
  if (depth === 0) return (frame) => frame.vars[index];
  if (depth === 1) return (frame) => frame.parent!.vars[index];
  return (frame) => {
    let at = frame;
    for (let level = 0; level < depth; level++) at = at.parent!;
    return at.vars[index];
  };
}

/** Reads a variable from where it comes: while recording, one from outside becomes a guard. */
export function compileVariable(name: string, scope: Scope): (frame: Frame) => Value | undefined {
  const ident = scope.symbols.ref(name);
  if (scope.guard && isContextName(ownerOf(scope.symbols, ident), ident, name)) return (frame) => frame.rt.resolve(name);
  if (scope.record === null || nameOrigin(name, scope) !== 'outside') return compileRead(ident, scope);
  return compileKept(compileVariable(name, guardScope(scope)), scope.record.at);
}

/** A read whose result the recorder of the iteration keeps as a guard. */
export function compileKept(read: (frame: Frame) => Value | undefined, at: Place): (frame: Frame) => Value | undefined {
  return () => (tracing.tracer as Recorder).value(read, at);
}

export function compileName(name: string, scope: Scope): Evaluate {
  if (scope.guard) {
    const read = compileVariable(name, scope);
    return (frame) => {
      const value = read(frame);
      return value === undefined ? undefinedName(name) : value;
    };
  }
  const read = compileRead(scope.symbols.ref(name), scope);
  const { depth, index } = scope.fn.slot(scope.symbols.ref(name));
  if (depth === 0)
    return (frame) => {
      const value = frame.vars[index];
      return value === undefined ? undefinedName(name) : value;
    };
  return (frame) => {
    const value = read(frame);
    return value === undefined ? undefinedName(name) : value;
  };
}
