import type { Flow } from './flow.js';
import { type Expectation, expectationOf, isPlain, meets, type Surroundings } from './guard-value.js';
import type { LoopContext } from './loop-context.js';
import type { Namespace } from './namespace.js';
import type { Value } from './object.js';
import type { Frame } from './runtime.js';
import { type TracedLoop, type TracedNamespace, type Tracer, tracing } from './tracing.js';

/** Something that an iteration read from outside, and what it found. */
export type Guard =
  | {
      readonly kind: 'expression';
      readonly evaluate: (frame: Frame) => Value | undefined;
      readonly at: Place;
      readonly expected: Expectation;
    }
  | { readonly kind: 'condition'; readonly evaluate: (frame: Frame) => boolean; readonly at: Place; readonly expected: boolean }
  | { readonly kind: 'member'; readonly namespace: number; readonly name: string; readonly expected: Expectation }
  | { readonly kind: 'loop'; readonly name: string; readonly expected: Expectation };

/** Whether a guard is evaluated in the frame of the loop or in that of the template. */
export type Place = 'loop' | 'root';

/** What an iteration wrote into a namespace from outside. */
interface Write {
  readonly namespace: number;
  readonly name: string;
  readonly value: Value;
}

/** An iteration that need not be run again as long as its guards hold. */
export interface IterationRecord {
  readonly guards: readonly Guard[];
  readonly writes: readonly Write[];
  /** What it printed; `null` where a memo forgot it. */
  text: string | null;
  /** UTF-16 units of that. */
  readonly length: number;
  readonly flow: Flow;
}

/** Listens while an iteration runs. */
export class Recorder implements Tracer, Surroundings {
  readonly epoch = ++tracing.clock;
  readonly namespaces: Namespace[] = [];
  private readonly guards: Guard[] = [];
  private readonly seen = new Set<unknown>();
  private readonly written = new Map<TracedNamespace, Map<string, Value>>();
  private refused = false;
  private quiet = false;

  constructor(
    private readonly frame: Frame,
    readonly root: Frame,
    readonly loop: LoopContext | null,
  ) {}

  refuse(): void {
    this.refused = true;
  }

  /** Evaluates an expression over things from outside and remembers its value as a guard. */
  value(evaluate: (frame: Frame) => Value | undefined, at: Place): Value | undefined {
    if (this.quiet) return evaluate(this.frameAt(at));
    const value = this.quietly(() => evaluate(this.frameAt(at)));
    if (this.isNew(evaluate)) this.add(expectationOf(value, this), (expected) => ({ kind: 'expression', evaluate, at, expected }));
    return value;
  }

  condition(evaluate: (frame: Frame) => boolean, at: Place): boolean {
    if (this.quiet) return evaluate(this.frameAt(at));
    const expected = this.quietly(() => evaluate(this.frameAt(at)));
    if (this.isNew(evaluate)) this.guards.push({ kind: 'condition', evaluate, at, expected });
    return expected;
  }

  private frameAt(at: Place): Frame {
    return at === 'loop' ? this.frame : this.root;
  }

  private isNew(key: unknown): boolean {
    if (this.seen.has(key)) return false;
    this.seen.add(key);
    return true;
  }

  private add(expected: Expectation | null, guard: (expected: Expectation) => Guard): void {
    if (expected === null) this.refused = true;
    else this.guards.push(guard(expected));
  }

  private quietly<T>(run: () => T): T {
    this.quiet = true;
    try {
      return run();
    } finally {
      this.quiet = false;
    }
  }

  readNamespace(namespace: TracedNamespace, name: string, value: Value | undefined): void {
    if (namespace.birth >= this.epoch) return;
    const own = this.written.get(namespace)?.has(name) ?? false;
    if (own || this.quiet) {
      // A guard cannot be checked beforehand if it saw what the iteration itself wrote.
      if (own && this.quiet) this.refused = true;
      return;
    }
    const index = this.namespaces.indexOf(namespace as Namespace);
    if (index < 0) this.refused = true;
    else if (this.isNew(`${index}.${name}`))
      this.add(expectationOf(value, this), (expected) => ({ kind: 'member', namespace: index, name, expected }));
  }

  writeNamespace(namespace: TracedNamespace, name: string, value: Value): void {
    if (namespace.birth >= this.epoch) return;
    if (this.quiet || !this.namespaces.includes(namespace as Namespace) || !isPlain(value)) this.refused = true;
    const written = this.written.get(namespace) ?? new Map<string, Value>();
    this.written.set(namespace, written.set(name, value));
  }

  readLoop(loop: TracedLoop, name: string, value: Value | undefined): void {
    if (loop.birth >= this.epoch || this.quiet) return;
    if (loop !== this.loop) this.refused = true;
    else if (this.isNew(`loop.${name}`)) this.add(expectationOf(value, this), (expected) => ({ kind: 'loop', name, expected }));
  }

  recordsMacro(home: object): boolean {
    if (this.quiet) return false;
    if (home !== this.root) this.refused = true;
    return home === this.root;
  }

  /** The finished iteration; `null` if it cannot be remembered. */
  finish(text: string, flow: Flow): IterationRecord | null {
    if (this.refused) return null;
    const writes = [...this.written].flatMap(([namespace, members]) =>
      [...members].map(([name, value]) => ({ namespace: this.namespaces.indexOf(namespace as Namespace), name, value })),
    );
    return { guards: this.guards, writes, text, length: text.length, flow };
  }
}

/** Thrown out of the check of a guard that would change something. */
const UNCHECKABLE = new Error('a guard would have an effect');

class Checker implements Tracer {
  readonly epoch = ++tracing.clock;
  readNamespace(): void {}
  readLoop(): void {}
  writeNamespace(namespace: TracedNamespace): void {
    if (namespace.birth < this.epoch) throw UNCHECKABLE;
  }
  recordsMacro(): boolean {
    return false;
  }
  refuse(): never {
    throw UNCHECKABLE;
  }
}

/** Whether everything that the iteration read is as it was. Gives the namespaces that its effects go to, or `null`. */
export function holds(record: IterationRecord, frame: Frame, root: Frame, loop: LoopContext | null): Namespace[] | null {
  const around: Surroundings = { root, loop, namespaces: [] };
  const outer = tracing.tracer;
  tracing.tracer = new Checker();
  try {
    return record.guards.every((guard) => guardHolds(guard, frame, around)) ? around.namespaces : null;
  } catch {
    // What fails while it is checked is run, and fails there.
    return null;
  } finally {
    tracing.tracer = outer;
  }
}

function guardHolds(guard: Guard, frame: Frame, around: Surroundings): boolean {
  switch (guard.kind) {
    case 'expression':
      return meets(guard.evaluate(guard.at === 'loop' ? frame : around.root), guard.expected, around);
    case 'condition':
      return guard.evaluate(guard.at === 'loop' ? frame : around.root) === guard.expected;
    case 'member':
      return meets(around.namespaces[guard.namespace]!.members.get(guard.name), guard.expected, around);
    case 'loop':
      return around.loop !== null && meets(around.loop.read(guard.name), guard.expected, around);
  }
}

export function applyWrites(record: IterationRecord, namespaces: readonly Namespace[]): void {
  for (const { namespace, name, value } of record.writes) namespaces[namespace]!.members.set(name, value);
}
