/** vLLM's token route, `POST /inference/v1/generate`, of versions 0.12 to 0.32. */
import type { TokenLogprob } from '../canonical/turn.js';
import { type AnswerDraft, alternatives } from './answer-checks.js';
import { arrayMember, member, numberMember, stringMember } from './answer-json.js';
import type { EngineHttpRequest, EngineProbe, GenerateRequest } from './engine.js';
import { jsonHeaders, requestBody } from './request-body.js';
import { vllmSampling } from './vllm-sampling.js';

export const GENERATE_PATH = '/inference/v1/generate';
export const ABORT_PATH = '/inference/v1/abort_requests';
/** What the server puts before the id of the request, in answers and for aborts. */
export const REQUEST_ID_PREFIX = 'generate-tokens-';
/** Its default for `--max-logprobs`; more is refused with 400. */
const LOGPROBS_MAX = 20;

export function encodeGenerate(request: GenerateRequest, probe: EngineProbe): EngineHttpRequest {
  const model = request.model ?? probe.model;
  const head = {
    request_id: request.requestId,
    ...(model === null ? {} : { model }),
    sampling_params: {
      ...vllmSampling(request.sampling),
      // Stop strings need the text; without them the server is spared making it.
      detokenize: request.sampling.stopStrings.length > 0,
      logprobs: logprobCount(request.topLogprobs, probe),
    },
    stream: false,
  };
  return { method: 'POST', path: GENERATE_PATH, headers: jsonHeaders(request.routingKey), body: requestBody(head, 'token_ids', request) };
}

/** The server counts the sampled token among its `logprobs` entries, so one more brings the whole top. */
function logprobCount(topLogprobs: number, probe: EngineProbe): number {
  const least = probe.facts.logprobsAtLeast === 1 ? 1 : 0;
  return topLogprobs === 0 ? least : Math.min(topLogprobs + 1, LOGPROBS_MAX);
}

/** `null` where the body has not exactly one choice. */
export function draftOfGenerate(body: unknown, request: GenerateRequest): AnswerDraft | null {
  const choices = arrayMember(body, 'choices');
  if (choices === null || choices.length !== 1) return null;
  const choice = choices[0];
  const entries = arrayMember(member(choice, 'logprobs'), 'content');
  const entryIds = entries?.map(entryId) ?? null;
  const usage = member(body, 'usage');
  const stopReason = member(choice, 'stop_reason');
  const id = stringMember(body, 'request_id');
  return {
    ids: arrayMember(choice, 'token_ids'),
    logprobs: entries?.map((entry) => member(entry, 'logprob')) ?? null,
    // Text instead of ids is no second witness.
    logprobIds: entryIds?.every(Number.isNaN) ? null : entryIds,
    topLogprobs: request.topLogprobs === 0 ? null : topOf(entries, request.topLogprobs),
    finish: stringMember(choice, 'finish_reason'),
    matched: typeof stopReason === 'number' || typeof stopReason === 'string' ? stopReason : null,
    promptTokens: numberMember(usage, 'prompt_tokens'),
    completionTokens: numberMember(usage, 'completion_tokens'),
    cachedTokens: numberMember(member(usage, 'prompt_tokens_details'), 'cached_tokens'),
    weightVersions: arrayMember(choice, 'weight_versions'),
    weightVersion: null,
    requestId: id?.startsWith(REQUEST_ID_PREFIX) ? id.slice(REQUEST_ID_PREFIX.length) : id,
    engineRequestId: id,
  };
}

/** The id as a number (0.32) or from the text `token_id:N` (before). */
function entryId(entry: unknown): number {
  return numberMember(entry, 'token_id') ?? idOfText(stringMember(entry, 'token'));
}

/** N of `token_id:N`, NaN for another text. */
export function idOfText(text: string | null): number {
  return text?.startsWith('token_id:') ? Number(text.slice('token_id:'.length)) : Number.NaN;
}

/** `null` where an entry has no alternatives. */
function topOf(entries: readonly unknown[] | null, count: number): readonly (readonly TokenLogprob[])[] | null {
  const lists: (readonly TokenLogprob[])[] = [];
  for (const entry of entries ?? []) {
    const top = arrayMember(entry, 'top_logprobs');
    if (top === null) return null;
    lists.push(
      alternatives(
        top.map((other) => [entryId(other), member(other, 'logprob')] as const),
        count,
      ),
    );
  }
  return entries === null ? null : lists;
}
