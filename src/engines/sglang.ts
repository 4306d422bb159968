import { type AnswerDraft, alternatives, checkedAnswer, lie, type TokenLists } from './answer-checks.js';
import { answerBody, arrayMember, member, numberMember, stringMember } from './answer-json.js';
import { bodyWithoutLists, naturals, spareColumns, tuples } from './answer-lists.js';
import type { Engine, EngineHttpRequest, EngineHttpResponse, EngineLoad, EngineProbe, GenerateOutcome, GenerateRequest } from './engine.js';
import { embeddedFailure, httpFailure } from './engine-errors.js';
import { samplingCall } from './request-body.js';
import { GENERATE_PATH, probeSglang } from './sglang-probe.js';

/** SGLang's native `POST /generate`. Its logprobs are of the distribution after temperature. */
export const sglang: Engine = {
  name: 'sglang',
  logprobBasis: 'tempered',
  probe: probeSglang,

  encode(request: GenerateRequest): EngineHttpRequest {
    const { sampling } = request;
    const head = {
      rid: request.requestId,
      // An unknown key in here is refused with 400.
      sampling_params: {
        n: 1,
        max_new_tokens: sampling.maxTokens,
        temperature: sampling.temperature,
        top_p: sampling.topP,
        top_k: sampling.topK,
        min_p: sampling.minP,
        presence_penalty: sampling.presencePenalty,
        frequency_penalty: sampling.frequencyPenalty,
        repetition_penalty: sampling.repetitionPenalty,
        min_new_tokens: sampling.minTokens,
        stop_token_ids: sampling.stopTokenIds,
        stop: sampling.stopStrings,
        ignore_eos: false,
        skip_special_tokens: false,
        spaces_between_special_tokens: false,
        no_stop_trim: true,
        ...(sampling.seed === null ? {} : { sampling_seed: sampling.seed }),
      },
      return_logprob: true,
      logprob_start_len: -1,
      top_logprobs_num: request.topLogprobs,
      return_text_in_logprobs: false,
      stream: false,
    };
    return samplingCall(GENERATE_PATH, head, 'input_ids', request);
  },

  decode(response: EngineHttpResponse, request: GenerateRequest, probe: EngineProbe): GenerateOutcome {
    if (response.status !== 200) return { ok: false, failure: httpFailure(response) };
    const quick = quickDraft(response, request);
    if (quick !== null) return checkedAnswer(quick, request, probe, sglang.logprobBasis);
    const body = answerBody(response);
    if (body.kind === 'other') return lie('not_json', JSON.stringify(body.excerpt));
    if (body.kind === 'events') {
      const error = body.events.find((event) => member(event, 'error') !== undefined);
      return error === undefined
        ? lie('unrequested_stream', `${body.events.length} events`)
        : { ok: false, failure: embeddedFailure(error, response) };
    }
    const value = Array.isArray(body.value) && body.value.length === 1 ? (body.value[0] as unknown) : body.value;
    if (Array.isArray(value)) return lie('wrong_choice_count', `${value.length} answers`);
    const error = member(value, 'error');
    if (error !== undefined && error !== null) return { ok: false, failure: embeddedFailure(value, response) };
    const finish = member(member(value, 'meta_info'), 'finish_reason');
    // Failures of running requests come as an abort that names a status.
    const status = numberMember(finish, 'status_code');
    if (stringMember(finish, 'type') === 'abort' && status !== null && status >= 400)
      return {
        ok: false,
        failure: embeddedFailure({ error: { message: stringMember(finish, 'message') ?? 'aborted', code: status } }, response),
      };
    return checkedAnswer(draftOf(value, request), request, probe, sglang.logprobBasis);
  },

  /** Ids are matched exactly by 0.5.23 and by prefix before, so they are all of one length. */
  abort(requestId: string): EngineHttpRequest {
    const body = Buffer.from(JSON.stringify({ rid: requestId }));
    return { method: 'POST', path: '/abort_request', headers: { 'content-type': 'application/json' }, body };
  },

  health: () => ({ method: 'GET', path: '/health', headers: {}, body: null }),
  load: () => ({ method: 'GET', path: '/v1/loads?include=core', headers: { accept: 'application/json' }, body: null }),

  readLoad(response: EngineHttpResponse): EngineLoad | null {
    const body = response.status === 200 ? answerBody(response) : null;
    const loads = body?.kind === 'json' ? arrayMember(body.value, 'loads') : null;
    if (loads === null || loads.length === 0) return null;
    const sum = (name: string): number => loads.reduce<number>((total, load) => total + (numberMember(load, name) ?? 0), 0);
    return { running: sum('num_running_reqs'), waiting: sum('num_waiting_reqs') };
  },
};

function draftOf(value: unknown, request: GenerateRequest, lists?: TokenLists): AnswerDraft {
  const meta = member(value, 'meta_info');
  const finish = member(meta, 'finish_reason');
  const matched = member(finish, 'matched');
  const id = stringMember(meta, 'id');
  return {
    ...(lists ?? listsOf(value, request)),
    finish: typeof finish === 'string' ? finish : stringMember(finish, 'type'),
    matched: typeof matched === 'number' || typeof matched === 'string' ? matched : null,
    promptTokens: numberMember(meta, 'prompt_tokens'),
    completionTokens: numberMember(meta, 'completion_tokens'),
    cachedTokens: numberMember(meta, 'cached_tokens'),
    weightVersions: arrayMember(meta, 'weight_versions'),
    weightVersion: stringMember(meta, 'weight_version'),
    requestId: id,
    engineRequestId: id,
  };
}

function listsOf(value: unknown, request: GenerateRequest): TokenLists {
  const meta = member(value, 'meta_info');
  const pairs = arrayMember(meta, 'output_token_logprobs');
  const top = arrayMember(meta, 'output_top_logprobs');
  const tupleIds = pairs?.map((tuple) => (Array.isArray(tuple) ? (tuple[1] as unknown) : undefined)) ?? null;
  return {
    // Builds before 0.5 do not list the ids.
    ids: arrayMember(value, 'output_ids') ?? tupleIds,
    logprobs: pairs?.map((tuple) => (Array.isArray(tuple) ? (tuple[0] as unknown) : undefined)) ?? null,
    logprobIds: tupleIds,
    topLogprobs:
      request.topLogprobs === 0 || top === null ? null : top.map((entry) => alternatives(tupleEntries(entry), request.topLogprobs)),
  };
}

/** The draft of a usual answer, without an array per token; valid until the next one. `null` = read it in the general way. */
function quickDraft(response: EngineHttpResponse, request: GenerateRequest): AnswerDraft | null {
  if (request.topLogprobs > 0) return null;
  const [listed, pairs] = spareColumns();
  const body = bodyWithoutLists(response, { output_ids: naturals(listed), output_token_logprobs: tuples(pairs) });
  const finish = stringMember(member(member(body, 'meta_info'), 'finish_reason'), 'type');
  if (member(body, 'error') !== undefined || finish === null || finish === 'abort') return null;
  if (member(body, 'output_ids') !== null || member(member(body, 'meta_info'), 'output_token_logprobs') !== null) return null;
  return draftOf(body, request, { ids: listed.allIds, logprobs: pairs.allLogprobs, logprobIds: pairs.allIds, topLogprobs: null });
}

function* tupleEntries(entry: unknown): Iterable<readonly [id: number, logprob: unknown]> {
  if (!Array.isArray(entry)) return;
  for (const tuple of entry as unknown[]) if (Array.isArray(tuple) && typeof tuple[1] === 'number') yield [tuple[1], tuple[0] as unknown];
}
