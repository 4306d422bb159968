/**
 * Keys that are refused for a while after their session ended, so that a straggler does not reopen it. Bounded: the oldest
 * key goes first.
 */
export class ClosedKeys {
  readonly #until = new Map<string, number>();

  constructor(
    private readonly ttlMs: number,
    private readonly max: number,
  ) {}

  get size(): number {
    return this.#until.size;
  }

  add(key: string, nowMs: number): void {
    this.#until.delete(key);
    if (this.ttlMs === 0) return;
    this.#until.set(key, nowMs + this.ttlMs);
    for (const [oldest, untilMs] of this.#until) {
      if (untilMs > nowMs && this.#until.size <= this.max) break;
      this.#until.delete(oldest);
    }
  }

  has(key: string, nowMs: number): boolean {
    const untilMs = this.#until.get(key);
    if (untilMs === undefined) return false;
    if (untilMs > nowMs) return true;
    this.#until.delete(key);
    return false;
  }

  delete(key: string): void {
    this.#until.delete(key);
  }
}
