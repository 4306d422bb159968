import type { Settings } from '../config.js';
import type { ErrorValue } from '../errors.js';
import type { CreateSession } from '../trainer/calls.js';
import { type AckCount, type Acked, LeaseBook } from '../trainer/lease-book.js';
import { ClosedKeys } from './closed-keys.js';
import type { FinishedSession } from './finished-session.js';
import type { Journal } from './journal.js';
import { implicitSession, Session } from './session.js';

export interface SessionEvents {
  readonly opened: (session: Session) => void;
  readonly closed: (session: Session) => void;
}

/**
 * The sessions of one shard: open ones, finished ones until they are acknowledged or expire, and for a while the ids of those that
 * are over. Every change of state is synchronous.
 */
export class SessionStore {
  readonly #open = new Map<string, Session>();
  /** Every finished life that is not acknowledged, and its leases. */
  readonly book = new LeaseBook<FinishedSession>();
  /** The newest finished life of an id. */
  readonly #newest = new Map<string, FinishedSession>();
  readonly #closed: ClosedKeys;

  constructor(
    private readonly settings: Settings,
    private readonly journal: Journal,
    private readonly events: SessionEvents,
  ) {
    this.#closed = new ClosedKeys(settings.sessions.closedTtlMs, settings.sessions.closedMax);
  }

  get open(): Iterable<Session> {
    return this.#open.values();
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** The session that an agent means; an unknown id opens one where that is allowed. */
  enter(id: string, nowMs: number): Session | ErrorValue {
    const session = this.#open.get(id);
    if (session !== undefined) {
      session.lastUsedMs = nowMs;
      return session;
    }
    const refused = this.#refusal(id, nowMs);
    if (refused !== null) return refused;
    return this.#add(implicitSession(id), nowMs, true);
  }

  /** As `enter`, for a call that must leave no trace: an unknown id gives a session that is not kept. */
  peek(id: string, nowMs: number): Session | ErrorValue {
    const session = this.#open.get(id);
    if (session !== undefined) return session;
    return this.#refusal(id, nowMs) ?? new Session(implicitSession(id), this.settings, nowMs, true);
  }

  create(created: CreateSession, nowMs: number): Session | ErrorValue {
    if (this.#open.has(created.sessionId)) {
      return { code: 'session_exists', message: 'Cannot create the session: a live one has this id; finish or delete it first.' };
    }
    const full = this.#full();
    if (full !== null) return full;
    this.#closed.delete(created.sessionId);
    this.journal({ kind: 'create', sessionId: created.sessionId, session: created });
    return this.#add(created, nowMs, false);
  }

  byId(id: string): Session | null {
    return this.#open.get(id) ?? null;
  }

  /** The newest finished life of an id. */
  finishedById(id: string): FinishedSession | null {
    return this.#newest.get(id) ?? null;
  }

  /** Ids that have rows. */
  finishedIds(): Iterable<string> {
    return this.#newest.keys();
  }

  /** The session takes no more calls and its key is refused. */
  close(session: Session, nowMs: number): void {
    session.state = 'over';
    session.tree.close();
    session.forgetMemories();
    // A session of the same id may have been opened after this one was deleted.
    if (this.#open.get(session.id) === session) this.#open.delete(session.id);
    this.#closed.add(session.id, nowMs);
    this.events.closed(session);
  }

  /** Keeps the rows of a session until they are acknowledged; the oldest ones go when there are too many. */
  keep(finished: FinishedSession, nowMs: number): void {
    this.book.add(finished.name, finished.id, finished, nowMs);
    this.#newest.set(finished.id, finished);
    this.journal({ kind: 'finish', sessionId: finished.id, life: finished.name, rows: finished.plan.rows.length });
  }

  /** All finished lives of the ids are forgotten: their rows have arrived. */
  ackSessions(ids: readonly string[]): AckCount {
    return this.#acked(this.book.ackSessions(ids));
  }

  /** One finished life of an id is forgotten; `false` = it was not known. */
  ackLife(id: string, name: string): boolean {
    const life = this.book.get(name);
    if (life?.id !== id) return false;
    this.book.remove(name);
    this.#acked({ acked: 1, unknown: [], gone: [life] });
    return true;
  }

  ackLease(leaseId: string): AckCount {
    return this.#acked(this.book.ackLease(leaseId));
  }

  /** Rows that nobody fetched in time; gives how many tokens of sampled text go with them. */
  expireFinished(nowMs: number): readonly FinishedSession[] {
    const max = Math.ceil(this.settings.traces.storeSessions / this.settings.shards);
    const gone = this.book.expire(nowMs - this.settings.traces.ttlMs, max);
    for (const life of gone) {
      if (this.#newest.get(life.id) === life) this.#newest.delete(life.id);
      this.journal({ kind: 'drop', sessionId: life.id, life: life.name, reason: 'expired' });
    }
    return gone;
  }

  #acked({ acked, unknown, gone }: Acked<FinishedSession>): AckCount {
    for (const life of gone) {
      if (this.#newest.get(life.id) === life) this.#newest.delete(life.id);
      this.journal({ kind: 'ack', sessionId: life.id, life: life.name });
    }
    return { acked, unknown };
  }

  #refusal(id: string, nowMs: number): ErrorValue | null {
    if (this.#closed.has(id, nowMs))
      return { code: 'session_closed', message: 'This session was finished or deleted: it takes no more turns.' };
    if (!this.settings.sessions.implicit) {
      return {
        code: 'invalid_api_key',
        message: 'No session has this key: create it with POST /sessions and use the `api_key` of the answer.',
      };
    }
    return this.#full();
  }

  #full(): ErrorValue | null {
    const max = Math.ceil(this.settings.sessions.max / this.settings.shards);
    if (this.#open.size < max) return null;
    return {
      code: 'overloaded',
      message: `No room for another session: ${this.#open.size} are open in this shard (sessions.max ${this.settings.sessions.max}).`,
    };
  }

  #add(created: CreateSession, nowMs: number, implicit: boolean): Session {
    const session = new Session(created, this.settings, nowMs, implicit);
    this.#open.set(session.id, session);
    this.events.opened(session);
    return session;
  }
}
