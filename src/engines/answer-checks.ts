import type { TokenLogprob } from '../canonical/turn.js';
import { ANSWER_LIES, type LieName } from './answer-lies.js';
import type { EngineFinish, EngineProbe, GenerateOutcome, GenerateRequest, LogprobBasis, WeightSpan } from './engine.js';
import { failed } from './engine-errors.js';

/** What a decoder read of an answer, before anything is believed. `null` = the answer does not have it. */
export interface AnswerDraft {
  readonly ids: ArrayLike<unknown> | null;
  /** As they came: numbers, `null`, or a spelling such as `"NaN"`. */
  readonly logprobs: ArrayLike<unknown> | null;
  /** Ids that stand beside the logprobs, a second witness. */
  readonly logprobIds: ArrayLike<unknown> | null;
  readonly topLogprobs: readonly (readonly TokenLogprob[])[] | null;
  /** `stop`, `length`, `abort`, `repetition`; anything else is not known. */
  readonly finish: string | null;
  readonly matched: number | string | null;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly cachedTokens: number | null;
  readonly weightVersions: readonly unknown[] | null;
  /** A version for the whole answer where there are no spans. */
  readonly weightVersion: string | null;
  /** The id of the request as the engine says it, without what it puts before it. */
  readonly requestId: string | null;
  /** The same as the engine's logs have it. */
  readonly engineRequestId: string | null;
}

/** The lists of an answer with one entry per token. */
export type TokenLists = Pick<AnswerDraft, 'ids' | 'logprobs' | 'logprobIds' | 'topLogprobs'>;

/** A logprob below it is a filler: -9999 of vLLM, -3.4e38 of SGLang. */
const CLAMPED = -9000;
/** Rounding of reduced precision can lift a certain token's logprob slightly above 0. */
const ROUNDING = 0.01;

/** Believes a draft or names the lie. Never throws. */
export function checkedAnswer(draft: AnswerDraft, request: GenerateRequest, probe: EngineProbe, basis: LogprobBasis): GenerateOutcome {
  const outcome = judged(draft, request, probe, basis);
  return outcome.ok ? outcome : { ok: false, failure: { ...outcome.failure, sampledTokens: draft.ids?.length ?? 0 } };
}

function judged(draft: AnswerDraft, request: GenerateRequest, probe: EngineProbe, basis: LogprobBasis): GenerateOutcome {
  if (probe.facts.echoesRequestId === true && draft.requestId !== request.requestId)
    return lie('wrong_request_id', `asked as ${request.requestId}, answered as ${draft.requestId ?? 'nothing'}`);
  const promptTokens = count(draft.promptTokens);
  if (promptTokens !== null && promptTokens !== request.promptIds.length)
    return lie('other_prompt', `${request.promptIds.length} sent, ${promptTokens} counted`);
  if (draft.ids === null) return lie('no_ids', 'the answer has no token ids');
  const outputIds = new Int32Array(draft.ids.length);
  for (let index = 0; index < outputIds.length; index++) {
    const id = draft.ids[index];
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= request.vocabularySize)
      return lie('id_out_of_vocabulary', `id ${String(id)} at ${index}, vocabulary ${request.vocabularySize}`);
    outputIds[index] = id;
  }
  const finish = finishOf(draft);
  if (finish === null) return lie('unknown_finish', `finish reason ${JSON.stringify(draft.finish)}`);
  const ending = endingLie(outputIds, finish, request);
  if (ending !== null) return ending;
  const flags: string[] = draft.finish === 'repetition' ? ['repetition'] : [];
  if (draft.logprobs === null) {
    if (outputIds.length > 0) return lie('missing_logprobs', `${outputIds.length} ids came without logprobs`);
  } else if (draft.logprobs.length !== outputIds.length) {
    const name = draft.logprobs.length < outputIds.length ? 'fewer_logprobs' : 'more_logprobs';
    return lie(name, `${outputIds.length} ids, ${draft.logprobs.length} logprobs`);
  }
  const disagreement = draft.logprobIds === null ? -1 : firstDisagreement(outputIds, draft.logprobIds);
  if (disagreement >= 0)
    return lie('ids_disagree', `at ${disagreement}: ${outputIds[disagreement]} and ${String(draft.logprobIds?.[disagreement])}`);
  const logprobs = new Float32Array(outputIds.length);
  let unknownLogprobs = 0;
  for (let index = 0; index < logprobs.length; index++) {
    const value = logprobValue(draft.logprobs?.[index]);
    logprobs[index] = value;
    if (Number.isNaN(value)) unknownLogprobs++;
  }
  if (unknownLogprobs > 0 && draft.logprobs !== null && hasPositive(draft.logprobs)) flags.push('positive_logprob');
  const completionTokens = count(draft.completionTokens);
  if ([draft.promptTokens, draft.completionTokens, draft.cachedTokens].some((value) => value !== null && count(value) === null))
    flags.push('negative_usage');
  if (completionTokens !== null && completionTokens !== outputIds.length) flags.push('usage_disagrees');
  const topLogprobs = request.topLogprobs > 0 ? draft.topLogprobs : null;
  if (request.topLogprobs > 0 && topLogprobs === null) flags.push('missing_alternatives');
  const { totalTokensMax = probe.contextTokens } = probe.facts;
  const contextFull = typeof totalTokensMax === 'number' && request.promptIds.length + outputIds.length >= totalTokensMax;
  if (finish.kind === 'length' && outputIds.length < request.sampling.maxTokens && !contextFull) flags.push('early_length');
  if (draft.finish === 'stop' && draft.matched === null && endsOtherwise(outputIds, request)) flags.push('end_token_missing');
  const spans = weightSpans(draft, outputIds.length);
  if (spans === null) flags.push('bad_weight_spans');
  return {
    ok: true,
    result: {
      outputIds,
      logprobs,
      unknownLogprobs,
      topLogprobs,
      finish,
      cachedTokens: count(draft.cachedTokens),
      promptTokens,
      weightVersions: spans ?? [],
      engineRequestId: draft.engineRequestId,
      logprobBasis: basis,
      flags,
    },
  };
}

