import type { Engine, EngineHttp, EngineHttpRequest, EngineHttpResponse, EngineProbe, WeightSpan } from '../engines/engine.js';
import { GatewayError } from '../errors.js';
import type { ReplicaState } from '../shard/messages.js';
import type { Clock, PoolSettings } from './pool-settings.js';
import { ReplicaHttp } from './replica-http.js';
import type { SharedCounters } from './shared-counters.js';
import { TransportError } from './transport-error.js';
import { Window } from './window.js';

/** The first sample with logprobs compiles kernels on some builds. */
const PROBE_SILENCE_MS = 60_000;
const HEALTH_SILENCE_MS = 10_000;
/** Health checks of a busy server may time out; so many in a row, without a sample between, mean that it is down. */
const SILENT_CHECKS_MAX = 3;
/** Waiting between probes grows up to this multiple. */
const PROBE_BACKOFF_MAX = 5;
const OVERLOAD_BASE_MS = 100;
const OVERLOAD_MAX_MS = 10_000;

/** One engine address: what is known of it, whether it may be used, and the loop that finds out. */
export class Replica {
  readonly http: ReplicaHttp;
  readonly window: Window;
  #state: ReplicaState['state'] = 'starting';
  #probe: EngineProbe | null = null;
  #problem: string | null = 'it has not answered yet';
  #closed = false;
  #cancelTimer: () => void = () => {};
  #failedProbes = 0;
  #silentChecks = 0;
  #overloads = 0;
  #restUntilMs = 0;
  #lastSampleMs = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | null = null;
  #wasFull = false;
  /** A call has failed since the last sample or check. */
  #suspected = false;
  /** The version that it told last, `null` = none since the trainer named one. */
  #toldVersion: string | null = null;
  #weightVersion: string | null = null;

  constructor(
    readonly url: string,
    readonly slot: number,
    private readonly engine: Engine,
    apiKey: string | null,
    private readonly settings: PoolSettings,
    private readonly clock: Clock,
    private readonly counters: SharedCounters,
    private readonly changed: () => void,
  ) {
    this.http = new ReplicaHttp(url, apiKey, settings, clock);
    this.window = new Window(settings.window);
  }

  get probe(): EngineProbe | null {
    return this.#probe;
  }

  get isUp(): boolean {
    return this.#state === 'up';
  }

  get problem(): string | null {
    return this.#problem;
  }

  /** The version of its weights: what it told or the trainer named last, `null` = neither. */
  get weightVersion(): string | null {
    return this.#weightVersion;
  }

  /** When it may be asked again after an overload, in the clock's time. */
  get restUntilMs(): number {
    return this.#restUntilMs;
  }

  state(queued: number): ReplicaState {
    return {
      url: this.url,
      state: this.#state,
      version: this.#probe?.version ?? null,
      route: this.#probe?.route ?? null,
      weightVersion: this.#weightVersion,
      inFlight: this.counters.total(this.slot),
      queued,
      window: this.window.size,
      problem: this.#problem,
    };
  }

  /** Probes at once and from then on by itself. */
  watch(): void {
    this.#schedule(0);
  }

  /** Resolves when a probe that is under way is over. */
  async probed(): Promise<void> {
    await this.#asking;
  }

