/** vLLM's `POST /v1/completions` with ids as prompt, for servers without the token route. */
import type { TokenLogprob } from '../canonical/turn.js';
import { type AnswerDraft, alternatives, type TokenLists } from './answer-checks.js';
import { arrayMember, member } from './answer-json.js';
import { bodyWithoutLists, floats, naturals, spareColumns } from './answer-lists.js';
import type { EngineHttpRequest, EngineHttpResponse, EngineProbe, GenerateRequest } from './engine.js';
import { samplingCall } from './request-body.js';
import { draftOfAnswer, idOfText, isAnswer } from './vllm-answer.js';
import { vllmSampling } from './vllm-sampling.js';

export const COMPLETIONS_PATH = '/v1/completions';
export const COMPLETION_ID_PREFIX = 'cmpl-';

export function encodeCompletions(request: GenerateRequest, probe: EngineProbe): EngineHttpRequest {
  const model = request.model ?? probe.model;
  const head = {
    request_id: request.requestId,
    ...(model === null ? {} : { model }),
    ...vllmSampling(request.sampling),
    logprobs: request.topLogprobs,
    return_token_ids: true,
    // Alternatives are named by their text otherwise, which does not tell the id.
    ...(request.topLogprobs > 0 || probe.facts.tokenIds === 'spelled' ? { return_tokens_as_token_ids: true } : {}),
    stream: false,
  };
  return samplingCall(COMPLETIONS_PATH, head, 'prompt', request);
}

/** `null` where the body has not exactly one choice. `lists` = what was read of it before. */
export function draftOfCompletions(body: unknown, request: GenerateRequest, lists?: TokenLists): AnswerDraft | null {
  const name = { member: 'id', prefix: COMPLETION_ID_PREFIX };
  return draftOfAnswer(body, name, (choice) => lists ?? listsOf(choice, request));
}

function listsOf(choice: unknown, request: GenerateRequest): TokenLists {
  const logprobs = member(choice, 'logprobs');
  const texts = arrayMember(logprobs, 'tokens') ?? [];
  const spelled = texts.map((text) => idOfText(typeof text === 'string' ? text : null));
  const areIds = spelled.length > 0 && spelled.every((id) => !Number.isNaN(id));
  const top = arrayMember(logprobs, 'top_logprobs');
  return {
    ids: arrayMember(choice, 'token_ids') ?? (areIds ? spelled : null),
    logprobs: arrayMember(logprobs, 'token_logprobs'),
    logprobIds: areIds ? spelled : null,
    topLogprobs: request.topLogprobs === 0 || top === null ? null : top.map((entry) => entryTop(entry, request.topLogprobs)),
  };
}

/**
 * The draft of an answer whose numbers are read from the bytes; the echo of the prompt, which can be much longer than the
 * answer, is not read at all. `null` = read it in the general way.
 */
export function quickDraftOfCompletions(response: EngineHttpResponse, request: GenerateRequest): AnswerDraft | null {
  const [ids, logprobs] = spareColumns();
  const body = bodyWithoutLists(response, { token_ids: naturals(ids), token_logprobs: floats(logprobs) }, [
    'prompt_token_ids',
    'text_offset',
  ]);
  if (!isAnswer(body)) return null;
  const choice = arrayMember(body, 'choices')?.[0];
  if (member(choice, 'token_ids') !== null || member(member(choice, 'logprobs'), 'token_logprobs') !== null) return null;
  const { logprobIds } = listsOf(choice, request);
  return draftOfCompletions(body, request, { ids: ids.allIds, logprobs: logprobs.allLogprobs, logprobIds, topLogprobs: null });
}

function entryTop(entry: unknown, count: number): readonly TokenLogprob[] {
  if (typeof entry !== 'object' || entry === null) return [];
  return alternatives(
    Object.entries(entry).map(([text, logprob]) => [idOfText(text), logprob] as const),
    count,
  );
}
