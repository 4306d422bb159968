const SYMBOLS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const LENGTH = 8;
const ATTEMPTS_MAX = 100;

/**
 * Issues short ids of tool calls, no two alike in a session. Short, because clients print them into prompts; one form for all
 * protocols. Models that write ids of their own keep those.
 */
export class CallIds {
  readonly #issued = new Set<string>();

  /**
   * @param random uniform in [0, 1)
   * @throws RangeError when `random` gives nothing new
   */
  issue(random: () => number): string {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      let id = 'call_';
      for (let i = 0; i < LENGTH; i++) id += SYMBOLS[Math.floor(random() * SYMBOLS.length)];
      if (this.#issued.has(id)) continue;
      this.#issued.add(id);
      return id;
    }
    throw new RangeError(`No new call id in ${ATTEMPTS_MAX} attempts: the random source repeats itself`);
  }
}
