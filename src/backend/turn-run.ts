import type { Engine, EngineFailure, GenerateOutcome, GenerateRequest, GenerateResult } from '../engines/engine.js';
import type { SpelledIds } from '../engines/spelled-ids.js';
import type { CancelSignal } from './cancel.js';
import type { Dispatcher, Ticket } from './dispatcher.js';
import { type CallEnd, EngineCall } from './engine-call.js';
import { PartialOutput } from './partial-output.js';
import type { Patience } from './patience.js';
import type { Clock, PoolSettings } from './pool-settings.js';
import type { PoolStats } from './pool-stats.js';
import type { Replica } from './replica.js';
import type { SpelledPrompts } from './spelled-prompts.js';

const BACKOFF_BASE_MS = 200;
const BACKOFF_MAX_MS = 10_000;
/** How often a sample that the engine keeps aborting is gone on with. */
const CONTINUATIONS_MAX = 16;
/** An answer that makes no sense is asked for once more: a second lie is not chance. */
const INVALID_ANSWERS_MAX = 1;

export type PoolRequest = Omit<GenerateRequest, 'requestId' | 'vocabularySize' | 'spelled'> & {
  readonly sessionId: string;
  /** When the session began, in any clock that all callers share; older sessions are served first. Default: now. */
  readonly sessionSinceMs?: number;
  /** Frees the engine's work; the call then ends with what came or as `cancelled`. */
  readonly signal?: CancelSignal;
};

export type PoolOutcome = GenerateOutcome & {
  /** URL of the replica that was asked last, `null` = none was. */
  readonly replica: string | null;
  /** Time that was not spent at an engine. */
  readonly queueMs: number;
  readonly engineMs: number;
  readonly attempts: number;
  /** Answers come whole. */
  readonly firstTokenMs: null;
};

/** What a run needs of its pool. */
export interface RunContext {
  readonly engine: Engine;
  readonly settings: PoolSettings;
  readonly clock: Clock;
  readonly dispatcher: Dispatcher;
  readonly running: Set<EngineCall>;
  readonly turns: Set<TurnRun>;
  readonly stats: PoolStats;
  readonly spelled: SpelledPrompts;
  /** Stands still while engines are kept from sampling. */
  readonly patience: Patience;
  newRequestId(): string;
  /** A result with what the pool knows better than the answer; `version` = the weights when the call was sent. */
  finished(result: GenerateResult, version: string | null, replica: Replica): GenerateResult;
}

/** What to do after an attempt: `done` ends the turn, `again` asks for a place at once, `later` after a backoff. */
type Next = { readonly do: 'done'; readonly outcome: GenerateOutcome } | { readonly do: 'again' } | { readonly do: 'later' };

/** What held when a call was sent. */
interface SentState {
  readonly round: number;
  readonly full: boolean;
  readonly version: string | null;
}

const AGAIN: Next = { do: 'again' };
const LATER: Next = { do: 'later' };

/** One turn through as many attempts as it takes and the settings allow. At most one sample comes out of it. */
export class TurnRun {
  readonly #partial = new PartialOutput();
  readonly #ticket: Ticket;
  readonly #startedMs: number;
  #attempts = 0;
  #engineMs = 0;
  #failures = 0;
  #invalidAnswers = 0;
  #resetsForgiven = 0;
  #replica: Replica | null = null;
  #spelled: SpelledIds;
  /** The weights of the call that runs. */
  #sampling: { readonly version: string | null } | null = null;

  constructor(
    private readonly context: RunContext,
    private readonly request: PoolRequest,
    private readonly whole: Omit<GenerateRequest, 'requestId'>,
    spelled: SpelledIds,
  ) {
    this.#spelled = spelled;
    this.#startedMs = context.clock.now();
    this.#ticket = { sessionId: request.sessionId, sinceMs: request.sessionSinceMs ?? this.#startedMs, avoid: new Set(), heldMs: 0 };
  }

  /** The oldest weights that this turn has tokens of or is being sampled with; `undefined` = it has no token and no call. */
  get oldestVersion(): string | null | undefined {
    return this.#partial.length > 0 ? this.#partial.oldestVersion : this.#sampling?.version;
  }

