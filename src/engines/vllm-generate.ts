/** vLLM's token route, `POST /inference/v1/generate`, of versions 0.12 to 0.32. */
import type { TokenLogprob } from '../canonical/turn.js';
import { type AnswerDraft, alternatives, type TokenLists } from './answer-checks.js';
import { arrayMember, member, numberMember, stringMember } from './answer-json.js';
import { bodyWithoutLists, entries, naturals, spareColumns } from './answer-lists.js';
import type { EngineHttpRequest, EngineHttpResponse, EngineProbe, GenerateRequest } from './engine.js';
import { samplingCall } from './request-body.js';
import { draftOfAnswer, idOfText, isAnswer } from './vllm-answer.js';
import { vllmSampling } from './vllm-sampling.js';

export const GENERATE_PATH = '/inference/v1/generate';
export const ABORT_PATH = '/inference/v1/abort_requests';
/** What the server puts before the id of the request, in answers and for aborts. */
export const REQUEST_ID_PREFIX = 'generate-tokens-';
/** Its default for `--max-logprobs`; more is refused with 400. */
const LOGPROBS_MAX = 20;

export function encodeGenerate(request: GenerateRequest, probe: EngineProbe): EngineHttpRequest {
  const model = request.model ?? probe.model;
  const params = vllmSampling(request.sampling);
  // Stop strings need the text; without them the server is spared making it.
  params.detokenize = request.sampling.stopStrings.length > 0;
  params.logprobs = logprobCount(request.topLogprobs, probe);
  const head = { request_id: request.requestId, model: model ?? undefined, sampling_params: params, stream: false };
  return samplingCall(GENERATE_PATH, head, 'token_ids', request);
}

/** The server counts the sampled token among its `logprobs` entries, so one more brings the whole top. */
function logprobCount(topLogprobs: number, probe: EngineProbe): number {
  const least = probe.facts.logprobsAtLeast === 1 ? 1 : 0;
  return topLogprobs === 0 ? least : Math.min(topLogprobs + 1, LOGPROBS_MAX);
}

/** `null` where the body has not exactly one choice. `lists` = what was read of it before. */
export function draftOfGenerate(body: unknown, request: GenerateRequest, lists?: TokenLists): AnswerDraft | null {
  const name = { member: 'request_id', prefix: REQUEST_ID_PREFIX };
  return draftOfAnswer(body, name, (choice) => lists ?? listsOf(choice, request));
}

function listsOf(choice: unknown, request: GenerateRequest): TokenLists {
  const content = arrayMember(member(choice, 'logprobs'), 'content');
  const entryIds = content?.map(entryId) ?? null;
  return {
    ids: arrayMember(choice, 'token_ids'),
    logprobs: content?.map((entry) => member(entry, 'logprob')) ?? null,
    // Text instead of ids is no second witness.
    logprobIds: entryIds?.every(Number.isNaN) ? null : entryIds,
    topLogprobs: request.topLogprobs === 0 ? null : topOf(content, request.topLogprobs),
  };
}

/** The draft of an answer in the spelling of 0.32, without an object per token; valid until the next one. `null` = read it in the general way. */
export function quickDraftOfGenerate(response: EngineHttpResponse, request: GenerateRequest): AnswerDraft | null {
  const [listed, content] = spareColumns();
  const body = bodyWithoutLists(response, { token_ids: naturals(listed), content: entries(content) });
  if (!isAnswer(body)) return null;
  const choice = arrayMember(body, 'choices')?.[0];
  if (member(choice, 'token_ids') !== null || member(member(choice, 'logprobs'), 'content') !== null) return null;
  const lists = { ids: listed.allIds, logprobs: content.allLogprobs, logprobIds: content.allIds, topLogprobs: null };
  return draftOfGenerate(body, request, lists);
}

/** The id as a number (0.32) or from the text `token_id:N` (before). */
function entryId(entry: unknown): number {
  return numberMember(entry, 'token_id') ?? idOfText(stringMember(entry, 'token'));
}

/** `null` where an entry has no alternatives. */
function topOf(content: readonly unknown[] | null, count: number): readonly (readonly TokenLogprob[])[] | null {
  const lists: (readonly TokenLogprob[])[] = [];
  for (const entry of content ?? []) {
    const top = arrayMember(entry, 'top_logprobs');
    if (top === null) return null;
    lists.push(
      alternatives(
        top.map((other) => [entryId(other), member(other, 'logprob')] as const),
        count,
      ),
    );
  }
  return content === null ? null : lists;
}
