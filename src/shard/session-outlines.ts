import type { SessionNote } from './messages.js';

/** What is known on the front's thread of a session that lives in a shard, or whose rows wait there. */
export interface SessionOutline extends SessionNote {
  readonly state: 'open' | 'finished';
  readonly turns: number;
  /** Committed ones. */
  readonly tokens: number;
}

/** The outlines of one shard's sessions, by their lives: what is left to be told when its thread dies. */
export class SessionOutlines {
  readonly #outlines = new Map<string, SessionOutline>();

  opened(note: SessionNote): void {
    this.#outlines.set(note.life, { ...note, state: 'open', turns: 0, tokens: 0 });
  }

  progressed(life: string, turns: number, tokens: number): void {
    this.#change(life, { turns, tokens });
  }

  /** The rows wait for an acknowledgement. */
  finished(life: string): void {
    this.#change(life, { state: 'finished' });
  }

  /** Nothing of it is held any more. */
  forgotten(life: string): void {
    this.#outlines.delete(life);
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

  #change(life: string, change: Partial<SessionOutline>): void {
    const outline = this.#outlines.get(life);
    if (outline !== undefined) this.#outlines.set(life, { ...outline, ...change });
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
