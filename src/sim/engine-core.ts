import { lie } from './fault-effects.js';
import { FaultPlan, type FaultRule, faultGroup } from './faults.js';
import type { ShownGeneration } from './generation.js';
import { hashIds, mix, simLogprob } from './hash.js';
import { Ledger, type VersionSpan } from './ledger.js';
import { type Policy, PromptView, randomPolicy } from './policy.js';
import { PrefixCache } from './prefix-cache.js';
import { type PlannedOutput, planOutput, type SimRequest } from './sampling.js';
import { type JobEnd, type JobHandle, type LatencyModel, Scheduler } from './scheduler.js';
import type { SimVocabulary } from './vocabulary.js';

export interface CoreOptions {
  readonly seed: number;
  readonly modelName: string;
  readonly vocabulary: SimVocabulary;
  readonly policy: Policy;
  readonly latency: LatencyModel;
  readonly window: number;
  /** 0 = no prefix cache. */
  readonly cacheBlocks: number;
  readonly ledgerLimit: number;
  readonly faults: readonly FaultRule[];
}

/** A request that has been looked at: what will happen to it is decided. */
export interface Admitted {
  readonly request: SimRequest;
  readonly promptHash: number;
  readonly view: PromptView;
  readonly fault: FaultRule | null;
}

export interface Generated {
  readonly shown: ShownGeneration;
  readonly serial: number;
}

interface RunningCall {
  readonly requestId: string;
  readonly handle: () => JobHandle | null;
  /** Where each version of the weights began, in output tokens. */
  readonly versions: { readonly version: string; readonly start: number }[];
}

export interface Counters {
  requests: number;
  promptTokens: number;
  /** Every token that was sampled, whether its answer arrived or not. */
  sampledTokens: number;
  finished: number;
  aborted: number;
  /** Prompt tokens looked up in the prefix cache, and those found there. */
  prefixQueries: number;
  prefixHits: number;
  readonly faults: Record<string, number>;
}

/** Distinct prompts whose number of askings is remembered. */
const ATTEMPTS_LIMIT = 200_000;
const FALLBACK = randomPolicy();

/** The engine without its HTTP: policies, sampling, batching, prefix cache, weights' version, ledger and faults. */
export class EngineCore {
  readonly scheduler: Scheduler;
  readonly cache: PrefixCache | null;
  readonly ledger: Ledger;
  readonly faults: FaultPlan;
  readonly counters: Counters = {
    requests: 0,
    promptTokens: 0,
    sampledTokens: 0,
    finished: 0,
    aborted: 0,
    prefixQueries: 0,
    prefixHits: 0,
    faults: {},
  };
  weightVersion = 'default';
  policy: Policy;
  readonly #attempts = new Map<number, number>();
  readonly #calls = new Set<RunningCall>();

  constructor(readonly options: CoreOptions) {
    this.scheduler = new Scheduler(options.latency, options.window);
    this.cache = options.cacheBlocks > 0 ? new PrefixCache(options.cacheBlocks) : null;
    this.ledger = new Ledger(options.ledgerLimit);
    this.faults = new FaultPlan(options.seed, options.faults);
    this.policy = options.policy;
  }

  /** Counts the request and draws its fault. */
  admit(request: SimRequest): Admitted {
    const { seed, vocabulary } = this.options;
    const promptHash = hashIds(request.promptIds);
    const attempt = this.#attempts.get(promptHash) ?? 0;
    this.#attempts.set(promptHash, attempt + 1);
    if (this.#attempts.size > ATTEMPTS_LIMIT) this.#attempts.delete(this.#attempts.keys().next().value!);
    const view = new PromptView(request.promptIds, attempt, request.maxTokens, vocabulary, mix(mix(seed, promptHash), attempt));
    const fault = this.faults.draw({ promptHash, attempt, promptText: () => view.promptText });
    if (fault) this.counters.faults[fault.kind] = (this.counters.faults[fault.kind] ?? 0) + 1;
    this.counters.requests++;
    return { request, promptHash, view, fault };
  }

  /** Runs a request through the batch. `done` resolves when its last token is there or it was aborted. */
  generate(admitted: Admitted, route: string): { readonly done: Promise<Generated>; abort(): void } {
    const { request, fault } = admitted;
    const plan = this.#plan(admitted);
    const startedMs = performance.now();
    let handle: JobHandle | null = null;
    let cachedTokens = 0;
    const call: RunningCall = { requestId: request.requestId, handle: () => handle, versions: [] };
    this.#calls.add(call);
    const done = new Promise<Generated>((resolve) => {
      handle = this.scheduler.submit({
        outputTokens: plan.outputIds.length,
        admit: () => {
          cachedTokens = this.#lookUp(request);
          call.versions.push({ version: this.weightVersion, start: 0 });
          return request.promptIds.length - cachedTokens;
        },
        end: (how, produced) => {
          this.#calls.delete(call);
          const truth = this.#truth(
            admitted,
            plan,
            how,
            produced,
            spansOf(call.versions, produced),
            cachedTokens,
            performance.now() - startedMs,
          );
          const serial = this.#record(truth, route, fault);
          resolve({ serial, shown: fault ? lie(fault.kind, truth) : truth });
        },
      });
    });
    return { done, abort: () => handle?.abort() };
  }

