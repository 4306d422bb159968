/** Questions to shards that wait for their answers. Each is settled once: answered, out of time, or given up with its shard. */
export class ShardAsks<Seat, Answer> {
  readonly #waiting = new Map<number, { readonly seat: Seat; readonly resolve: (answer: Answer) => void }>();
  #nextId = 1;

  /**
   * @param send tells the shard, by the question's name
   * @param waitMs after it the answer is `late()`; 0 waits for as long as the shard lives
   */
  ask(seat: Seat, send: (id: number) => void, waitMs = 0, late?: () => Answer): Promise<Answer> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const timer = late === undefined || waitMs === 0 ? undefined : setTimeout(() => this.settle(id, late()), waitMs);
      this.#waiting.set(id, {
        seat,
        resolve: (answer) => {
          clearTimeout(timer);
          resolve(answer);
        },
      });
      send(id);
    });
  }

  settle(id: number, answer: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.resolve(answer);
  }

  /** The shard's life is over. */
  giveUp(seat: Seat, answer: Answer): void {
    for (const [id, waiting] of this.#waiting) if (waiting.seat === seat) this.settle(id, answer);
  }
}
