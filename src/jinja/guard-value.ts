import { JsonFloat } from '../canonical/json-value.js';
import { Range } from './iterate.js';
import type { LoopContext } from './loop-context.js';
import { Macro, type MacroCode } from './macro.js';
import { Namespace } from './namespace.js';
import { type List, NativeFunction, type StrDict, type Value } from './object.js';
import type { Frame } from './runtime.js';
import { Markup, Tuple, Undefined } from './values.js';

/** Nodes of two values that are compared or searched at most; beyond that they count as different. */
const BUDGET = 2000;
const LONGEST_LIST = 100;

/** What a guard expects of a value, without holding on to the render that it was seen in. */
export type Expectation =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'undefined' }
  | { readonly kind: 'namespace'; readonly index: number }
  | { readonly kind: 'macro'; readonly code: MacroCode }
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'loop' };

/** Where an iteration runs: what identity means there. */
export interface Surroundings {
  readonly root: Frame;
  readonly loop: LoopContext | null;
  /** Namespaces from outside, by the order in which the iteration met them. */
  readonly namespaces: Namespace[];
}

/** What to expect instead of `value`; `null` where that cannot be said. */
export function expectationOf(value: Value | undefined, { root, loop, namespaces }: Surroundings): Expectation | null {
  if (value === undefined) return { kind: 'nothing' };
  if (value instanceof Undefined) return { kind: 'undefined' };
  if (value instanceof Namespace) {
    let index = namespaces.indexOf(value);
    if (index < 0) index = namespaces.push(value) - 1;
    return { kind: 'namespace', index };
  }
  if (value instanceof Macro) return value.home === root ? { kind: 'macro', code: value.code } : null;
  if (value instanceof NativeFunction) return root.rt.globals.get(value.name) === value ? { kind: 'function', name: value.name } : null;
  if (loop !== null && value === loop) return { kind: 'loop' };
  return isPlain(value) ? { kind: 'value', value } : null;
}

/** Whether a value meets an expectation; binds namespaces to their place. */
export function meets(value: Value | undefined, expected: Expectation, { root, loop, namespaces }: Surroundings): boolean {
  switch (expected.kind) {
    case 'value':
      return value !== undefined && sameValue(value, expected.value);
    case 'nothing':
      return value === undefined;
    case 'undefined':
      return value instanceof Undefined;
    case 'namespace': {
      if (!(value instanceof Namespace)) return false;
      const known = namespaces.indexOf(value);
      if (known >= 0) return known === expected.index;
      if (namespaces.length !== expected.index) return false;
      namespaces.push(value);
      return true;
    }
    case 'macro':
      return value instanceof Macro && value.code === expected.code && value.home === root;
    case 'function':
      return value !== undefined && value !== null && value === root.rt.globals.get(expected.name);
    case 'loop':
      return loop !== null && value === loop;
  }
}

/** Objects that were found to be plain; they never change. */
const knownPlain = new WeakSet<object>();

/** Whether nothing in the value has a state or belongs to a render. Long lists do not count: they grow with the history. */
export function isPlain(value: Value): boolean {
  const budget = { left: BUDGET };
  const visit = (part: Value): boolean => {
    if (part === null || typeof part !== 'object' || knownPlain.has(part)) return true;
    if (budget.left-- <= 0 || !visitParts(part, visit)) return false;
    knownPlain.add(part);
    return true;
  };
  return visit(value);
}

function visitParts(value: Value & object, visit: (part: Value) => boolean): boolean {
  if (Array.isArray(value)) return value.length <= LONGEST_LIST && (value as List).every(visit);
  if (value instanceof Map) {
    for (const member of (value as StrDict).values()) if (!visit(member)) return false;
    return true;
  }
  if (value instanceof Tuple) return value.items.every(visit);
  return value instanceof JsonFloat || value instanceof Markup || value instanceof Undefined || value instanceof Range;
}

/** Equality of plain values with their types: what no template can tell apart. */
export function sameValue(a: Value, b: Value): boolean {
  const budget = { left: BUDGET };
  const same = (x: Value, y: Value): boolean => {
    if (x === y) return true;
    if (budget.left-- <= 0 || x === null || y === null || typeof x !== 'object' || typeof y !== 'object') return Object.is(x, y);
    if (x instanceof JsonFloat) return y instanceof JsonFloat && Object.is(x.value, y.value);
    if (Array.isArray(x))
      return Array.isArray(y) && x.length === y.length && x.every((item: Value, index) => same(item, y[index] as Value));
    if (x instanceof Map) return y instanceof Map && sameDicts(x as StrDict, y as StrDict, same);
    if (x instanceof Tuple) return y instanceof Tuple && x.constructor === y.constructor && same(x.items, y.items);
    if (x instanceof Markup) return y instanceof Markup && x.text === y.text;
    if (x instanceof Undefined) return y instanceof Undefined;
    return x instanceof Range && y instanceof Range && x.start === y.start && x.stop === y.stop && x.step === y.step;
  };
  return same(a, b);
}

/** The order of members counts, because it is printed. */
function sameDicts(a: StrDict, b: StrDict, same: (x: Value, y: Value) => boolean): boolean {
  if (a.size !== b.size) return false;
  const others = b.entries();
  for (const [key, value] of a) {
    const [otherKey, other] = others.next().value as [string, Value];
    if (key !== otherKey || !same(value, other)) return false;
  }
  return true;
}
