import type { ErrorValue } from '../errors.js';
import type { FromShard } from './messages.js';

type Answering = FromShard & { readonly kind: 'answer' | 'head' | 'chunk' | 'end' | 'cut' };

interface OpenCall<Seat> {
  readonly seat: Seat;
  readonly sessionKey: string;
  readonly onMessage: (message: FromShard) => void;
}

/** Agents' calls that shards work on, and who listens to their answers. */
export class OpenCalls<Seat> {
  readonly #calls = new Map<number, OpenCall<Seat>>();
  #nextId = 1;

  /** Resolves when no call is open, or after a time. */
  async answered(waitMs: number): Promise<void> {
    const untilMs = Date.now() + waitMs;
    while (this.#calls.size > 0 && Date.now() < untilMs) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** Gives the name of the call in all messages about it. */
  open(call: OpenCall<Seat>): number {
    const id = this.#nextId++;
    this.#calls.set(id, call);
    return id;
  }

  /** Nobody listens any more. */
  leave(id: number): void {
    this.#calls.delete(id);
  }

  deliver(message: Answering): void {
    const call = this.#calls.get(message.id);
    if (message.kind !== 'head' && message.kind !== 'chunk') this.#calls.delete(message.id);
    call?.onMessage(message);
  }

  /** The shard's life is over. */
  lose(seat: Seat, errorOf: (sessionKey: string) => ErrorValue): void {
    for (const [id, call] of this.#calls) {
      if (call.seat !== seat) continue;
      this.#calls.delete(id);
      call.onMessage({ kind: 'lost', id, error: errorOf(call.sessionKey) });
    }
  }
}
