import type { ShardLink } from './shard-link.js';

/**
 * Wakes a scrape that waits for finished sessions. It listens from the beginning, so that none is missed between a look and the next,
 * and its time is that of one timer: a clock that is compared with it may be behind, and then nothing would wake it again.
 */
export class FinishedWaker {
  #isOver: boolean;
  #isRung = false;
  #wake: () => void = () => undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: () => void;

  constructor(link: ShardLink, waitMs: number) {
    this.#isOver = waitMs <= 0;
    this.#timer = setTimeout(() => this.end(), waitMs);
    this.#stopListening = link.onFinished(() => this.#ring());
  }

  /** Time is up, or nobody waits any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves at the next reason to look again, at once where there was one since the last. */
  async next(): Promise<void> {
    if (!this.#isRung) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#isRung = false;
  }

  end(): void {
    this.#isOver = true;
    this.#ring();
  }

  /** To be called when the scrape has been answered. */
  stop(): void {
    this.#stopListening();
    clearTimeout(this.#timer);
  }

  #ring(): void {
    this.#isRung = true;
    this.#wake();
  }
}
