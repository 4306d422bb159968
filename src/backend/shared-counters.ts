/** Replicas that can be named over the life of a pool, removed ones included. */
export const REPLICA_SLOTS = 256;

/**
 * In-flight calls per replica, counted by all shards in one buffer, and who wants more of a replica: a column per shard, so that the
 * counts of a shard that died can be cleared. All shards must add and remove replicas in the same order.
 */
export class SharedCounters {
  readonly #cells: Int32Array;

  /** `shard` counts from 0; its column is cleared. */
  constructor(
    buffer: SharedArrayBuffer,
    private readonly shard: number,
    private readonly shards: number,
  ) {
    this.#cells = new Int32Array(buffer);
    for (let slot = 0; slot < REPLICA_SLOTS; slot++) {
      Atomics.store(this.#cells, this.#cell(slot), 0);
      this.setHungry(slot, false);
    }
  }

  static bytes(shards: number): number {
    return 2 * REPLICA_SLOTS * shards * Int32Array.BYTES_PER_ELEMENT;
  }

  take(slot: number): void {
    Atomics.add(this.#cells, this.#cell(slot), 1);
  }

  release(slot: number): void {
    Atomics.sub(this.#cells, this.#cell(slot), 1);
  }

  own(slot: number): number {
    return Atomics.load(this.#cells, this.#cell(slot));
  }

  /** Calls of all shards. */
  total(slot: number): number {
    let sum = 0;
    for (let shard = 0; shard < this.shards; shard++) sum += Atomics.load(this.#cells, slot * this.shards + shard);
    return sum;
  }

  /** Says to the other shards that calls wait here for a replica of which this shard has less than its share. */
  setHungry(slot: number, hungry: boolean): void {
    Atomics.store(this.#cells, this.#cell(REPLICA_SLOTS + slot), hungry ? 1 : 0);
  }

  othersHungry(slot: number): boolean {
    for (let shard = 0; shard < this.shards; shard++)
      if (shard !== this.shard && Atomics.load(this.#cells, (REPLICA_SLOTS + slot) * this.shards + shard) !== 0) return true;
    return false;
  }

  #cell(slot: number): number {
    return slot * this.shards + this.shard;
  }
}
