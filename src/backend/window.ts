/** Share that is left of a window after a replica said that it is overloaded. */
const CUT = 0.7;

/** Share of a window that may wait in the replica, so that a place that gets free there is taken at once. */
const QUEUED_SHARE = 0.1;

/**
 * How many calls a replica gets at a time: additive increase, multiplicative decrease. It doubles per round while nothing
 * was refused, grows by one per round after the first refusal, and is cut at most once per round.
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
    this.#size = Math.min(this.bounds.max, this.#size + (this.#careful ? 1 / this.#size : 1));
  }

  /** The replica said how many calls wait in it: more than a tenth of the window is as good as a refusal. */
  queued(waiting: number): void {
    if (waiting > this.#size * QUEUED_SHARE) this.refused(this.#round);
  }

  /** A call sent in `round` was refused. Refusals of calls that were sent before the last cut say nothing new. */
  refused(round: number): void {
    if (round !== this.#round) return;
    this.#round++;
    this.#careful = true;
    this.#size = Math.max(this.bounds.min, this.#size * CUT);
  }
}
