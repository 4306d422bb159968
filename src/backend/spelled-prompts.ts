import { SpelledIds } from '../engines/spelled-ids.js';

/**
 * The last prompt of each session as it was spelled, so that the next one spells only what is new. Whoever takes one has it alone.
 * Bounded by bytes; the session that was used least recently is forgotten first.
 */
export class SpelledPrompts {
  readonly #bySession = new Map<string, SpelledIds>();
  #bytes = 0;

  constructor(private readonly bytesMax: number) {}

  /** Held for sessions that are not sampling. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What the session left, or nothing yet. */
  take(sessionId: string): SpelledIds {
    const known = this.#bySession.get(sessionId);
    if (known === undefined) return new SpelledIds();
    this.forget(sessionId);
    return known;
  }

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
    if (known === undefined) return;
    this.#bySession.delete(sessionId);
    this.#bytes -= known.bytesHeld;
  }
}
