import { randomBytes } from 'node:crypto';
import type { Engine, EngineProbe, GenerateRequest, GenerateResult, LogprobBasis } from '../engines/engine.js';
import type { EngineWork, PauseMode, ReplicaState } from '../shard/messages.js';
import { Dispatcher } from './dispatcher.js';
import type { EngineCall } from './engine-call.js';
import { Patience } from './patience.js';
import { type Clock, type PoolSettings, systemClock } from './pool-settings.js';
import { type PoolCounts, PoolStats } from './pool-stats.js';
import type { Replica } from './replica.js';
import { ReplicaSet } from './replica-set.js';
import { SharedCounters } from './shared-counters.js';
import { SpelledPrompts } from './spelled-prompts.js';
import { type PoolOutcome, type PoolRequest, type RunContext, TurnRun } from './turn-run.js';

export interface EnginePoolOptions {
  readonly engine: Engine;
  /** Root URLs of the replicas. */
  readonly urls: readonly string[];
  /** Counters of `urls`, the same in every shard; absent = 0, 1, 2, … */
  readonly slots?: readonly number[];
  readonly apiKey: string | null;
  readonly settings: PoolSettings;
  /** Ids are below it, in prompts and answers: the model's `vocab_size`, padding included. */
  readonly vocabularySize: number;
  /** What the server was started with where it differs from the engine's default. */
  readonly logprobBasis?: LogprobBasis;
  /** In-flight counts of all shards, `SharedCounters.bytes(shards)` long; absent = this pool is alone. */
  readonly sharedCounters?: SharedArrayBuffer;
  readonly shard?: { readonly index: number; readonly count: number };
  readonly clock?: Clock;
}

/** Bytes of spelled prompts that a pool keeps: the last ones of 40 sessions of 100k tokens, or of 400 of 10k. */
const SPELLED_BYTES_MAX = 48 * 1024 * 1024;

/** Samples from the replicas of one engine. Owns their connections; one pool per shard. */
export class EnginePool {
  readonly #replicas: ReplicaSet;
  readonly #running = new Set<EngineCall>();
  readonly #turns = new Set<TurnRun>();
  readonly #listeners = new Set<() => void>();
  readonly #stats = new PoolStats();
  readonly #spelled = new SpelledPrompts(SPELLED_BYTES_MAX);
  readonly #clock: Clock;
  readonly #dispatcher: Dispatcher;
  readonly #patience: Patience;
  readonly #context: RunContext;
  readonly #idPrefix = `rg-${randomBytes(6).toString('hex')}-`;
  #nextId = 0;
  #closed = false;
  #announcing = false;
  /** Counts pauses and resumptions: a resumption that was waited for is void when a pause came meanwhile. */
  #orders = 0;

