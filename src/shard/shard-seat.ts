import type { ErrorValue } from '../errors.js';
import type { ReplicaState, ServedModel } from './messages.js';
import { type SessionOutline, SessionOutlines } from './session-outlines.js';
import type { ShardHost } from './shard-host.js';

/** About as long as a shard takes to load its model. */
const RETRY_AFTER_MS = 1000;

/** What the front's thread knows of one shard: its thread, whether it takes calls, and what it last said. */
export class ShardSeat {
  readonly host: ShardHost;
  #state: 'starting' | 'ready' | 'failed' = 'starting';
  #problem: string | null = 'it is loading the model';
  #failure: ErrorValue | null = null;
  model: ServedModel | null = null;
  replicas: readonly ReplicaState[] = [];
  /** Sessions of the present life. */
  readonly sessions = new SessionOutlines();

  constructor(
    readonly index: number,
    hostOf: (seat: ShardSeat) => ShardHost,
  ) {
    this.host = hostOf(this);
  }

  get isReady(): boolean {
    return this.#state === 'ready';
  }

  /** Why it takes no calls, in a few words; `null` when it does. */
  get problem(): string | null {
    return this.isReady ? null : (this.#problem ?? this.#state);
  }

  /** Why it will never take calls. */
  get failure(): ErrorValue | null {
    return this.#failure;
  }

  /** What a call is told that comes while it takes none. */
  get refusal(): ErrorValue {
    return { code: 'overloaded', message: `The gateway is not ready: ${this.problem}. Try again.`, retryAfterMs: RETRY_AFTER_MS };
  }

  loaded(model: ServedModel): void {
    this.#state = 'ready';
    this.#problem = null;
    this.model = model;
  }

  failed(failure: ErrorValue): void {
    this.#state = 'failed';
    this.#problem = failure.message;
    this.#failure = failure;
  }

  /** Its life is over and another begins; gives the sessions that went with it. */
  died(problem: string): readonly SessionOutline[] {
    this.#state = 'starting';
    this.#problem = `its thread was replaced (${problem})`;
    this.replicas = [];
    return this.sessions.take();
  }
}
