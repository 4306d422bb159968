import type { MessagePort } from 'node:worker_threads';
import type { Settings } from '../config.js';
import type { EngineStand } from './engine-orders.js';

/** What a shard is born with. Everything here is cloned or shared with the thread. */
export interface ShardStart {
  readonly index: number;
  readonly epoch: number;
  readonly settings: Settings;
  /** Replicas and pause as the trainer has them by now. */
  readonly engines: EngineStand;
  readonly engineKey: string | null;
  /** Signs thinking blocks and hides session keys from engines; the same for all shards and lives. */
  readonly secret: Uint8Array;
  /** Calls in flight per replica, over all shards. */
  readonly inFlight: SharedArrayBuffer;
}

export interface ShardTask {
  readonly start: ShardStart;
  readonly port: MessagePort;
  /** An Int32 that the shard counts up while its event loop turns. */
  readonly pulse: SharedArrayBuffer;
}
