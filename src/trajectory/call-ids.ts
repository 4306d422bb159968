const SYMBOLS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const LENGTH = 8;

/**
 * Issues short ids of tool calls, no two alike in a session. Short, because clients print them into prompts; one form for all
 * protocols. Models that write ids of their own keep those.
 */
export class CallIds {
  readonly #issued = new Set<string>();

  /** @param random uniform in [0, 1) */
  issue(random: () => number): string {
    for (;;) {
      let id = 'call_';
      for (let i = 0; i < LENGTH; i++) id += SYMBOLS[Math.floor(random() * SYMBOLS.length)];
      if (this.#issued.has(id)) continue;
      this.#issued.add(id);
      return id;
    }
  }
}
