import type { RecordScope } from './record-scope.js';
import { Symbols } from './symbols.js';

/** Where a variable lives: how many functions outwards, and its place there. */
export interface Slot {
  readonly depth: number;
  readonly index: number;
}

/** Variables of one function of the template (the template, a macro, a block, a loop filter, a recursive loop). */
export class FunctionScope {
  private readonly slots = new Map<string, number>();
  constructor(
    readonly parent: FunctionScope | null,
    /** Level of its outermost frame: identifiers of lower levels belong to the functions around it. */
    private readonly level: number,
  ) {}

  slot(ident: string): Slot {
    const level = Number.parseInt(ident, 10);
    let scope: FunctionScope = this;
    let depth = 0;
    while (level < scope.level && scope.parent) {
      scope = scope.parent;
      depth++;
    }
    let index = scope.slots.get(ident);
    if (index === undefined) {
      index = scope.slots.size;
      scope.slots.set(ident, index);
    }
    return { depth, index };
  }
}

/** What the compiler knows of the place it is at. */
export interface Scope {
  readonly symbols: Symbols;
  readonly fn: FunctionScope;
  /** The template's own level, and branches of `if` in it: assignments there are seen by macros and blocks. */
  readonly toplevel: boolean;
  /** Inside a branch, where an unknown filter is an error only when it is reached. */
  readonly soft: boolean;
  /** Whether `break` and `continue` have a loop. */
  readonly breakable: boolean;
  /** Set where code is compiled that runs while an iteration is recorded. */
  readonly record: RecordScope | null;
  /** Whether a guard is compiled: it is evaluated before its frame is entered. */
  readonly guard: boolean;
  readonly writes: NamespaceWrites;
}

/** Members of namespaces that the template sets: in macros and call blocks, and anywhere. */
export interface NamespaceWrites {
  readonly byMacros: ReadonlySet<string>;
  readonly all: ReadonlySet<string>;
}

export function rootScope(writes: NamespaceWrites): Scope {
  return {
    symbols: new Symbols(null),
    fn: new FunctionScope(null, 0),
    toplevel: false,
    soft: false,
    breakable: false,
    record: null,
    guard: false,
    writes,
  };
}

/** A frame inside `scope`, in the same function or in one of its own. */
export function innerScope(scope: Scope, kind: 'same function' | 'own function'): Scope {
  const symbols = new Symbols(scope.symbols);
  const own = kind === 'own function';
  return {
    ...scope,
    symbols,
    fn: own ? new FunctionScope(scope.fn, symbols.level) : scope.fn,
    toplevel: false,
    soft: false,
    breakable: own ? false : scope.breakable,
  };
}

export const softScope = (scope: Scope): Scope => ({ ...scope, soft: true });

/** The scope in which a guard of the recorded code at `scope` is compiled. */
export const guardScope = (scope: Scope): Scope => ({ ...scope, fn: scope.record!.home, record: null, guard: true });
