import { REPLICA_SLOTS } from '../backend/shared-counters.js';
import type { ErrorValue } from '../errors.js';
import type { EngineOrder, PauseMode } from '../trainer/calls.js';
import type { EngineWork } from './messages.js';

/** Where the engines are and whether they may be called, as a shard is born with it. */
export interface EngineStand {
  readonly replicas: readonly { readonly url: string; readonly slot: number }[];
  readonly pause: PauseMode | null;
  /** What the last resumption said. */
  readonly weightVersion: string | null;
}

/**
 * What trainers have ordered of the engines so far. Lives on the front's thread: shards that are born later start with it, and all
 * shards count the calls of a replica in the same slot.
 */
export class EngineOrders {
  #replicas: readonly { readonly url: string; readonly slot: number }[];
  #nextSlot: number;
  #pause: PauseMode | null = null;
  #weightVersion: string | null = null;

  constructor(urls: readonly string[]) {
    this.#replicas = urls.map((url, slot) => ({ url, slot }));
    this.#nextSlot = urls.length;
  }

  get stand(): EngineStand {
    return { replicas: this.#replicas, pause: this.#pause, weightVersion: this.#weightVersion };
  }

  /** Takes an order in and gives it as shards are told it, or says why it cannot be carried out. `slot` is the counter of an added replica, else 0. */
  take(order: EngineOrder): { readonly order: EngineOrder; readonly slot: number } | ErrorValue {
    switch (order.kind) {
      case 'tell':
        break;
      case 'pause':
        this.#pause = order.mode;
        break;
      case 'resume':
        this.#pause = null;
        this.#weightVersion = order.weightVersion ?? this.#weightVersion;
        break;
      case 'add_replica': {
        const { url } = order;
        if (this.#replicas.some((replica) => isSame(replica.url, url)))
          return { code: 'replica_exists', message: `Cannot add the replica ${url}: it is there already.` };
        if (this.#nextSlot >= REPLICA_SLOTS) {
          const message = `Cannot add the replica ${url}: ${REPLICA_SLOTS} have been added since the start, removed ones included; restart the gateway with the URLs that are wanted.`;
          return { code: 'invalid_request', message };
        }
        const slot = this.#nextSlot++;
        this.#replicas = [...this.#replicas, { url, slot }];
        return { order, slot };
      }
      case 'remove_replica': {
        const { url } = order;
        const gone = this.#replicas.find((replica) => isSame(replica.url, url));
        if (gone === undefined) {
          const there = this.#replicas.map((replica) => replica.url).join(', ');
          return { code: 'replica_not_found', message: `Cannot remove the replica ${url}: there are ${there === '' ? 'none' : there}.` };
        }
        this.#replicas = this.#replicas.filter((replica) => replica !== gone);
        return { order: { ...order, url: gone.url }, slot: 0 };
      }
    }
    return { order, slot: 0 };
  }
}

const isSame = (a: string, b: string): boolean => a.replace(/\/+$/, '') === b.replace(/\/+$/, '');

/** What all shards have at the engines. */
export function sumOfWork(works: readonly EngineWork[]): EngineWork {
  const running = new Map<string | null, number>();
  for (const work of works)
    for (const { weightVersion, turns } of work.running) running.set(weightVersion, (running.get(weightVersion) ?? 0) + turns);
  return {
    calls: works.reduce((sum, { calls }) => sum + calls, 0),
    waiting: works.reduce((sum, { waiting }) => sum + waiting, 0),
    running: [...running].map(([weightVersion, turns]) => ({ weightVersion, turns })),
  };
}
