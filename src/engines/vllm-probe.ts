import { GatewayError } from '../errors.js';
import { arrayMember, member, numberMember, stringMember } from './answer-json.js';
import type { EngineHttp, EngineHttpResponse, EngineProbe } from './engine.js';
import { httpFailure } from './engine-errors.js';
import { assertAuthorized, assertHealthy, get, jsonOf, PROBE_REQUEST_ID, post, probeFailed, wrongEngine } from './engine-probe.js';
import { COMPLETION_ID_PREFIX, COMPLETIONS_PATH } from './vllm-completions.js';
import { ABORT_PATH, GENERATE_PATH, REQUEST_ID_PREFIX } from './vllm-generate.js';

type Facts = Record<string, string | number | boolean | null>;

/**
 * Finds the route by asking for one token: the token route, else completions that return ids. Versions are told apart by
 * what they answer, not by their number.
 */
export async function probeVllm(http: EngineHttp): Promise<EngineProbe> {
  await assertHealthy(http, '/health');
  const version = stringMember(jsonOf(await get(http, '/version')), 'version');
  const listing = await get(http, '/v1/models');
  assertAuthorized(listing, 'GET /v1/models');
  const models = arrayMember(jsonOf(listing), 'data') ?? [];
  const base = models.find((entry) => member(entry, 'parent') === null) ?? models[0];
  const model = stringMember(base, 'id');
  const { route, facts } = await probeRoutes(http, model, version);
  return {
    engine: 'vllm',
    version,
    route,
    model,
    contextTokens: numberMember(base, 'max_model_len'),
    weightVersion: stringMember(jsonOf(await get(http, '/weight_info')), 'weight_version'),
    facts,
  };
}

async function probeRoutes(http: EngineHttp, model: string | null, version: string | null): Promise<{ route: string; facts: Facts }> {
  const named = model === null ? {} : { model };
  const ask = (logprobs: number) =>
    post(http, GENERATE_PATH, {
      request_id: PROBE_REQUEST_ID,
      ...named,
      token_ids: [1],
      sampling_params: { max_tokens: 1, temperature: 0, logprobs, detokenize: false },
    });
  const first = await ask(0);
  const closed = routeClosed(first);
  if (closed === null && first.status !== 200) throw probeFailed(first, GENERATE_PATH);
  if (closed === null) {
    const zero = jsonOf(first);
    // 0.12 gives no logprobs for 0 and the same entries for 1.
    const logprobsAtLeast = hasLogprobs(zero) ? 0 : hasLogprobs(jsonOf(await ask(1))) ? 1 : null;
    if (logprobsAtLeast !== null) {
      const aborted = await post(http, ABORT_PATH, { request_ids: [`${REQUEST_ID_PREFIX}${PROBE_REQUEST_ID}`] });
      return {
        route: 'generate',
        facts: {
          logprobsAtLeast,
          abort: aborted.status === 200,
          echoesRequestId: stringMember(zero, 'request_id') === REQUEST_ID_PREFIX + PROBE_REQUEST_ID,
          integerLogprobs: numberMember(arrayMember(member(choiceOf(zero), 'logprobs'), 'content')?.[0], 'token_id') !== null,
          weightVersions: arrayMember(choiceOf(zero), 'weight_versions') !== null,
          fallbackReason: null,
        },
      };
    }
  }
  return probeCompletions(http, named, version, closed ?? `POST ${GENERATE_PATH} gives no logprobs`);
}

async function probeCompletions(
  http: EngineHttp,
  named: object,
  version: string | null,
  reason: string,
): Promise<{ route: string; facts: Facts }> {
  const ask = (extra: object) =>
    post(http, COMPLETIONS_PATH, {
      request_id: PROBE_REQUEST_ID,
      ...named,
      prompt: [1],
      max_tokens: 1,
      temperature: 0,
      logprobs: 0,
      ...extra,
    });
  const first = await ask({ return_token_ids: true });
  if (first.status !== 200 && routeClosed(first) === null) throw probeFailed(first, COMPLETIONS_PATH);
  const answer = jsonOf(first);
  const echoesRequestId = isEcho(stringMember(answer, 'id'));
  const base = { logprobsAtLeast: 0, abort: false, echoesRequestId, integerLogprobs: false, weightVersions: false, fallbackReason: reason };
  if (arrayMember(choiceOf(answer), 'token_ids') !== null) return { route: 'completions', facts: { ...base, tokenIds: 'listed' } };
  const second = jsonOf(await ask({ return_tokens_as_token_ids: true }));
  const token = arrayMember(member(choiceOf(second), 'logprobs'), 'tokens')?.[0];
  if (typeof token === 'string' && token.startsWith('token_id:')) return { route: 'completions', facts: { ...base, tokenIds: 'spelled' } };
  // SGLang has the completions route too, but no version there.
  if (version === null) throw await wrongEngine(http, 'vllm', 'the engine cannot sample from token ids by any route of vLLM');
  throw new GatewayError(
    'engine_unusable',
    `vLLM ${version} cannot sample from token ids (${reason}; POST ${COMPLETIONS_PATH} returns none): start it with --enable-scale-out (0.30 and later) or use 0.12 or later`,
  );
}

const choiceOf = (body: unknown): unknown => arrayMember(body, 'choices')?.[0];
const hasLogprobs = (body: unknown): boolean => (arrayMember(member(choiceOf(body), 'logprobs'), 'content') ?? []).length > 0;
const isEcho = (id: string | null): boolean => id === COMPLETION_ID_PREFIX + PROBE_REQUEST_ID;

/** Why the route is not to be had on this server, `null` where it answered otherwise. */
function routeClosed(response: EngineHttpResponse): string | null {
  if (response.status === 200) return null;
  const body = httpFailure(response);
  return body.kind === 'down' && [403, 404, 405, 501].includes(response.status) ? body.message || `status ${response.status}` : null;
}
