import type { MessagePort, Transferable } from 'node:worker_threads';
import type { FromShard } from './messages.js';

/** Collects what a shard says in one tick and posts it as one array. */
export class Outbox {
  #messages: FromShard[] = [];
  #isMute = false;
  #transfers: Transferable[] = [];

  constructor(private readonly port: MessagePort) {}

  /** Says nothing more: what a dying shard would say of its calls is not so. */
  mute(): void {
    this.#isMute = true;
    this.#messages = [];
    this.#transfers = [];
  }

  /** Buffers in `transfers` must not be read afterwards. */
  send(message: FromShard, transfers: readonly ArrayBufferLike[]): void {
    if (this.#isMute) return;
    if (this.#messages.length === 0) queueMicrotask(() => this.#flush());
    this.#messages.push(message);
    for (const buffer of transfers) if (buffer instanceof ArrayBuffer) this.#transfers.push(buffer);
  }

  #flush(): void {
    const messages = this.#messages;
    const transfers = this.#transfers;
    this.#messages = [];
    this.#transfers = [];
    if (messages.length > 0) this.port.postMessage(messages, transfers);
  }
}
