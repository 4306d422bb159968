import type { Replica } from './replica.js';

/** Sessions whose replica is remembered; of more, those that came first are placed anew. */
const SESSIONS_MAX = 100_000;

/** Where the prefix of each session is: at the replica of its last call. */
export class Homes {
  readonly #bySession = new Map<string, Replica>();

  get(sessionId: string): Replica | undefined {
    return this.#bySession.get(sessionId);
  }

  set(sessionId: string, replica: Replica): void {
    this.#bySession.set(sessionId, replica);
    if (this.#bySession.size > SESSIONS_MAX) this.#bySession.delete(this.#bySession.keys().next().value!);
  }

  forget(sessionId: string): void {
    this.#bySession.delete(sessionId);
  }
}
