import type { TraceSummary } from '../canonical/trace.js';
import { type Acked, LeaseBook } from '../trainer/lease-book.js';
import type { FinishedSession, LostState } from '../trainer/trace-encoding.js';
import type { SessionOutline } from './session-outlines.js';

interface Lost {
  readonly outline: SessionOutline;
  readonly atMs: number;
}

/**
 * Sessions whose shard died, and what was known of them, until a trainer has acknowledged that, for a while and bounded: the oldest goes
 * first.
 */
export class LostSessions {
  /** The newest lost life of an id. */
  readonly #newest = new Map<string, Lost>();
  readonly #book = new LeaseBook<Lost>();
  #lives = 0;

  constructor(
    private readonly ttlMs: number,
    private readonly max: number,
  ) {}

  add(outline: SessionOutline, nowMs: number): void {
    const lost = { outline, atMs: nowMs };
    this.#newest.set(outline.sessionId, lost);
    this.#book.add(`${this.#lives++}`, outline.sessionId, lost, nowMs);
    this.#expire(nowMs);
  }

  has(id: string, nowMs: number): boolean {
    return this.#get(id, nowMs) !== null;
  }

  /** Forgets all lost lives of an id. */
  delete(id: string): void {
    this.#newest.delete(id);
    this.#book.ackSessions([id]);
  }

  /** The session as `GET /sessions/{id}` answers it, `null` where it was not lost. */
  state(id: string, nowMs: number): string | null {
    const lost = this.#get(id, nowMs);
    return lost === null ? null : JSON.stringify({ session_id: id, ...stateOf(lost) });
  }

  /** A page of the list of sessions, as a JSON array. */
  page(after: string | null, limit: number, nowMs: number): string {
    this.#expire(nowMs);
    const ids = [...this.#newest.keys()].filter((id) => after === null || id > after);
    ids.sort((a, b) => (a < b ? -1 : 1));
    return JSON.stringify(ids.slice(0, limit).map((id) => ({ session_id: id, ...stateOf(this.#newest.get(id)!) })));
  }

  /** What a scrape is told of sessions that will never have rows. */
  lease(leaseId: string, max: number, expiresAtMs: number, nowMs: number): readonly FinishedSession[] {
    this.#expire(nowMs);
    return this.#book.lease(leaseId, max, expiresAtMs, nowMs).map(finishedOf);
  }

  /** Gives the ids that are not lost any more. */
  ack(leaseId: string | null, ids: readonly string[], nowMs: number): Acked<string> {
    this.#expire(nowMs);
    const lease = leaseId === null ? { acked: 0, unknown: [], gone: [] } : this.#book.ackLease(leaseId);
    const sessions = this.#book.ackSessions(ids);
    const gone = [...lease.gone, ...sessions.gone].filter((lost) => this.#forget(lost)).map(({ outline }) => outline.sessionId);
    return { acked: lease.acked + sessions.acked, unknown: [...lease.unknown, ...sessions.unknown], gone };
  }

  #get(id: string, nowMs: number): Lost | null {
    this.#expire(nowMs);
    return this.#newest.get(id) ?? null;
  }

  #expire(nowMs: number): void {
    for (const lost of this.#book.expire(nowMs - this.ttlMs, this.max)) this.#forget(lost);
  }

  /** Whether it was the newest of its id. */
  #forget(lost: Lost): boolean {
    const id = lost.outline.sessionId;
    return this.#newest.get(id) === lost && this.#newest.delete(id);
  }
}

const stateOf = ({ outline, atMs }: Lost): LostState => ({
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

/** No rows, and books that say so: what was committed is trained nowhere. */
function finishedOf(lost: Lost): FinishedSession {
  const { outline, atMs } = lost;
  const { tokens } = outline;
  const summary: TraceSummary = {
    opened_at: outline.openedAtMs / 1000,
    finished_at: atMs / 1000,
    turns: outline.turns,
    rows: 0,
    tokens: { sampled: tokens, committed: tokens, trained: 0, discarded: {} },
    capture_yield: tokens === 0 ? 1 : 0,
    capture_error: 'the shard that held the session crashed, and its rows went with it',
    aborted_turns: 0,
    forks: {},
    drift: {},
  };
  return { session_id: outline.sessionId, traces: [], summary, failed: stateOf(lost) };
}
