/** How long an engine takes. All zero: a generation is done at once. */
export interface LatencyModel {
  readonly prefillTokensPerS: number;
  /** Duration of a decode step of one sequence. */
  readonly decodeStepMs: number;
  /** What each further sequence in the batch adds to a step. */
  readonly decodeStepPerSequenceMs: number;
  /** Prompt tokens that one step may prefill. */
  readonly prefillChunkTokens: number;
}

export const NO_LATENCY: LatencyModel = { prefillTokensPerS: 0, decodeStepMs: 0, decodeStepPerSequenceMs: 0, prefillChunkTokens: 0 };

/** About what a 7B model on one large GPU does: 10,000 tokens/s with 256 sequences, 40,000 prompt tokens/s. */
export const GPU_LATENCY: LatencyModel = {
  prefillTokensPerS: 40_000,
  decodeStepMs: 9,
  decodeStepPerSequenceMs: 0.064,
  prefillChunkTokens: 4096,
};

export type JobEnd = 'finished' | 'aborted';

/** One generation in the engine. */
export interface Job {
  readonly outputTokens: number;
  /** Called when a slot is free: the prompt tokens that must be computed. */
  admit(): number;
  /** Called once. */
  end(how: JobEnd, producedTokens: number): void;
}

export interface JobHandle {
  /** Output tokens so far. */
  readonly produced: number;
  abort(): void;
}

interface Slot extends JobHandle {
  readonly job: Job;
  produced: number;
  prefillLeft: number;
}

/**
 * Continuous batching: up to `window` sequences run, others wait in order. Each step prefills a chunk of the oldest
 * prompts and decodes one token of every sequence that has its prompt. Steps are counted on a virtual clock that follows
 * the real one, so that late timers do not slow the engine down.
 */
export class Scheduler {
  readonly #waiting: Slot[] = [];
  readonly #running = new Set<Slot>();
  readonly #idle: (() => void)[] = [];
  #paused = false;
  #held = false;
  #stepping = false;
  #clockMs = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Sum over all steps of duration × share of the window that was decoding or prefilling. */
  busyMs = 0;
  steppedMs = 0;
  maxRunning = 0;
  /** Output tokens so far, those of unfinished requests included. */
  decodedTokens = 0;

  constructor(
    readonly latency: LatencyModel,
    /** 0 = no limit. */
    readonly window: number,
  ) {}

  get running(): number {
    return this.#running.size;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get paused(): boolean {
    return this.#paused;
  }

  submit(job: Job): JobHandle {
    const slot: Slot = { job, produced: 0, prefillLeft: 0, abort: () => this.#abort(slot) };
    this.#waiting.push(slot);
    this.#advance();
    return slot;
  }

  handles(): readonly JobHandle[] {
    return [...this.#running, ...this.#waiting];
  }

  /** Freezes everything: running sequences keep what they have, new ones wait. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#held = false;
    this.#clockMs = performance.now();
    this.#advance();
  }

  /** Takes no new sequences into the batch, lets the running ones end, and then pauses. */
  async pauseWhenDrained(): Promise<void> {
    this.#held = true;
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    if (this.#held) this.#paused = true;
    this.#held = false;
  }

  /** Fills the batch and lets it run. */
  #advance(): void {
    this.#fill();
    if (this.#timer !== null || this.#stepping) return;
    this.#stepping = true;
    while (this.#running.size > 0 && !this.#paused) {
      const aheadMs = this.#clockMs - performance.now();
      if (aheadMs > 0.5) {
        this.#timer = setTimeout(() => {
          this.#timer = null;
          this.#advance();
        }, aheadMs);
        break;
      }
      this.#oneStep();
      this.#fill();
    }
    this.#stepping = false;
  }

  #fill(): void {
    if (this.#paused || this.#held) return;
    while (this.#waiting.length > 0 && (this.window === 0 || this.#running.size < this.window)) {
      const slot = this.#waiting.shift()!;
      if (this.#running.size === 0) this.#clockMs = Math.max(this.#clockMs, performance.now());
      this.#running.add(slot);
      this.maxRunning = Math.max(this.maxRunning, this.#running.size);
      slot.prefillLeft = slot.job.admit();
      if (this.latency.decodeStepMs > 0) continue;
      slot.produced = slot.job.outputTokens;
      this.decodedTokens += slot.produced;
      this.#end(slot, 'finished');
    }
  }

  #oneStep(): void {
    const { latency } = this;
    let chunk = latency.prefillChunkTokens;
    let prefilled = 0;
    let decoded = 0;
    const done: Slot[] = [];
    const batch = this.#running.size;
    for (const slot of this.#running) {
      if (slot.prefillLeft > 0) {
        const part = Math.min(slot.prefillLeft, chunk);
        slot.prefillLeft -= part;
        chunk -= part;
        prefilled += part;
        continue;
      }
      decoded++;
      slot.produced++;
      if (slot.produced >= slot.job.outputTokens) done.push(slot);
    }
    const prefillMs = latency.prefillTokensPerS > 0 ? (prefilled / latency.prefillTokensPerS) * 1000 : 0;
    const decodeMs = decoded > 0 ? latency.decodeStepMs + (decoded - 1) * latency.decodeStepPerSequenceMs : 0;
    const stepMs = Math.max(prefillMs + decodeMs, 0.01);
    this.#clockMs += stepMs;
    this.decodedTokens += decoded;
    this.steppedMs += stepMs;
    this.busyMs += stepMs * (this.window === 0 ? 1 : batch / this.window);
    for (const slot of done) this.#end(slot, 'finished');
  }

  #abort(slot: Slot): void {
    this.#end(slot, 'aborted');
    this.#advance();
  }

  #end(slot: Slot, how: JobEnd): void {
    const waitingAt = this.#waiting.indexOf(slot);
    if (waitingAt >= 0) this.#waiting.splice(waitingAt, 1);
    else if (!this.#running.delete(slot)) return;
    slot.job.end(how, slot.produced);
    if (this.#running.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