  /** Asks again what the server is, after its weights or the server itself may have changed. */
  async refresh(): Promise<void> {
    // A probe that is under way may have read what held before.
    await this.#asking;
    await this.#ask();
    if (!this.isUp && !this.#closed) this.#schedule(this.#probeDelayMs());
  }

  /** The trainer's name for the weights that it has now. */
  named(version: string): void {
    this.#weightVersion = version;
    // What it tells next is its own word for the same weights.
    this.#toldVersion = null;
    this.changed();
  }

  /** A name stands until the server tells of other weights than it did before. */
  #told(version: string | null): void {
    if (version === null || version === this.#toldVersion) return;
    if (this.#toldVersion !== null || this.#weightVersion === null) this.#weightVersion = version;
    this.#toldVersion = version;
    this.changed();
  }

  /** A call was answered with a sample; the last of its weight versions is the newest that is known. */
  served(full: boolean, versions: readonly WeightSpan[]): void {
    this.#told(versions[versions.length - 1]?.version ?? null);
    this.#suspected = false;
    this.#lastSampleMs = this.clock.now();
    this.#wasFull ||= full;
    this.#overloads = 0;
    this.#silentChecks = 0;
    this.window.served(full);
  }

  /** A call was refused for load: a smaller window, and no call before the time it names or a growing, jittered one. */
  overloaded(round: number, retryAfterMs: number | null): void {
    this.window.refused(round);
    const backoffMs = Math.min(OVERLOAD_MAX_MS, OVERLOAD_BASE_MS * 2 ** this.#overloads) * (0.5 + this.clock.random() / 2);
    this.#overloads = Math.min(this.#overloads + 1, 16);
    this.#restUntilMs = Math.max(this.#restUntilMs, this.clock.now() + Math.max(retryAfterMs ?? 0, backoffMs));
  }

  /** No connection, or the server said that its engine is dead or its route gone: out until a probe succeeds. */
  down(problem: string): void {
    if (this.#closed || this.#state !== 'up') return;
    this.#set('down', problem);
    this.#failedProbes = 0;
    this.#schedule(this.#probeDelayMs());
  }

  /** Something failed; ask soon whether the server is well. */
  suspect(): void {
    if (this.#state !== 'up' || this.#suspected) return;
    this.#suspected = true;
    this.#schedule(0);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelTimer();
    await this.http.destroy();
  }

  #schedule(ms: number): void {
    this.#cancelTimer();
    if (!this.#closed) this.#cancelTimer = this.clock.after(ms, () => void this.#tick());
  }

  async #tick(): Promise<void> {
    if (this.#state === 'up') {
      await this.#check();
      await this.#readLoad();
    } else await this.#ask();
    if (this.#closed) return;
    this.#schedule(this.isUp ? this.settings.backend.probeIntervalMs : this.#probeDelayMs());
  }

  #probeDelayMs(): number {
    const { probeDownMs } = this.settings.backend;
    return probeDownMs * Math.min(PROBE_BACKOFF_MAX, 1.5 ** this.#failedProbes) * (0.75 + this.clock.random() / 2);
  }

  /** Sends again when a connection ended before any byte: a kept-alive one that the server closed says nothing of its health. */
  async #send(request: EngineHttpRequest, silenceMs: number): Promise<EngineHttpResponse> {
    try {
      return await this.http.send(request, { silenceMs });
    } catch (error) {
      if (error instanceof TransportError && error.fault === 'reset' && !error.answered) return this.http.send(request, { silenceMs });
      throw error;
    }
  }

  /** A health call, spared when samples arrived in the meantime and nothing failed after them. */
  async #check(): Promise<void> {
    if (!this.#suspected && this.clock.now() - this.#lastSampleMs < this.settings.backend.probeIntervalMs / 2) return;
    this.#suspected = false;
    try {
      const response = await this.#send(this.engine.health(), HEALTH_SILENCE_MS);
      this.#silentChecks = 0;
      if (response.status !== 200) this.down(`answers ${response.status} to its health check`);
    } catch (error) {
      if (this.#closed || !(error instanceof TransportError)) return;
      if (error.fault === 'silent' && ++this.#silentChecks < SILENT_CHECKS_MAX) return;
      this.down(error.message);
    }
  }

  /** A replica whose window was full may have been sent too much: it is asked how many calls wait in it. */
  async #readLoad(): Promise<void> {
    if (!this.#wasFull || this.#closed || !this.isUp) return;
    this.#wasFull = false;
    try {
      const load = this.engine.readLoad(await this.#send(this.engine.load(), HEALTH_SILENCE_MS));
      if (load !== null) this.window.queued(load.waiting, this.counters.total(this.slot));
    } catch (error) {
      // Health is another call's matter.
      if (!(error instanceof TransportError)) throw error;
    }
  }

  #ask(): Promise<void> {
    this.#asking ??= this.#probeOnce().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #probeOnce(): Promise<void> {
    if (this.#closed) return;
    const http: EngineHttp = (request) => this.#send(request, PROBE_SILENCE_MS);
    try {
      this.#probe = await this.engine.probe(http);
      this.#told(this.#probe.weightVersion);
      this.#failedProbes = 0;
      this.#silentChecks = 0;
      this.#set('up', null);
    } catch (error) {
      // A server that is paused for new weights answers its health check and keeps a probing sample waiting.
      const isPaused = this.isUp && error instanceof TransportError && error.fault === 'silent';
      if (this.#closed || isPaused) return;
      this.#failedProbes++;
      const problem =
        error instanceof TransportError || error instanceof GatewayError ? error.message : `the probe failed: ${String(error)}`;
      this.#set(this.#probe === null ? 'starting' : 'down', problem);
    }
  }

  #set(state: ReplicaState['state'], problem: string | null): void {
    this.#state = state;
    this.#problem = problem;
    this.changed();
  }
}
