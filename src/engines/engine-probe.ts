/** What the probes of all engines share: small calls, and errors that tell "not yet" from "not usable". */
import { GatewayError } from '../errors.js';
import { answerBody } from './answer-json.js';
import type { EngineHttp, EngineHttpResponse } from './engine.js';
import { httpFailure } from './engine-errors.js';

export const PROBE_REQUEST_ID = 'rollout-gateway-probe-0';

export const get = (http: EngineHttp, path: string): Promise<EngineHttpResponse> =>
  http({ method: 'GET', path, headers: { accept: 'application/json' }, body: null });

export const post = (http: EngineHttp, path: string, body: object): Promise<EngineHttpResponse> =>
  http({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  });

/** The JSON of a 200, else `null`. */
export function jsonOf(response: EngineHttpResponse): unknown {
  if (response.status !== 200) return null;
  const body = answerBody(response);
  return body.kind === 'json' ? body.value : null;
}

/** Routes that one kind of server has and the others do not. */
const TELLTALES = { vllm: ['/version'], sglang: ['/model_info', '/get_model_info'] } as const;
const TITLES = { vllm: 'vLLM', sglang: 'SGLang' } as const;

/** The error for a server that has none of the routes to sample by: it asks which kind it may be instead. */
export async function wrongEngine(http: EngineHttp, expected: keyof typeof TELLTALES, reason: string): Promise<GatewayError> {
  const other = expected === 'vllm' ? 'sglang' : 'vllm';
  let isOther = false;
  for (const path of TELLTALES[other]) isOther ||= jsonOf(await get(http, path)) !== null;
  const guess = isOther
    ? `this looks like ${TITLES[other]}: set engine to ${other} (--engine ${other})`
    : `is this really ${TITLES[expected]}, and engineUrl its root? For ${TITLES[other]} set engine to ${other} (--engine ${other})`;
  return new GatewayError('engine_unusable', `${reason}: ${guess}`);
}

/** Throws where the server is there but not ready; the caller asks again later. */
export async function assertHealthy(http: EngineHttp, path: string): Promise<void> {
  const response = await get(http, path);
  if (response.status === 404)
    throw new GatewayError(
      'engine_unusable',
      `no inference server answers here: GET ${path} gives 404; engineUrl must be the engine’s root, without the path of a route`,
    );
  if (response.status !== 200)
    throw new GatewayError(
      'engine_failed',
      `the engine answers ${response.status} to GET ${path}: it is loading, busy or broken; waiting for 200`,
    );
}

/** @throws GatewayError `engine_unusable` for 401 and 403. */
export function assertAuthorized(response: EngineHttpResponse, path: string): void {
  const failure = response.status === 401 || response.status === 403 ? httpFailure(response) : null;
  if (failure?.kind === 'unauthorized')
    throw new GatewayError(
      'engine_unusable',
      `the engine answers ${response.status} to ${path} (${failure.message}): give its API key by ROLLOUT_GATEWAY_ENGINE_KEY or engineKeyFile`,
    );
}

/** The error of a probing call that was neither understood nor answered by a known refusal. */
export function probeFailed(response: EngineHttpResponse, path: string): GatewayError {
  const failure = httpFailure(response);
  const text = `the engine answers ${response.status} to a probing POST ${path}: ${failure.message.slice(0, 300)}`;
  return failure.kind === 'bad_request' || failure.kind === 'unauthorized'
    ? new GatewayError('engine_unusable', text)
    : new GatewayError('engine_failed', text);
}