/** An answer that is not believed. The message names the lie of `ANSWER_LIES` and the values. */
export function lie(name: LieName, values: string): GenerateOutcome {
  return failed('invalid_answer', `the engine's answer is not usable (${name}: ${values}): ${ANSWER_LIES[name].meaning}`, 200);
}

function finishOf(draft: AnswerDraft): EngineFinish | null {
  switch (draft.finish) {
    case 'stop':
      return { kind: 'stop', matched: draft.matched };
    case 'repetition':
      return { kind: 'stop', matched: null };
    case 'length':
      return { kind: 'length' };
    case 'abort':
      return { kind: 'abort' };
    default:
      return null;
  }
}

function endingLie(ids: Int32Array, finish: EngineFinish, request: GenerateRequest): GenerateOutcome | null {
  if (ids.length === 0) return finish.kind === 'abort' ? null : lie('empty_answer', `finish ${finish.kind} with 0 tokens`);
  if (ids.length > request.sampling.maxTokens) return lie('too_many_tokens', `${ids.length} of ${request.sampling.maxTokens}`);
  if (finish.kind === 'stop' && typeof finish.matched === 'number' && ids[ids.length - 1] !== finish.matched)
    return lie('stop_token_missing', `stop token ${finish.matched}, last id ${ids[ids.length - 1]}`);
  const { stopTokenIds } = request.sampling;
  for (let index = 0; index < ids.length - 1; index++)
    if (stopTokenIds.includes(ids[index]!)) return lie('sampled_past_stop', `stop token ${ids[index]} at ${index} of ${ids.length}`);
  return null;
}

/** Stop tokens were asked for and none of them is the last id. */
function endsOtherwise(ids: Int32Array, { sampling }: GenerateRequest): boolean {
  return sampling.stopTokenIds.length > 0 && !sampling.stopTokenIds.includes(ids[ids.length - 1]!);
}

function firstDisagreement(ids: Int32Array, others: ArrayLike<unknown>): number {
  for (let index = 0; index < ids.length; index++) if (ids[index] !== others[index]) return index;
  return -1;
}

/** A logprob, NaN where the value is not one. */
export function logprobValue(value: unknown): number {
  if (typeof value !== 'number') return Number.NaN;
  return value > CLAMPED && value <= ROUNDING ? value : Number.NaN;
}

function hasPositive(values: ArrayLike<unknown>): boolean {
  for (let index = 0; index < values.length; index++) {
    const value = values[index];
    if (typeof value === 'number' && value > ROUNDING) return true;
  }
  return false;
}

const count = (value: number | null): number | null => (value !== null && Number.isInteger(value) && value >= 0 ? value : null);

/** Spans that cover the output in order; `null` where what came does not. */
function weightSpans(draft: AnswerDraft, length: number): readonly WeightSpan[] | null {
  if (length === 0) return [];
  if (draft.weightVersions === null || draft.weightVersions.length === 0)
    return draft.weightVersion === null ? [] : [{ version: draft.weightVersion, start: 0, end: length }];
  const spans: WeightSpan[] = [];
  let next = 0;
  for (const entry of draft.weightVersions) {
    const { version, start, end } = (entry ?? {}) as Record<string, unknown>;
    if (typeof version !== 'string' || start !== next || typeof end !== 'number' || !Number.isInteger(end) || end < next) return null;
    if (end > next) spans.push({ version, start: next, end });
    next = end;
  }
  return next === length ? spans : null;
}

/** Alternatives of one position: best first, each id once, at most `count`, unusable values left out. */
export function alternatives(entries: Iterable<readonly [id: number, logprob: unknown]>, count: number): readonly TokenLogprob[] {
  const byId = new Map<number, number>();
  for (const [id, raw] of entries) {
    const logprob = logprobValue(raw);
    if (Number.isInteger(id) && !Number.isNaN(logprob)) byId.set(id, logprob);
  }
  return [...byId]
    .map(([id, logprob]) => ({ id, logprob }))
    .sort((a, b) => b.logprob - a.logprob)
    .slice(0, count);
}
