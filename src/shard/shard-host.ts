import { MessageChannel, type MessagePort, type Transferable } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { FromShard, ToShard } from './messages.js';
import { Outbox } from './outbox.js';
import type { ShardStart } from './shard-start.js';

export interface ShardHostOptions {
  readonly index: number;
  /** Gives the start message of a new life; the epoch counts lives from 0. */
  readonly start: (epoch: number) => ShardStart;
  /** A shard whose pulse stands still this long is replaced. */
  readonly hangMs: number;
  /** 0 leaves the heap's size to Node. */
  readonly heapMb: number;
  readonly onMessage: (message: FromShard) => void;
  /** The life `epoch` ended by itself; the next one is already starting, or none where `isLast`. */
  readonly onDeath: (epoch: number, problem: string, isLast: boolean) => void;
}

/** A life shorter than this is followed by a pause. */
const REBIRTH_MS = 500;
/** So many lives in a row that ended before the shard was ever loaded mean that it cannot be. */
const FIRST_LIVES_MAX = 3;

/** What is said of a shard that cannot be loaded. */
export function neverBorn(index: number, problem: string, heapMb: number): string {
  const heap = heapMb === 0 ? '' : `; shard.heapMb is ${heapMb}, which may be too little for the model`;
  return `Cannot start shard ${index}: its thread ended ${FIRST_LIVES_MAX} times before it had loaded the model (${problem})${heap}.`;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * One shard as the front sees it: a Piscina pool of exactly one thread, whose only task is the shard's life, and a
 * message port to it. One pool of N threads would replace a crashed one silently and hand its sessions' calls to an empty map;
 * here the task's end is the thread's end, and the next life has a new epoch.
 *
 *     front ──arrays of ToShard──▶ port ──▶ Shard
 *           ◀──arrays of FromShard──
 */
export class ShardHost {
  #pool: Piscina;
  #port: MessagePort | null = null;
  #epoch = -1;
  readonly #outbox = new Outbox<ToShard>((messages, transfers) => this.#port?.postMessage(messages, transfers));
  #closing = false;
  #bornMs = 0;
  #loaded = false;
  #everLoaded = false;
  #rebirth: NodeJS.Timeout | undefined;
  #pulse = new Int32Array(new SharedArrayBuffer(4));
  readonly #watchdog: NodeJS.Timeout;

  constructor(private readonly options: ShardHostOptions) {
    this.#pool = this.#newPool();
    this.#live();
    this.#watchdog = this.#watch();
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Buffers in `transfers` must not be read afterwards. */
  send(message: ToShard, transfers: readonly Transferable[] = []): void {
    if (!this.#closing) this.#outbox.send(message, transfers);
  }

  /** For what the shard need not know at once. */
  sendUnhurried(message: ToShard): void {
    if (!this.#closing) this.#outbox.sendUnhurried(message);
  }

  /** Ends the thread; what it holds is gone. */
  async close(): Promise<void> {
    this.#outbox.flush();
    this.#closing = true;
    clearInterval(this.#watchdog);
    clearTimeout(this.#rebirth);
    this.#port?.close();
    await this.#pool.destroy();
  }

  /** A thread that ends while it starts is reported by an event, with the task still waiting: its pool is given up. */
  #newPool(): Piscina {
    const pool = new Piscina({
      filename: new URL('./shard-worker.js', import.meta.url).href,
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      atomics: 'disabled',
      ...(this.options.heapMb > 0 ? { resourceLimits: { maxOldGenerationSizeMb: this.options.heapMb } } : {}),
    });
    pool.on('error', (error: unknown) => {
      if (pool === this.#pool) this.#replacePool(messageOf(error));
    });
    return pool;
  }

  #replacePool(problem: string): void {
    const given = this.#pool;
    const epoch = this.#epoch;
    this.#pool = this.#newPool();
    this.#died(epoch, problem);
    // The task of the given-up pool rejects; its epoch is past, so nobody listens.
    given.destroy().catch(() => undefined);
  }

  #live(): void {
    if (this.#closing) return;
    this.#bornMs = Date.now();
    this.#loaded = false;
    this.#epoch += 1;
    const epoch = this.#epoch;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#outbox.drop();
    this.#pulse = new Int32Array(new SharedArrayBuffer(4));
    port1.on('message', (messages: readonly FromShard[]) => {
      for (const message of messages) {
        if (epoch !== this.#epoch) return;
        if (message.kind === 'ready') this.#loaded = this.#everLoaded = true;
        this.options.onMessage(message);
      }
    });
    const life = this.#pool.run({ start: this.options.start(epoch), port: port2, pulse: this.#pulse.buffer }, { transferList: [port2] });
    life.then(
      () => this.#died(epoch, 'it ended'),
      (error: unknown) => this.#died(epoch, messageOf(error)),
    );
  }

  #died(epoch: number, problem: string): void {
    if (this.#closing || epoch !== this.#epoch || this.#port === null) return;
    this.#port.close();
    this.#port = null;
    this.#loaded = false;
    const livedMs = Date.now() - this.#bornMs;
    const isLast = !this.#everLoaded && epoch + 1 >= FIRST_LIVES_MAX;
    this.options.onDeath(epoch, problem, isLast);
    if (isLast) return;
    // What cannot even start is not started again without pause.
    if (livedMs >= REBIRTH_MS) this.#live();
    else this.#rebirth = setTimeout(() => this.#live(), REBIRTH_MS - livedMs);
  }

  /** A thread that no longer turns its event loop cannot be asked to stop: it is terminated. Loading a model is such a standstill and allowed. */
  #watch(): NodeJS.Timeout {
    let seen = -1;
    let seenEpoch = -1;
    let stillMs = 0;
    const periodMs = Math.max(50, Math.min(1000, this.options.hangMs / 4));
    const timer = setInterval(() => {
      const pulse = Atomics.load(this.#pulse, 0);
      stillMs = pulse === seen && seenEpoch === this.#epoch && this.#loaded ? stillMs + periodMs : 0;
      seen = pulse;
      seenEpoch = this.#epoch;
      if (stillMs < this.options.hangMs || this.#closing) return;
      stillMs = 0;
      this.#replacePool(`it did not answer for ${this.options.hangMs} ms`);
    }, periodMs);
    timer.unref();
    return timer;
  }
}
