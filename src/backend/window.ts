/** Share that is left of a window after a replica said that it is overloaded. */
const CUT = 0.7;
/** Share that is left at least after it said how many calls wait in it: a burst of new prompts waits for a moment in every engine. */
const QUEUED_CUT = 0.5;

/** Share of a window that may wait in the replica, so that a place that gets free there is taken at once. */
const QUEUED_SHARE = 0.1;
/** Share by which a careful window grows per round, one call at least: large windows would need minutes to come back by ones. */
const CAREFUL_GROWTH = 0.1;

/**
 * How many calls a replica gets at a time. It doubles per round while nothing was refused and grows by a tenth per round after
 * the first refusal; a refusal cuts it, at most once per round, and a replica that says how many calls wait in it gets what it can take.
 */
export class Window {
  #size: number;
  #round = 0;
  #careful = false;

  constructor(private readonly bounds: { readonly initial: number; readonly min: number; readonly max: number }) {
    this.#size = Math.min(Math.max(bounds.initial, bounds.min), bounds.max);
  }

  get size(): number {
    return Math.floor(this.#size);
  }

  /** Marks a call when it is sent; given back to {@link refused}. */
  get round(): number {
    return this.#round;
  }

  /** A call was served; `full` = the window had no room left, so that growing it would have had an effect. */
  served(full: boolean): void {
    if (!full) return;
    this.#size = Math.min(this.bounds.max, this.#size + (this.#careful ? Math.max(1 / this.#size, CAREFUL_GROWTH) : 1));
  }

  /** The replica said how many of the `inWork` calls that it was sent wait in it. More than a tenth of the window are too many. */
  queued(waiting: number, inWork: number): void {
    if (waiting <= this.#size * QUEUED_SHARE) return;
    this.#round++;
    this.#careful = true;
    const fitting = inWork - waiting + (this.#size * QUEUED_SHARE) / 2;
    this.#size = Math.max(this.bounds.min, this.#size * QUEUED_CUT, Math.min(this.#size, fitting));
  }

  /** A call sent in `round` was refused. Refusals of calls that were sent before the last cut say nothing new. */
  refused(round: number): void {
    if (round !== this.#round) return;
    this.#round++;
    this.#careful = true;
    this.#size = Math.max(this.bounds.min, this.#size * CUT);
  }
}