  async run(): Promise<PoolOutcome> {
    const { turns } = this.context;
    turns.add(this);
    try {
      return await this.#run();
    } finally {
      turns.delete(this);
      if (this.request.signal?.aborted !== true) this.context.spelled.put(this.request.sessionId, this.#spelled);
    }
  }

  async #run(): Promise<PoolOutcome> {
    let hadPlace = false;
    for (;;) {
      const admission = await this.context.dispatcher.admit(this.#ticket, hadPlace, this.request.signal);
      if (!admission.ok) return this.#end(admission);
      hadPlace = true;
      const { replica, round, full } = admission;
      // A pause may have begun since the place was given.
      if (this.context.dispatcher.paused) {
        this.context.dispatcher.release(this.#ticket, replica);
        continue;
      }
      const overflow = this.#overflow(replica);
      if (overflow !== null) {
        this.context.dispatcher.release(this.#ticket, replica);
        return this.#end(this.#partial.length > 0 ? this.#endedByLength() : { ok: false, failure: overflow });
      }
      this.#replica = replica;
      this.#attempts++;
      const version = replica.weightVersion;
      this.#sampling = { version };
      const end = await this.#call(replica).finally(() => this.context.dispatcher.release(this.#ticket, replica));
      this.#engineMs += end.engineMs;
      const next =
        end.kind === 'broken' ? this.#afterBreak(end, replica) : this.#afterAnswer(end.outcome, replica, { round, full, version });
      this.#sampling = null;
      if (next.do === 'done') return this.#end(next.outcome);
      if (next.do === 'later') await this.#backoff();
    }
  }

  /** What an engine would refuse, in words that differ by engine and route, is refused here. */
  #overflow(replica: Replica): EngineFailure | null {
    const { contextTokens, facts } = replica.probe!;
    const length = this.whole.promptIds.length + this.#partial.length;
    const most = typeof facts.promptTokensMax === 'number' ? facts.promptTokensMax : contextTokens === null ? null : contextTokens - 1;
    if (most === null || length <= most) return null;
    const message = `the prompt has ${length} tokens and ${replica.url} takes at most ${most} (context ${contextTokens})`;
    return { kind: 'context_overflow', message, status: null, retryAfterMs: null };
  }

  async #call(replica: Replica): Promise<CallEnd> {
    const { engine, settings, clock, running, patience } = this.context;
    const probe = replica.probe!;
    const rest = this.#partial.rest(this.whole, probe.contextTokens);
    // Literals, here and in all that each turn passes: an object put together by spreading costs several times as much.
    const request: GenerateRequest = {
      requestId: this.context.newRequestId(),
      model: rest.model,
      promptIds: rest.promptIds,
      spelled: this.#spelled,
      vocabularySize: rest.vocabularySize,
      sampling: rest.sampling,
      topLogprobs: rest.topLogprobs,
      routingKey: rest.routingKey,
    };
    const call = new EngineCall(replica, engine, probe, request, settings.backend.silenceTimeoutMs, patience, clock);
    const { signal } = this.request;
    const abort = (): void => call.abort();
    running.add(call);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const end = call.run();
      if (signal?.aborted === true) call.abort();
      const ended = await end;
      // A socket that broke may still hold what it was given.
      if (ended.kind === 'broken') this.#spelled = this.context.spelled.fresh();
      return ended;
    } finally {
      running.delete(call);
      signal?.removeEventListener('abort', abort);
    }
  }

