/** Questions to shards that wait for their answers. Each is settled once: answered, out of time, or given up with its shard. */
export class ShardAsks<Seat, Answer> {
  readonly #waiting = new Map<number, { readonly seat: Seat; readonly resolve: (answer: Answer) => void }>();

  /**
   * @param waitMs after it the answer is `late()`; 0 waits for as long as the shard lives
   * @param send tells the shard
   */
  ask(seat: Seat, id: number, send: () => void, waitMs = 0, late?: () => Answer): Promise<Answer> {
    return new Promise((resolve) => {
      const timer = late === undefined || waitMs === 0 ? undefined : setTimeout(() => this.settle(id, late()), waitMs);
      this.#waiting.set(id, {
        seat,
        resolve: (answer) => {
          clearTimeout(timer);
          resolve(answer);
        },
      });
      send();
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
