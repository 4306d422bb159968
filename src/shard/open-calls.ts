import type { ErrorValue } from '../errors.js';
import type { FromShard } from './messages.js';

type Answering = FromShard & { readonly kind: 'answer' | 'head' | 'chunk' | 'end' | 'cut' };

/** Agents' calls that shards work on, and who listens to their answers. */
export class OpenCalls<Seat> {
  readonly #calls = new Map<number, { readonly seat: Seat; readonly onMessage: (message: FromShard) => void }>();
  #nextId = 1;

  get size(): number {
    return this.#calls.size;
  }

  /** Gives the name of the call in all messages about it. */
  open(seat: Seat, onMessage: (message: FromShard) => void): number {
    const id = this.#nextId++;
    this.#calls.set(id, { seat, onMessage });
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
  lose(seat: Seat, error: ErrorValue): void {
    for (const [id, call] of this.#calls) {
      if (call.seat !== seat) continue;
      this.#calls.delete(id);
      call.onMessage({ kind: 'lost', id, error });
    }
  }
}
