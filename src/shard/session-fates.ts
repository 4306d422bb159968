import type { ErrorValue } from '../errors.js';
import type { TrainerAnswer, TrainerCall } from '../trainer/calls.js';
import type { WideCall } from '../trainer/fan-out.js';
import { ClosedKeys } from './closed-keys.js';
import { LostSessions } from './lost-sessions.js';
import type { SessionOutline } from './session-outlines.js';
import { encodeSession } from './trace-msgpack.js';

export const LOST: ErrorValue = {
  code: 'session_lost',
  message: 'The part of the gateway that held this session crashed and its trajectory is gone: start the rollout again with a new session.',
};
const CLOSED: ErrorValue = { code: 'session_closed', message: 'This session was finished or deleted: it takes no more turns.' };

/** Which sessions are over, and how: known on the front's thread, so that a refusal costs no shard. */
export class SessionFates {
  readonly #closed: ClosedKeys;
  readonly lost: LostSessions;

  constructor(closedTtlMs: number, lostTtlMs: number, max: number) {
    this.#closed = new ClosedKeys(closedTtlMs, max);
    this.lost = new LostSessions(lostTtlMs, max);
  }

  /** A session of this id lives: what was before is over for agents and trainers. */
  opened(id: string): void {
    this.#closed.delete(id);
    this.lost.delete(id);
  }

  closed(id: string): void {
    this.#closed.add(id, Date.now());
  }

  lose(outline: SessionOutline): void {
    this.lost.add(outline, Date.now());
  }

  /** What a trainer's call about a lost session is answered; `null` where its shard is to be asked. */
  answer(call: TrainerCall): TrainerAnswer | null {
    const id = sessionOf(call);
    const state = id === null ? null : this.lost.state(id, Date.now());
    if (id === null || state === null) return null;
    switch (call.kind) {
      case 'get':
        return { kind: 'text', status: 200, text: state };
      case 'create':
        return null;
      case 'delete':
        this.lost.delete(id);
        this.closed(id);
        return { kind: 'text', status: 200, text: JSON.stringify({ session_id: id, deleted: true }) };
      default:
        return { kind: 'error', error: LOST };
    }
  }

  /** The part of a call to all that is about lost sessions. What is acknowledged is over, as if it had been finished. */
  answerWide(call: WideCall): TrainerAnswer {
    const nowMs = Date.now();
    switch (call.kind) {
      case 'list':
        return { kind: 'text', status: 200, text: this.lost.page(call.after, call.limit, nowMs) };
      case 'lease': {
        const lost = this.lost.lease(call.leaseId, call.max, call.expiresAtMs, nowMs);
        return { kind: 'traces', status: 200, sessions: lost.map((session) => encodeSession(session, call.encoding)) };
      }
      case 'ack': {
        const { gone, ...count } = this.lost.ack(call.leaseId, call.sessionIds, nowMs);
        for (const id of gone) this.closed(id);
        return { kind: 'acked', ...count };
      }
    }
  }

  /** What an agent is told, `null` where nothing is known against the session. */
  refusal(id: string): ErrorValue | null {
    const nowMs = Date.now();
    if (this.#closed.has(id, nowMs)) return CLOSED;
    return this.lost.has(id, nowMs) ? LOST : null;
  }
}

const sessionOf = (call: TrainerCall): string | null => {
  if (call.kind === 'create') return call.session.sessionId;
  return 'sessionId' in call ? call.sessionId : null;
};
