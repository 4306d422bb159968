import { type ErrorValue, GatewayError } from '../errors.js';
import { Listeners } from './listeners.js';
import type { ReplicaState, ServedModel } from './messages.js';
import type { SessionOutline } from './session-outlines.js';
import type { ShardHost } from './shard-host.js';
import { ShardSeat } from './shard-seat.js';

/** All shards, and what they say together. */
export class ShardSeats {
  readonly #seats: readonly ShardSeat[];
  readonly #changes = new Listeners();

  constructor(count: number, hostOf: (seat: ShardSeat) => ShardHost) {
    this.#seats = Array.from({ length: count }, (_, index) => new ShardSeat(index, hostOf));
  }

  get count(): number {
    return this.#seats.length;
  }

  [Symbol.iterator](): Iterator<ShardSeat> {
    return this.#seats.values();
  }

  /** @throws RangeError */
  at(shard: number): ShardSeat {
    const seat = this.#seats[shard];
    if (seat === undefined) throw new RangeError(`no shard ${shard}: there are ${this.#seats.length}`);
    return seat;
  }

  get ready(): readonly ShardSeat[] {
    return this.#seats.filter((seat) => seat.isReady);
  }

  get model(): ServedModel | null {
    return this.#seats.find((seat) => seat.model !== null)?.model ?? null;
  }

  /** Why turns cannot be served, in a sentence. */
  get problem(): string | null {
    for (const seat of this.#seats) if (!seat.isReady) return `shard ${seat.index} is not ready: ${seat.problem}`;
    const replicas = this.replicas;
    if (replicas.some((replica) => replica.state === 'up')) return null;
    const states = replicas.map(({ url, state, problem }) => `${url} is ${state}${problem === null ? '' : ` (${problem})`}`);
    return `no engine answers: ${states.join(', ')}`;
  }

  /** One entry per replica: the first shard's view, with queues summed over the shards. */
  get replicas(): readonly ReplicaState[] {
    const merged = new Map<string, ReplicaState>();
    for (const seat of this.#seats) {
      for (const replica of seat.replicas) {
        const seen = merged.get(replica.url);
        const better = seen === undefined || (seen.state !== 'up' && replica.state === 'up') ? replica : seen;
        merged.set(replica.url, seen === undefined ? replica : { ...better, queued: seen.queued + replica.queued });
      }
    }
    return [...merged.values()];
  }

  get sessions(): readonly SessionOutline[] {
    return this.#seats.flatMap((seat) => [...seat.sessions]);
  }

  /** Resolves when every shard takes calls. @throws GatewayError why one cannot start */
  async started(): Promise<void> {
    for (;;) {
      const failure = this.#seats.find((seat) => seat.failure !== null)?.failure ?? null;
      if (failure !== null) throw new GatewayError(failure.code, failure.message);
      if (this.#seats.every((seat) => seat.isReady)) return;
      await new Promise<void>((resolve) => {
        const stop = this.#changes.add(() => {
          stop();
          resolve();
        });
      });
    }
  }

  loaded(seat: ShardSeat, model: ServedModel): void {
    seat.loaded(model);
    this.#changes.tell();
  }

  /** It will never be loaded. */
  failed(seat: ShardSeat, failure: ErrorValue): void {
    seat.failed(failure);
    this.#changes.tell();
  }
}
