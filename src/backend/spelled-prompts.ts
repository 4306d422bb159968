import { SpelledIds } from '../engines/spelled-ids.js';
import { BufferPool } from '../memory/buffer-pool.js';

/** Of the bytes that may be kept, so large a part more may wait for use. */
const FREE_PART = 1 / 4;

/**
 * The last prompt of each session as it was spelled, so that the next one spells only what is new. Whoever takes one has it alone.
 * Bounded by bytes; the session that was used least recently is forgotten first.
 */
export class SpelledPrompts {
  readonly #bySession = new Map<string, SpelledIds>();
  readonly #buffers: BufferPool;
  #bytes = 0;

  constructor(private readonly bytesMax: number) {
    this.#buffers = new BufferPool(bytesMax * FREE_PART);
  }

  /** Held for sessions that are not sampling. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What the session left, or nothing yet. */
  take(sessionId: string): SpelledIds {
    const known = this.#bySession.get(sessionId);
    return known === undefined ? this.fresh() : this.#remove(sessionId, known);
  }

  /** Nothing yet, in memory that was used before. */
  fresh(): SpelledIds {
    return new SpelledIds(this.#buffers);
  }

  /** It is ours from here on, and nobody reads a body of it any more. */
  put(sessionId: string, spelled: SpelledIds): void {
    this.forget(sessionId);
    this.#bySession.set(sessionId, spelled);
    this.#bytes += spelled.bytesHeld;
    for (const oldest of this.#bySession.keys()) {
      if (this.#bytes <= this.bytesMax) break;
      this.forget(oldest);
    }
  }

  forget(sessionId: string): void {
    const known = this.#bySession.get(sessionId);
    if (known !== undefined) this.#remove(sessionId, known).release();
  }

  #remove(sessionId: string, known: SpelledIds): SpelledIds {
    this.#bySession.delete(sessionId);
    this.#bytes -= known.bytesHeld;
    return known;
  }
}