  constructor(private readonly options: EnginePoolOptions) {
    const { engine, settings, shard = { index: 0, count: 1 } } = options;
    this.#clock = options.clock ?? systemClock;
    const buffer = options.sharedCounters ?? new SharedArrayBuffer(SharedCounters.bytes(shard.count));
    const counters = new SharedCounters(buffer, shard.index, shard.count);
    this.#replicas = new ReplicaSet(engine, options.apiKey, settings, this.#clock, counters, () => {
      this.#announce();
      this.#dispatcher.pump();
    });
    this.#dispatcher = new Dispatcher(settings, this.#clock, counters, shard.count, () => this.#replicas.list);
    this.#patience = new Patience(this.#clock);
    this.#context = {
      engine,
      settings,
      clock: this.#clock,
      dispatcher: this.#dispatcher,
      running: this.#running,
      turns: this.#turns,
      stats: this.#stats,
      spelled: this.#spelled,
      patience: this.#patience,
      newRequestId: () => this.#newRequestId(),
      finished: (result, version, replica) => this.#completed(result, version, replica),
    };
    for (const [at, url] of options.urls.entries()) this.#replicas.add(url, options.slots?.[at]);
  }

  /** Begins to probe all replicas, in the background and for as long as it takes. */
  start(): void {
    this.#replicas.watch();
  }

  /** What is known of every replica. `queued` counts the turns of this shard that wait for any of them. */
  states(): ReplicaState[] {
    return this.#replicas.list.map((replica) => replica.state(this.#dispatcher.queued));
  }

  /** What the first replica that is or was up said of itself, `null` before any was. */
  probe(): EngineProbe | null {
    return this.#replicas.probe;
  }

  counts(): PoolCounts {
    return this.#stats.counts();
  }

  /** Calls back after states changed, once per tick; returns what ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Samples once. Resolves with a result or the failure that was left when the retries were spent; a cancelled call may
   * still bring a result, whole or ended by `abort`. Never rejects for anything that an engine does. The prompt's ids are copied
   * before this returns.
   */
  async generate(request: PoolRequest): Promise<PoolOutcome> {
    const { vocabularySize } = this.options;
    const { model, sampling, topLogprobs, routingKey } = request;
    const spelled = this.#spelled.take(request.sessionId);
    const known = spelled.become(request.promptIds);
    const whole: Omit<GenerateRequest, 'requestId'> = {
      model,
      promptIds: spelled.ids,
      vocabularySize,
      sampling,
      topLogprobs,
      routingKey,
    };
    const wrong = wrongId(request.promptIds, known, vocabularySize);
    if (wrong === null) return new TurnRun(this.#context, request, whole, spelled).run();
    const failure = { kind: 'bad_request', message: wrong, status: null, retryAfterMs: null } as const;
    return { ok: false, failure, replica: null, queueMs: 0, engineMs: 0, attempts: 0, firstTokenMs: null };
  }

  /** The session is over: what was kept to make its next call cheap is dropped. */
  forget(sessionId: string): void {
    this.#spelled.forget(sessionId);
    this.#dispatcher.forget(sessionId);
  }

  /**
   * Sends nothing more until {@link resume}; waiting turns go on waiting. Resolves when no call is running, for `keep` without
   * waiting for one, and when what replicas are telling of their weights was told before others are loaded.
   */
  async pause(mode: PauseMode): Promise<void> {
    this.#orders++;
    this.#dispatcher.setPaused(true);
    // What an engine keeps is silent for as long as the pause lasts.
    this.#patience.hold(mode === 'keep');
    this.#announce();
    if (mode === 'abort') for (const call of this.#running) call.abort();
    await this.#replicas.probed();
    if (mode === 'keep') return;
    while (this.#running.size > 0 && this.#dispatcher.paused) await Promise.race([...this.#running].map((call) => call.ended));
  }

  /**
   * Sends again. `weightVersion` stamps samples of engines that do not say theirs; without it the replicas are asked first, so that
   * no sample gets the version of before.
   */
  async resume(weightVersion?: string): Promise<void> {
    const order = ++this.#orders;
    if (weightVersion !== undefined) this.#replicas.named(weightVersion);
    const renewed = this.#replicas.renewed();
    if (weightVersion === undefined) await renewed;
    if (order !== this.#orders) return;
    this.#dispatcher.setPaused(false);
    this.#patience.hold(false);
    this.#announce();
  }

  /** Calls, and turns by the oldest weights they have tokens of. */
  work(): EngineWork {
    const running = new Map<string | null, number>();
    let waiting = 0;
    for (const { oldestVersion } of this.#turns) {
      if (oldestVersion === undefined) waiting++;
      else running.set(oldestVersion, (running.get(oldestVersion) ?? 0) + 1);
    }
    return { calls: this.#running.size, waiting, running: [...running].map(([version, turns]) => ({ weightVersion: version, turns })) };
  }

  get paused(): boolean {
    return this.#dispatcher.paused;
  }

  /** @throws GatewayError as {@link ReplicaSet.add} */
  addReplica(url: string, slot?: number): void {
    this.#replicas.add(url, slot);
    this.#announce();
  }

  /** The replica gets no more calls; its running ones end first. `false` = there is none. */
  async removeReplica(url: string): Promise<boolean> {
    const replica = this.#replicas.take(url);
    if (replica === null) return false;
    this.#announce();
    for (;;) {
      const running = [...this.#running].filter((call) => call.replica === replica);
      if (running.length === 0) break;
      await Promise.all(running.map((call) => call.ended));
    }
    await replica.close();
    return true;
  }

  /** Waiting turns fail as `cancelled`, running calls are cut. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#dispatcher.close({ kind: 'cancelled', message: 'the engine pool is closed', status: null, retryAfterMs: null });
    await this.#replicas.close();
  }

  /** All of one length: SGLang before 0.5 aborts by prefix. */
  #newRequestId(): string {
    return this.#idPrefix + (this.#nextId++).toString(36).padStart(8, '0');
  }

  /** Without a word of the engine a sample has the weights it was sent with; that others came into force meanwhile is said in a flag. */
  #completed(result: GenerateResult, version: string | null, replica: Replica): GenerateResult {
    const logprobBasis = this.options.logprobBasis ?? result.logprobBasis;
    const length = result.outputIds.length;
    if (result.weightVersions.length > 0 || version === null || length === 0)
      return logprobBasis === result.logprobBasis ? result : { ...result, logprobBasis };
    const flags = replica.weightVersion !== version ? [...result.flags, 'weights_changed'] : result.flags;
    return { ...result, logprobBasis, flags, weightVersions: [{ version, start: 0, end: length }] };
  }

  #announce(): void {
    if (this.#announcing) return;
    this.#announcing = true;
    queueMicrotask(() => {
      this.#announcing = false;
      for (const listener of this.#listeners) listener();
    });
  }
}

/** What is wrong with a prompt from `start` on, `null` = nothing. An id out of the vocabulary kills some servers. */
function wrongId(ids: Int32Array, start: number, vocabularySize: number): string | null {
  if (ids.length === 0) return 'the prompt has no token';
  for (let index = start; index < ids.length; index++) {
    const id = ids[index]!;
    if (id < 0 || id >= vocabularySize)
      return `token id ${id} at ${index} of the prompt is not below the vocabulary size ${vocabularySize}`;
  }
  return null;
}
