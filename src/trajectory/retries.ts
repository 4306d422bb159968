import type { PendingTurn } from './pending-turn.js';

/**
 * The turns that a marked retry may ask for again: those in work and the last few that are over. Bounded by `memory`;
 * a turn that falls out while nobody holds its result is given up by the caller.
 */
export class Retries {
  readonly #recent: PendingTurn[] = [];

  constructor(
    private readonly memory: number,
    private readonly giveUp: (turn: PendingTurn) => void,
  ) {}

  add(turn: PendingTurn): void {
    this.#recent.push(turn);
    for (let i = 0; this.#recent.length > this.memory && i < this.#recent.length; ) {
      const old = this.#recent[i]!;
      if (old.state === 'running' || (old.state === 'finished' && old.holders > 0)) {
        i++;
        continue;
      }
      this.#recent.splice(i, 1);
      if (old.state === 'finished') this.giveUp(old);
    }
  }

  /**
   * A turn begun by the same body: one that its client left, else the newest. Where that one was given up the retry is of it, and an older
   * turn, which another call had, is not its answer.
   */
  find(digest: string): PendingTurn | null {
    const same = this.#recent.filter((turn) => turn.digest === digest);
    const left = same.findLast((turn) => turn.holders === 0 && (turn.state === 'running' || turn.state === 'finished'));
    const newest = same.at(-1);
    return left ?? (newest?.state === 'discarded' ? null : (newest ?? null));
  }

  /** Turns that are neither committed nor discarded. */
  get open(): readonly PendingTurn[] {
    return this.#recent.filter((turn) => turn.state === 'running' || turn.state === 'finished');
  }
}
