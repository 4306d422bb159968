/** Who wants to be told of one kind of event. */
export class Listeners {
  readonly #listeners = new Set<() => void>();

  /** The returned function ends it. */
  add(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
