import { type AnswerDraft, checkedAnswer, lie } from './answer-checks.js';
import { answerBody, member } from './answer-json.js';
import type { Engine, EngineHttpRequest, EngineHttpResponse, EngineLoad, EngineProbe, GenerateOutcome, GenerateRequest } from './engine.js';
import { embeddedFailure, failed, httpFailure } from './engine-errors.js';
import { draftOfCompletions, encodeCompletions, quickDraftOfCompletions } from './vllm-completions.js';
import { ABORT_PATH, draftOfGenerate, encodeGenerate, quickDraftOfGenerate, REQUEST_ID_PREFIX } from './vllm-generate.js';
import { probeVllm } from './vllm-probe.js';

/** vLLM 0.12 and later, by its token route or, where that is closed, by completions with ids. */
export const vllm: Engine = {
  name: 'vllm',
  logprobBasis: 'raw',
  probe: probeVllm,

  encode(request: GenerateRequest, probe: EngineProbe): EngineHttpRequest {
    return probe.route === 'generate' ? encodeGenerate(request, probe) : encodeCompletions(request, probe);
  },

  decode(response: EngineHttpResponse, request: GenerateRequest, probe: EngineProbe): GenerateOutcome {
    if (response.status !== 200) return { ok: false, failure: httpFailure(response) };
    const quick = quickDraft(response, request, probe);
    if (quick !== null) return checkedAnswer(quick, request, probe, vllm.logprobBasis);
    const body = answerBody(response);
    if (body.kind === 'other') return lie('not_json', JSON.stringify(body.excerpt));
    if (body.kind === 'events') {
      const error = body.events.find((event) => member(event, 'error') !== undefined);
      return error === undefined
        ? lie('unrequested_stream', `${body.events.length} events`)
        : { ok: false, failure: embeddedFailure(error, response) };
    }
    const error = member(body.value, 'error');
    if (error !== undefined && error !== null) return { ok: false, failure: embeddedFailure(body.value, response) };
    const draft = probe.route === 'generate' ? draftOfGenerate(body.value, request) : draftOfCompletions(body.value, request);
    if (draft === null) return lie('wrong_choice_count', 'one choice was asked for');
    if (draft.finish === 'error') return failed('transient', 'the engine ended the request with finish reason `error`', response.status);
    return checkedAnswer(draft, request, probe, vllm.logprobBasis);
  },

  abort(requestId: string, probe: EngineProbe): EngineHttpRequest | null {
    if (probe.facts.abort !== true) return null;
    const body = Buffer.from(JSON.stringify({ request_ids: [REQUEST_ID_PREFIX + requestId] }));
    return { method: 'POST', path: ABORT_PATH, headers: { 'content-type': 'application/json' }, body };
  },

  health: () => ({ method: 'GET', path: '/health', headers: {}, body: null }),
  load: () => ({ method: 'GET', path: '/metrics', headers: {}, body: null }),

  readLoad(response: EngineHttpResponse): EngineLoad | null {
    if (response.status !== 200) return null;
    const text = Buffer.from(response.body).toString('latin1');
    const running = gaugeSum(text, 'vllm:num_requests_running');
    const waiting = gaugeSum(text, 'vllm:num_requests_waiting');
    return running === null || waiting === null ? null : { running, waiting };
  },
};

/** The sum of a gauge over its labels in the text format of Prometheus, `null` where it is not there. */
function gaugeSum(text: string, name: string): number | null {
  let sum: number | null = null;
  for (const [, value] of text.matchAll(new RegExp(`^${name}(?:\\{[^}\\n]*\\})? (\\S+)`, 'gm'))) {
    const number = Number(value);
    if (Number.isFinite(number)) sum = (sum ?? 0) + number;
  }
  return sum;
}

function quickDraft(response: EngineHttpResponse, request: GenerateRequest, probe: EngineProbe): AnswerDraft | null {
  if (request.topLogprobs > 0) return null;
  const draft = probe.route === 'generate' ? quickDraftOfGenerate(response, request) : quickDraftOfCompletions(response, request);
  return draft === null || draft.finish === 'error' ? null : draft;
}
