import { children, type Expression, type ForNode, type Node, type Statement } from './nodes.js';

/** How a variable gets its first value when its frame is entered. */
export type Load =
  | { readonly kind: 'parameter' }
  /** From the context, by name. */
  | { readonly kind: 'resolve'; readonly name: string }
  /** From the variable of an outer frame. */
  | { readonly kind: 'alias'; readonly ident: string }
  | { readonly kind: 'undefined' };

/**
 * Which names a frame (the template, a loop body, a macro, …) reads and stores, and under which identifier (`level:name`) each is
 * kept. The rules, with their oddities, are those of jinja2's identifier tracking: a name that a branch may store is taken from the
 * outer frame or the context first, and a name stored after an inner frame read it is undefined there.
 */
export class Symbols {
  readonly level: number;
  readonly refs = new Map<string, string>();
  readonly loads = new Map<string, Load>();
  readonly stores = new Set<string>();

  constructor(
    readonly parent: Symbols | null,
    level?: number,
  ) {
    this.level = level ?? (parent ? parent.level + 1 : 0);
  }

  copy(): Symbols {
    const copy = new Symbols(this.parent, this.level);
    copy.take(this);
    return copy;
  }

  private take(other: Symbols): void {
    for (const [name, ident] of other.refs) this.refs.set(name, ident);
    for (const [ident, load] of other.loads) this.loads.set(ident, load);
    for (const name of other.stores) this.stores.add(name);
  }

  private define(name: string, load: Load): string {
    const ident = `${this.level}:${name}`;
    this.refs.set(name, ident);
    this.loads.set(ident, load);
    return ident;
  }

  findRef(name: string): string | undefined {
    return this.refs.get(name) ?? this.parent?.findRef(name);
  }

  ref(name: string): string {
    const ident = this.findRef(name);
    if (ident === undefined) throw new Error(`no frame knows the name ${name}`);
    return ident;
  }

  store(name: string): void {
    this.stores.add(name);
    if (this.refs.has(name)) return;
    const outer = this.parent?.findRef(name);
    this.define(name, outer === undefined ? { kind: 'undefined' } : { kind: 'alias', ident: outer });
  }

  parameter(name: string): string {
    this.stores.add(name);
    return this.define(name, { kind: 'parameter' });
  }

  load(name: string): void {
    if (this.findRef(name) === undefined) this.define(name, { kind: 'resolve', name });
  }

  /** Takes over what the branches of an `if` did. */
  private join(branches: readonly Symbols[]): void {
    const stored = new Set(branches.flatMap((branch) => [...branch.stores]));
    for (const name of this.stores) stored.delete(name);
    for (const branch of branches) this.take(branch);
    for (const name of stored) {
      const outer = this.parent?.findRef(name);
      this.loads.set(this.ref(name), outer === undefined ? { kind: 'resolve', name } : { kind: 'alias', ident: outer });
    }
  }

  /** Visits nodes that belong to this frame. Bodies of inner frames are left out. */
  visit(node: Node): void {
    switch (node.kind) {
      case 'name':
        if (node.ctx === 'param') this.parameter(node.name);
        else if (node.ctx === 'store') this.store(node.name);
        else this.load(node.name);
        return;
      case 'nsref':
        this.load(node.name);
        return;
      case 'if': {
        this.visit(node.test);
        const visited = (body: readonly Node[]): Symbols => {
          const branch = this.copy();
          for (const part of body) branch.visit(part);
          return branch;
        };
        this.join([visited(node.body), visited(node.elifs), visited(node.otherwise)]);
        return;
      }
      case 'macro':
        this.store(node.name);
        return;
      case 'loader':
        this.visit(node.template);
        for (const name of node.names) this.store(name);
        return;
      case 'assign':
        this.visit(node.value);
        this.visit(node.target);
        return;
      case 'for':
        this.visit(node.iter);
        return;
      case 'callblock':
        this.visit(node.call);
        return;
      case 'filterblock':
        this.visit(node.filter);
        return;
      case 'with':
        for (const value of node.values) this.visit(value);
        return;
      case 'assignblock':
        this.visit(node.target);
        return;
      case 'block':
        return;
      default:
        for (const child of children(node)) this.visit(child);
    }
  }

  visitAll(nodes: readonly Node[]): void {
    for (const node of nodes) this.visit(node);
  }

  /** Declares the names of a loop target. */
  parameters(target: Expression): void {
    if (target.kind === 'name') this.parameter(target.name);
    else for (const child of children(target)) this.parameters(child as Expression);
  }

  visitLoop(node: ForNode, part: 'body' | 'else' | 'test'): void {
    if (part !== 'else') this.parameters(node.target);
    if (part === 'test') {
      if (node.test) this.visit(node.test);
    } else this.visitAll(part === 'body' ? node.body : node.otherwise);
  }
}

/** Which of the names are read without having been stored before, at any depth but inside blocks. */
export function undeclared(nodes: readonly (Statement | Expression)[], names: readonly string[]): ReadonlySet<string> {
  const wanted = new Set(names);
  const found = new Set<string>();
  const visit = (node: Node): void => {
    if (node.kind === 'block') return;
    if (node.kind === 'name') {
      if (node.ctx === 'load' && wanted.has(node.name)) found.add(node.name);
      else wanted.delete(node.name);
      return;
    }
    for (const child of children(node)) visit(child);
  };
  for (const node of nodes) visit(node);
  return found;
}

export function assignsLoop(node: ForNode): boolean {
  const visit = (part: Node): boolean => (part.kind === 'name' ? part.ctx === 'store' && part.name === 'loop' : children(part).some(visit));
  return children(node).some(visit);
}

export function hasScopedBlock(node: Node): boolean {
  return children(node).some((child) => (child.kind === 'block' && child.scoped) || hasScopedBlock(child));
}
