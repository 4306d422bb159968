import type { Clock } from './pool-settings.js';

/** A clock that stands still while it is held: what a pause takes is counted against nobody. */
export class Patience {
  #heldMs = 0;
  #sinceMs: number | null = null;

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  get isHeld(): boolean {
    return this.#sinceMs !== null;
  }

  now(): number {
    return (this.#sinceMs ?? this.clock.now()) - this.#heldMs;
  }

  hold(held: boolean): void {
    if (held === this.isHeld) return;
    if (this.#sinceMs !== null) this.#heldMs += this.clock.now() - this.#sinceMs;
    this.#sinceMs = held ? this.clock.now() : null;
  }
}