  /** Ends matching requests with what they have; all of them without ids. */
  abort(ids: readonly string[] | null): number {
    const calls = [...this.#calls].filter((call) => ids === null || ids.includes(call.requestId));
    for (const call of calls) call.handle()?.abort();
    return calls.length;
  }

  isRunning(requestId: string): boolean {
    return [...this.#calls].some((call) => call.requestId === requestId);
  }

  /** Tokens sampled from now on belong to another version of the weights. */
  setWeightVersion(version: string): void {
    this.weightVersion = version;
    for (const call of this.#calls) {
      if (call.versions.length > 0) call.versions.push({ version, start: call.handle()?.produced ?? 0 });
    }
  }

  #plan({ request, view, fault }: Admitted): PlannedOutput {
    const plan = planOutput(this.policy(view) ?? FALLBACK(view)!, request, view);
    if (!fault || faultGroup(fault.kind) !== 'abort') return plan;
    const kept = fault.kind === 'abort_empty' ? 0 : Math.floor(plan.outputIds.length / 2);
    return { outputIds: plan.outputIds.slice(0, kept), finish: { reason: 'abort' } };
  }

  #lookUp({ promptIds, cacheSalt }: SimRequest): number {
    if (!this.cache) return 0;
    const cached = this.cache.cachedTokens(promptIds, cacheSalt);
    this.counters.prefixQueries += promptIds.length;
    this.counters.prefixHits += cached;
    return cached;
  }

  #truth(
    { request, promptHash }: Admitted,
    plan: PlannedOutput,
    how: JobEnd,
    produced: number,
    weightVersions: readonly VersionSpan[],
    cachedTokens: number,
    elapsedMs: number,
  ): ShownGeneration {
    const { seed, vocabulary, modelName } = this.options;
    const outputIds = plan.outputIds.slice(0, produced);
    return {
      request,
      requestId: request.requestId,
      outputIds,
      logprobIds: outputIds,
      logprobs: outputIds.map((id, position) => simLogprob(seed, promptHash, position, id)),
      finish: how === 'aborted' ? { reason: 'abort' } : plan.finish,
      promptTokens: request.promptIds.length,
      completionTokens: outputIds.length,
      cachedTokens,
      weightVersions,
      promptHash,
      model: modelName,
      vocabulary,
      elapsedMs,
    };
  }

  #record(truth: ShownGeneration, route: string, fault: FaultRule | null): number {
    const { request, outputIds, logprobs, finish, weightVersions, cachedTokens } = truth;
    const ids = Int32Array.from(outputIds ?? []);
    this.counters.promptTokens += request.promptIds.length;
    this.counters.sampledTokens += ids.length;
    if (finish.reason === 'abort') this.counters.aborted++;
    else this.counters.finished++;
    if (this.cache) {
      const all = new Int32Array(request.promptIds.length + ids.length);
      all.set(request.promptIds);
      all.set(ids, request.promptIds.length);
      this.cache.add(all, request.cacheSalt);
    }
    return this.ledger.add({
      requestId: request.requestId,
      route,
      promptIds: request.promptIds,
      outputIds: ids,
      logprobs: Float32Array.from(logprobs ?? [], Number),
      finish: finish.reason === 'stop' || finish.reason === 'length' ? finish : { reason: 'abort' },
      weightVersions,
      cachedTokens,
      fault: fault?.kind ?? null,
    });
  }
}

function spansOf(versions: RunningCall['versions'], produced: number): readonly VersionSpan[] {
  return versions
    .map(({ version, start }, i) => ({ version, start, end: Math.min(produced, versions[i + 1]?.start ?? produced) }))
    .filter((span) => span.end > span.start);
}
