import type { Transferable } from 'node:worker_threads';

/** How long a message without haste waits for one that has some. */
const UNHURRIED_MS = 5;

/**
 * Collects what one side of the crossing says and posts it as arrays, in order. Waking another thread costs as much as a small turn
 * does: messages of all sockets that were ready together travel together, and those without haste wait a little for others.
 */
export class Outbox<Message> {
  #messages: Message[] = [];
  #transfers: Transferable[] = [];
  #isMute = false;
  #soon: NodeJS.Immediate | null = null;
  #later: NodeJS.Timeout | null = null;

  constructor(private readonly post: (messages: readonly Message[], transfers: readonly Transferable[]) => void) {}

  /** Buffers in `transfers` must not be read afterwards. */
  send(message: Message, transfers: readonly Transferable[] = []): void {
    if (this.#isMute) return;
    this.#messages.push(message);
    for (const it of transfers) this.#transfers.push(it);
    this.#soon ??= setImmediate(this.#flushed);
  }

  /** For what nobody waits for. It arrives before whatever is sent after it. */
  sendUnhurried(message: Message, transfers: readonly Transferable[] = []): void {
    if (this.#isMute) return;
    this.#messages.push(message);
    for (const it of transfers) this.#transfers.push(it);
    if (this.#soon === null) this.#later ??= setTimeout(this.#flushed, UNHURRIED_MS).unref();
  }

  flush(): void {
    if (this.#soon !== null) clearImmediate(this.#soon);
    if (this.#later !== null) clearTimeout(this.#later);
    this.#soon = null;
    this.#later = null;
    const messages = this.#messages;
    const transfers = this.#transfers;
    if (messages.length === 0) return;
    this.#messages = [];
    this.#transfers = [];
    this.post(messages, transfers);
  }

  /** Drops what waits, for an addressee that is gone. */
  drop(): void {
    this.#messages = [];
    this.#transfers = [];
    this.flush();
  }

  /** Says nothing more: what a dying shard would say of its calls is not so. */
  mute(): void {
    this.#isMute = true;
    this.drop();
  }

  readonly #flushed = (): void => this.flush();
}
