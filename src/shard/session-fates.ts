import type { ErrorValue } from '../errors.js';
import { ClosedKeys } from './closed-keys.js';

export const LOST: ErrorValue = {
  code: 'session_lost',
  message: 'The part of the gateway that held this session crashed and its trajectory is gone: start the rollout again with a new session.',
};
const CLOSED: ErrorValue = { code: 'session_closed', message: 'This session was finished or deleted: it takes no more turns.' };

/** Which sessions are over, and how: known on the front's thread, so that a refusal costs no shard. */
export class SessionFates {
  readonly #closed: ClosedKeys;
  readonly #lost: ClosedKeys;

  constructor(closedTtlMs: number, lostTtlMs: number, max: number) {
    this.#closed = new ClosedKeys(closedTtlMs, max);
    this.#lost = new ClosedKeys(lostTtlMs, max);
  }

  opened(id: string): void {
    this.#closed.delete(id);
  }

  closed(id: string): void {
    this.#closed.add(id, Date.now());
  }

  lost(id: string): void {
    this.#lost.add(id, Date.now());
  }

  isLost(id: string): boolean {
    return this.#lost.has(id, Date.now());
  }

  /** A trainer opens the id afresh, or lets it go. */
  forgive(id: string): void {
    this.#lost.delete(id);
  }

  /** What an agent is told, `null` where nothing is known against the session. */
  refusal(id: string): ErrorValue | null {
    if (this.isLost(id)) return LOST;
    return this.#closed.has(id, Date.now()) ? CLOSED : null;
  }
}
