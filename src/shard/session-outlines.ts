import type { SessionNote } from './messages.js';

/** What is known on the front's thread of a session that lives in a shard, or whose rows wait there. */
export interface SessionOutline extends SessionNote {
  readonly state: 'open' | 'finished';
  readonly turns: number;
  /** Committed ones. */
  readonly tokens: number;
}

/** The outlines of one shard's sessions: what is left to be told when its thread dies. */
export class SessionOutlines {
  readonly #outlines = new Map<string, SessionOutline>();

  opened(note: SessionNote): void {
    this.#outlines.set(note.sessionId, { ...note, state: 'open', turns: 0, tokens: 0 });
  }

  progressed(sessionId: string, turns: number, tokens: number): void {
    this.#change(sessionId, { turns, tokens });
  }

  /** The rows wait for an acknowledgement. */
  finished(sessionId: string): void {
    this.#change(sessionId, { state: 'finished' });
  }

  /** Nothing of the session is held any more; one that was opened again by the same id stays. */
  forgotten(sessionId: string, life: SessionOutline['state']): void {
    if (this.#outlines.get(sessionId)?.state === life) this.#outlines.delete(sessionId);
  }

  [Symbol.iterator](): Iterator<SessionOutline> {
    return this.#outlines.values();
  }

  /** All of them; none is left here. */
  take(): readonly SessionOutline[] {
    const taken = [...this.#outlines.values()];
    this.#outlines.clear();
    return taken;
  }

  #change(sessionId: string, change: Partial<SessionOutline>): void {
    const outline = this.#outlines.get(sessionId);
    if (outline !== undefined) this.#outlines.set(sessionId, { ...outline, ...change });
  }
}

/** What goes with sessions that are given up. */
export const sumOfOutlines = (
  outlines: readonly SessionOutline[],
): { readonly sessions: number; readonly turns: number; readonly tokens: number } => ({
  sessions: outlines.length,
  turns: outlines.reduce((sum, { turns }) => sum + turns, 0),
  tokens: outlines.reduce((sum, { tokens }) => sum + tokens, 0),
});
