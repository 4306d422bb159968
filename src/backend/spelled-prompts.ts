import type { WrittenIds } from '../engines/prompt-ids-json.js';

/** Shorter prompts are spelled anew faster than they are looked up. */
const IDS_MIN = 512;

/**
 * The last prompt of each session as it was spelled, so that the next one spells only what is new. Bounded by bytes; the
 * session that was used least recently is forgotten first.
 */
export class SpelledPrompts {
  readonly #bySession = new Map<string, WrittenIds>();
  #bytes = 0;

  constructor(private readonly bytesMax: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  get(sessionId: string): WrittenIds | undefined {
    return this.#bySession.get(sessionId);
  }

  set(sessionId: string, written: WrittenIds): void {
    this.forget(sessionId);
    if (written.ids.length < IDS_MIN) return;
    this.#bySession.set(sessionId, written);
    this.#bytes += bytesOf(written);
    for (const oldest of this.#bySession.keys()) {
      if (this.#bytes <= this.bytesMax) break;
      this.forget(oldest);
    }
  }

  forget(sessionId: string): void {
    const known = this.#bySession.get(sessionId);
    if (known === undefined) return;
    this.#bySession.delete(sessionId);
    this.#bytes -= bytesOf(known);
  }
}

/** What is kept alive: the ids, and the whole buffer in which they are spelled. */
const bytesOf = ({ ids, bytes }: WrittenIds): number => ids.byteLength + bytes.buffer.byteLength;
