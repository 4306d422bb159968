import type { Engine, EngineProbe } from '../engines/engine.js';
import { GatewayError } from '../errors.js';
import type { Clock, PoolSettings } from './pool-settings.js';
import { Replica } from './replica.js';
import { REPLICA_SLOTS, type SharedCounters } from './shared-counters.js';

/** How long a pause and its end wait for replicas to tell the version of their weights. */
const RENEW_MS = 5000;

/** The addresses of one engine as one shard sees them, in the order of their coming. Owns their connections. */
export class ReplicaSet {
  readonly #list: Replica[] = [];
  #nextSlot = 0;
  #watching = false;
  /** What the trainer named last. */
  #weightVersion: string | null = null;

  constructor(
    private readonly engine: Engine,
    private readonly apiKey: string | null,
    private readonly settings: PoolSettings,
    private readonly clock: Clock,
    private readonly counters: SharedCounters,
    /** Called when the state of any of them changed. */
    private readonly changed: () => void,
  ) {}

  get list(): readonly Replica[] {
    return this.#list;
  }

  /** What the first that is or was up said of itself, `null` before any was. */
  get probe(): EngineProbe | null {
    return (this.#list.find((replica) => replica.isUp) ?? this.#list.find((replica) => replica.probe !== null))?.probe ?? null;
  }

  /** Begins to probe all of them, those to come included. */
  watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    for (const replica of this.#list) replica.watch();
  }

  /**
   * @param slot its counter, the same in every shard; a counter serves one replica only
   * @throws GatewayError `setting_invalid` for a URL that is there already, or after 256 replicas.
   */
  add(url: string, slot = this.#nextSlot): void {
    if (this.#list.some((replica) => replica.url === url)) throw new GatewayError('setting_invalid', `the replica ${url} is there already`);
    if (slot >= REPLICA_SLOTS)
      throw new GatewayError(
        'setting_invalid',
        `no more than ${REPLICA_SLOTS} replicas can be added in the life of a process; restart it to add ${url}`,
      );
    this.#nextSlot = slot + 1;
    const replica = new Replica(url, slot, this.engine, this.apiKey, this.settings, this.clock, this.counters, this.changed);
    this.#list.push(replica);
    if (this.#weightVersion !== null) replica.named(this.#weightVersion);
    if (this.#watching) replica.watch();
  }

  /** Hands the replica over to the caller, who closes it; `null` = there is none. */
  take(url: string): Replica | null {
    const index = this.#list.findIndex((replica) => replica.url === url);
    return index < 0 ? null : this.#list.splice(index, 1)[0]!;
  }

  /** The trainer's name for the weights that all of them have now, and those to come. */
  named(weightVersion: string): void {
    this.#weightVersion = weightVersion;
    for (const replica of this.#list) replica.named(weightVersion);
  }

  /** Resolves when the probes that are under way are over, in bounded time. */
  probed(): Promise<void> {
    return this.#asked((replica) => replica.probed());
  }

  /** Asks those that are up for the version of their weights, in bounded time. */
  renewed(): Promise<void> {
    return this.#asked((replica) => replica.refresh());
  }

  async close(): Promise<void> {
    await Promise.all(this.#list.map((replica) => replica.close()));
  }

  #asked(ask: (replica: Replica) => Promise<void>): Promise<void> {
    const asked = Promise.all(this.#list.filter((replica) => replica.isUp).map(ask));
    return new Promise((resolve) => {
      const cancel = this.clock.after(RENEW_MS, resolve);
      void asked.then(() => {
        cancel();
        resolve();
      });
    });
  }
}
