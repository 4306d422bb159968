import { DICT_METHODS, LIST_METHODS } from './container-methods.js';
import type { Place } from './iteration-record.js';
import { children, type Expression, type Node } from './nodes.js';
import type { FunctionScope, Scope } from './scope.js';
import { STR_METHODS } from './str-methods.js';
import type { Symbols } from './symbols.js';

/** How code is compiled that runs while an iteration is recorded: the body of a loop, or of a macro that such a body calls. */
export interface RecordScope {
  /** Identifiers of lower levels come from outside. */
  readonly level: number;
  /** Names that stand for the loop's item and are never set again. */
  readonly items: ReadonlySet<string>;
  /** Members of namespaces that the code may write. */
  readonly written: ReadonlySet<string>;
  /** Where its guards are evaluated, and the function of that frame. */
  readonly at: Place;
  readonly home: FunctionScope;
}

/** What an expression depends on: `item` = the item and constants, `outside` = also things from outside, `inside` = what the iteration makes. */
type Origin = 'item' | 'outside' | 'inside';

const PURE_METHODS: ReadonlySet<string> = new Set([...STR_METHODS.keys(), ...DICT_METHODS.keys(), ...LIST_METHODS.keys()]);
const TRUTHS: ReadonlySet<Expression['kind']> = new Set(['compare', 'test', 'not', 'and', 'or']);
const SMALL: ReadonlySet<Expression['kind']> = new Set([...TRUTHS, 'name', 'attribute', 'binary', 'neg', 'pos', 'call']);
const SMALL_FILTERS: ReadonlySet<string> = new Set(['length', 'count', 'first', 'last', 'default', 'd', 'int']);

export type NameOrigin = 'item' | 'outside' | 'inside';

/** Where a name's value comes from. */
export function nameOrigin(name: string, { symbols, record }: Scope): NameOrigin {
  const ident = symbols.ref(name);
  if (levelOf(ident) < record!.level) return 'outside';
  if (record!.items.has(name) && levelOf(ident) === record!.level) return 'item';
  const owner = ownerOf(symbols, ident);
  if (name === 'loop' && levelOf(ident) === record!.level && owner.loads.get(ident)?.kind === 'parameter' && record!.at === 'loop')
    return 'outside';
  return isContextName(owner, ident, name) ? 'outside' : 'inside';
}

/** Whether the frame only reads the name, and takes it from the context. */
export function isContextName(owner: Symbols, ident: string, name: string): boolean {
  return owner.loads.get(ident)?.kind === 'resolve' && !owner.stores.has(name);
}

export const levelOf = (ident: string): number => Number.parseInt(ident, 10);

export function ownerOf(symbols: Symbols, ident: string): Symbols {
  let owner = symbols;
  while (owner.level > levelOf(ident) && owner.parent) owner = owner.parent;
  return owner;
}

function originOf(node: Expression, scope: Scope): Origin {
  switch (node.kind) {
    case 'const':
    case 'data':
      return 'item';
    case 'name':
      return nameOrigin(node.name, scope);
    case 'nsref':
    case 'generation':
      return 'inside';
    case 'attribute':
      return scope.record!.written.has(node.attr) ? 'inside' : originOf(node.node, scope);
    case 'call':
      if (node.node.kind !== 'attribute' || !PURE_METHODS.has(node.node.attr)) return 'inside';
      break;
    case 'filter':
      if (node.name === 'random') return 'inside';
  }
  let origin: Origin = 'item';
  for (const child of children(node)) {
    const part = originOf(child as Expression, scope);
    if (part === 'inside') return 'inside';
    if (part === 'outside') origin = 'outside';
  }
  return origin;
}

function usesItem(node: Node, scope: Scope): boolean {
  if (node.kind === 'name') return nameOrigin(node.name, scope) === 'item';
  return children(node).some((child) => usesItem(child, scope));
}

/** How to compile an expression while recording: as it is, with its value as a guard, or by its parts. */
export function treatment(node: Expression, scope: Scope): 'plain' | 'guard' | 'parts' {
  const origin = originOf(node, scope);
  if (origin === 'item') return 'plain';
  if (origin === 'inside') return 'parts';
  if (node.kind === 'name' || TRUTHS.has(node.kind)) return 'guard';
  const small =
    SMALL.has(node.kind) || (node.kind === 'item' && node.arg.kind !== 'slice') || (node.kind === 'filter' && SMALL_FILTERS.has(node.name));
  return small && !usesItem(node, scope) ? 'guard' : 'parts';
}

/** As {@link treatment}, where only the truth of the value counts. */
export function conditionTreatment(node: Expression, scope: Scope): 'plain' | 'guard' | 'parts' {
  const origin = originOf(node, scope);
  return origin === 'item' ? 'plain' : origin === 'outside' ? 'guard' : 'parts';
}

/** Members of namespaces that some `set` in the nodes writes. */
export function writtenMembers(nodes: readonly Node[]): Set<string> {
  const found = new Set<string>();
  const visit = (node: Node): void => {
    if (node.kind === 'nsref') found.add(node.attr);
    for (const child of children(node)) visit(child);
  };
  for (const node of nodes) visit(node);
  return found;
}

/** Names that some part of the nodes stores. */
export function storedNames(nodes: readonly Node[]): Set<string> {
  const found = new Set<string>();
  const visit = (node: Node): void => {
    if (node.kind === 'name' && node.ctx !== 'load') found.add(node.name);
    if (node.kind === 'macro') found.add(node.name);
    for (const child of children(node)) visit(child);
  };
  for (const node of nodes) visit(node);
  return found;
}

/** Whether the nodes hold something whose iterations are never remembered. */
export function hasBlock(nodes: readonly Node[]): boolean {
  return nodes.some((node) => node.kind === 'block' || hasBlock(children(node)));
}
