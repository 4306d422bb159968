import type { ErrorValue } from '../errors.js';
import type { BufferPool } from '../memory/buffer-pool.js';
import type { EngineOrder } from '../trainer/calls.js';
import type { ScrapeHolders } from '../trainer/scrape.js';
import type { EngineStand } from './engine-orders.js';
import type { AgentCall, EngineWork, FromShard, ReplicaState, ServedModel } from './messages.js';

/** What the front says about one call after opening it. Both are final: at most one of them is called, once. */
export interface CallHandle {
  readonly id: number;
  /** The client's socket is closed; no further message of this call reaches the listener. */
  gone(): void;
  /** The last byte of the answer was written to an open socket. */
  written(): void;
}

/**
 * The front's whole view of the shards. Nothing here blocks; listeners are called on the front's thread, in the order
 * of the shard's messages, never before `open` has returned and never after `gone()`.
 */
export interface ShardLink extends ScrapeHolders {
  /** `null` until one shard has loaded the model. */
  readonly model: ServedModel | null;
  /** All shards take calls and a replica answers. */
  readonly ready: boolean;
  /** Why it is not ready, in a sentence. */
  readonly problem: string | null;
  readonly replicas: readonly ReplicaState[];
  /** Where the bodies of calls are received; a shard gives their buffers back to it. */
  readonly buffers: BufferPool;
  /** The shard of a session: a stable hash of the key's bytes. */
  shardOf(sessionKey: string): number;
  /** Starts a call; its body's buffer is transferred. An error value means that no shard was told. */
  open(call: Omit<AgentCall, 'kind' | 'id'>, onMessage: (message: FromShard) => void): CallHandle | ErrorValue;
  /** Does in every shard what a trainer has ordered of the engines; the answer sums what all shards have there. */
  order(order: EngineOrder): Promise<EngineWork | ErrorValue>;
  /** Replicas, pause and weights as ordered. */
  readonly engineStand: EngineStand;
  /** prom-client's JSON of every shard's registry; a shard that does not answer in time is left out. */
  metrics(): Promise<readonly (readonly object[])[]>;
  /** A session that is closed or lost is answered without a shard: its error, else `null`. */
  closedError(sessionKey: string): ErrorValue | null;
  /** Plants a fault for tests; the front offers it only with `test.faults`. */
  crash(shard: number, how: 'throw' | 'exit' | 'hang' | 'heap'): void;
  /** Lets running calls finish until the deadline, then their clients get `shutting_down`. */
  drain(deadlineMs: number): Promise<void>;
  close(): Promise<void>;
}

export const isCallHandle = (opened: CallHandle | ErrorValue): opened is CallHandle => 'gone' in opened;