  #afterBreak(end: CallEnd & { kind: 'broken' }, replica: Replica): Next {
    const { error } = end;
    this.context.stats.broken(error.fault);
    if (this.request.signal?.aborted === true) return failedWith('cancelled', 'the caller cancelled the turn; the engine call was closed');
    this.#ticket.avoid.add(replica);
    if (error.fault === 'cut') return AGAIN;
    if (error.fault === 'unreachable') {
      replica.down(error.message);
      return AGAIN;
    }
    // A kept-alive connection that the server closed while we wrote: it has done nothing.
    if (error.fault === 'reset' && !error.answered && this.#resetsForgiven++ === 0) {
      this.#ticket.avoid.delete(replica);
      return AGAIN;
    }
    replica.suspect();
    return this.#failed({ kind: 'transient', message: error.message, status: null, retryAfterMs: null });
  }

  #afterAnswer(outcome: GenerateOutcome, replica: Replica, sent: SentState): Next {
    if (!outcome.ok) return this.#afterFailure(outcome.failure, replica, sent.round);
    replica.served(sent.full, outcome.result.weightVersions);
    const result = this.#stopped(this.context.finished(outcome.result, sent.version, replica));
    this.#partial.add(result);
    const cancelled = this.request.signal?.aborted === true;
    if (result.finish.kind !== 'abort' || cancelled) return { do: 'done', outcome: { ok: true, result: this.#partial.whole() } };
    this.context.stats.continued(result.outputIds.length);
    if (this.#partial.length >= this.whole.sampling.maxTokens) return this.#doneByLength();
    if (this.#partial.parts > CONTINUATIONS_MAX)
      return failedWith(
        'transient',
        `the engine aborted the request ${this.#partial.parts} times; the last attempt had ${this.#partial.length} tokens`,
      );
    return result.outputIds.length > 0 || this.context.dispatcher.paused ? AGAIN : LATER;
  }

  /** An abort that met the last token of a sample: there is nothing to go on with. */
  #stopped(result: GenerateResult): GenerateResult {
    const last = result.outputIds.at(-1);
    if (result.finish.kind !== 'abort' || last === undefined || !this.whole.sampling.stopTokenIds.includes(last)) return result;
    return { ...result, finish: { kind: 'stop', matched: last } };
  }

  #afterFailure(failure: EngineFailure, replica: Replica, round: number): Next {
    this.context.stats.failed(failure.kind);
    if (this.request.signal?.aborted === true) {
      const cancelled = { ...failure, kind: 'cancelled', message: 'the caller cancelled the turn' } as const;
      return { do: 'done', outcome: { ok: false, failure: cancelled } };
    }
    this.#ticket.avoid.add(replica);
    switch (failure.kind) {
      case 'overloaded':
        replica.overloaded(round, failure.retryAfterMs);
        return AGAIN;
      case 'down':
        replica.down(failure.message);
        return this.#failed(failure);
      case 'unauthorized':
        // A 403 can be about this prompt alone. A server that has another key now says 401 to every call, and by its haste would draw them all.
        if (failure.status !== 401) return { do: 'done', outcome: { ok: false, failure } };
        replica.down(failure.message);
        return this.#failed(failure);
      case 'transient':
        replica.suspect();
        return this.#failed(failure);
      case 'invalid_answer':
        if (this.#invalidAnswers++ >= INVALID_ANSWERS_MAX) return { do: 'done', outcome: { ok: false, failure } };
        this.context.stats.discarded('invalid_answer', failure.sampledTokens ?? 0);
        return AGAIN;
      case 'context_overflow':
        // The tokens sampled before an abort fill the context: nothing is left to sample.
        return this.#partial.length > 0 ? this.#doneByLength() : { do: 'done', outcome: { ok: false, failure } };
      default:
        return { do: 'done', outcome: { ok: false, failure } };
    }
  }

  #failed(failure: EngineFailure): Next {
    return this.#failures++ < this.context.settings.backend.retries ? LATER : { do: 'done', outcome: { ok: false, failure } };
  }

  #doneByLength(): Next {
    return { do: 'done', outcome: this.#endedByLength() };
  }

  #endedByLength(): GenerateOutcome {
    return { ok: true, result: { ...this.#partial.whole(), finish: { kind: 'length' } } };
  }

  /** Waits a jittered, growing time; a cancelled turn waits no longer. */
  #backoff(): Promise<void> {
    const { clock } = this.context;
    const limitMs = Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** Math.max(0, this.#failures - 1));
    return new Promise((resolve) => {
      const { signal } = this.request;
      const done = (): void => {
        cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const cancel = clock.after(limitMs * (0.5 + clock.random() / 2), done);
      signal?.addEventListener('abort', done, { once: true });
      if (signal?.aborted === true) done();
    });
  }

  /** A failed turn answers for what its earlier calls had sampled too. */
  #withAllTokens(failure: EngineFailure): EngineFailure {
    return this.#partial.length === 0 ? failure : { ...failure, sampledTokens: (failure.sampledTokens ?? 0) + this.#partial.length };
  }

  #end(last: GenerateOutcome): PoolOutcome {
    const totalMs = this.context.clock.now() - this.#startedMs;
    const replica = this.#replica?.url ?? null;
    const engineMs = this.#engineMs;
    const queueMs = Math.max(0, totalMs - engineMs);
    const attempts = this.#attempts;
    return last.ok
      ? { ok: true, result: last.result, replica, queueMs, engineMs, attempts, firstTokenMs: null }
      : { ok: false, failure: this.#withAllTokens(last.failure), replica, queueMs, engineMs, attempts, firstTokenMs: null };
  }
}

const failedWith = (kind: EngineFailure['kind'], message: string): Next => ({
  do: 'done',
  outcome: { ok: false, failure: { kind, message, status: null, retryAfterMs: null } },
});
