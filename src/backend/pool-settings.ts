/** What the pool needs to know; the whole settings object of the program fits. Times are in milliseconds. */
export interface PoolSettings {
  readonly window: { readonly initial: number; readonly min: number; readonly max: number };
  readonly limits: { readonly queue: number };
  readonly backend: {
    readonly retries: number;
    readonly holdMs: number;
    readonly connectTimeoutMs: number;
    readonly silenceTimeoutMs: number;
    readonly idleSocketMs: number;
    readonly probeIntervalMs: number;
    readonly probeDownMs: number;
  };
}

/** Time and chance, so that tests can hold them. */
export interface Clock {
  /** Milliseconds; only differences mean something. */
  now(): number;
  /** Calls back once; returns what cancels it. */
  after(ms: number, call: () => void): () => void;
  /** 0 to 1, 1 excluded. */
  random(): number;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};
