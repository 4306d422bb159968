import type { SessionOutline } from './session-outlines.js';

interface Lost {
  readonly outline: SessionOutline;
  readonly atMs: number;
}

/** Sessions whose shard died, and what was known of them; for a while and bounded: the oldest goes first. */
export class LostSessions {
  readonly #lost = new Map<string, Lost>();

  constructor(
    private readonly ttlMs: number,
    private readonly max: number,
  ) {}

  add(outline: SessionOutline, nowMs: number): void {
    this.#lost.delete(outline.sessionId);
    this.#lost.set(outline.sessionId, { outline, atMs: nowMs });
    for (const [oldest, { atMs }] of this.#lost) {
      if (atMs + this.ttlMs > nowMs && this.#lost.size <= this.max) break;
      this.#lost.delete(oldest);
    }
  }

  has(id: string, nowMs: number): boolean {
    return this.#get(id, nowMs) !== null;
  }

  delete(id: string): void {
    this.#lost.delete(id);
  }

  /** The session as `GET /sessions/{id}` answers it, `null` where it was not lost. */
  state(id: string, nowMs: number): string | null {
    const lost = this.#get(id, nowMs);
    return lost === null ? null : JSON.stringify(stateOf(lost));
  }

  /** A page of the list of sessions, as a JSON array. */
  page(after: string | null, limit: number, nowMs: number): string {
    const ids = [...this.#lost.keys()].filter((id) => (after === null || id > after) && this.#get(id, nowMs) !== null);
    ids.sort((a, b) => (a < b ? -1 : 1));
    return JSON.stringify(ids.slice(0, limit).map((id) => stateOf(this.#lost.get(id)!)));
  }

  #get(id: string, nowMs: number): Lost | null {
    const lost = this.#lost.get(id);
    if (lost === undefined) return null;
    if (lost.atMs + this.ttlMs > nowMs) return lost;
    this.#lost.delete(id);
    return null;
  }
}

const stateOf = ({ outline, atMs }: Lost): object => ({
  session_id: outline.sessionId,
  state: 'failed',
  error: 'session_lost',
  lost_state: outline.state,
  lost_at: atMs / 1000,
  implicit: outline.implicit,
  opened_at: outline.openedAtMs / 1000,
  turns: outline.turns,
  tokens: { committed: outline.tokens },
  rollout_id: outline.rolloutId,
  group_id: outline.groupId,
  sample_index: outline.sampleIndex,
});
