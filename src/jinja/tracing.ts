import type { Value } from './object.js';

/** A namespace as a tracer sees it. */
export interface TracedNamespace {
  readonly birth: number;
  readonly members: ReadonlyMap<string, Value>;
}
/** A loop as a tracer sees it. */
export interface TracedLoop {
  readonly birth: number;
}

/** Hears of everything that an iteration shares with the rest of its render. */
export interface Tracer {
  /** Objects made at or after this count belong to the iteration itself. */
  readonly epoch: number;
  readNamespace(namespace: TracedNamespace, name: string, value: Value | undefined): void;
  writeNamespace(namespace: TracedNamespace, name: string, value: Value): void;
  readLoop(loop: TracedLoop, name: string, value: Value | undefined): void;
  /** Whether a macro that was defined in the given frame shall run in the form that can be recorded. */
  recordsMacro(home: object): boolean;
  /** Something happened that neither a guard nor an effect can say. */
  refuse(): void;
}

/**
 * Who listens at the moment. Rendering never waits, so one listener a thread is enough, and values need no way back to their render.
 * `clock` counts iterations and checks, to tell what was made within one.
 */
export const tracing: { tracer: Tracer | null; clock: number } = { tracer: null, clock: 0 };

/** Tells the tracer that an object with a state of its own (an iterator, a cycler) was used; -1 as birth for a state of the world. */
export function touched(birth: number): void {
  const { tracer } = tracing;
  if (tracer !== null && birth < tracer.epoch) tracer.refuse();
}
