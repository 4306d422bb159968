import { GatewayError } from '../errors.js';
import { arrayMember, member, numberMember, stringMember } from './answer-json.js';
import type { EngineHttp, EngineHttpResponse, EngineProbe } from './engine.js';
import { assertAuthorized, assertHealthy, get, jsonOf, PROBE_REQUEST_ID, post, probeFailed, wrongEngine } from './engine-probe.js';

export const GENERATE_PATH = '/generate';
/** Its scheduler refuses prompts from so many tokens below the context on; newer servers tell where, since a small cache lowers it. */
const RESERVED_TOKENS = 6;
/** From the shortest prompt that it refuses to the most tokens that prompt and output may have. */
const OUTPUT_BEYOND_TOKENS = 4;

export async function probeSglang(http: EngineHttp): Promise<EngineProbe> {
  await assertHealthy(http, '/health');
  const info = await firstOf(http, ['/model_info', '/get_model_info']);
  const server = await firstOf(http, ['/server_info', '/get_server_info']);
  const listed = arrayMember(jsonOf(await get(http, '/v1/models')), 'data')?.[0];
  const contextTokens = numberMember(listed, 'max_model_len') ?? numberMember(server, 'context_length');
  const refusedFrom = numberMember(server, 'max_req_input_len') ?? (contextTokens === null ? null : contextTokens - RESERVED_TOKENS);
  const sampled = await post(http, GENERATE_PATH, {
    rid: PROBE_REQUEST_ID,
    input_ids: [1],
    sampling_params: { max_new_tokens: 1, temperature: 0 },
    return_logprob: true,
  });
  assertAuthorized(sampled, `POST ${GENERATE_PATH}`);
  if (sampled.status === 404 && info === null && server === null)
    throw await wrongEngine(http, 'sglang', `the engine has no POST ${GENERATE_PATH}`);
  if (sampled.status !== 200) throw probeFailed(sampled, GENERATE_PATH);
  const answer = jsonOf(sampled);
  const meta = member(answer, 'meta_info');
  if (arrayMember(meta, 'output_token_logprobs') === null)
    throw new GatewayError(
      'engine_unusable',
      `POST ${GENERATE_PATH} gives no output_token_logprobs: this is not an SGLang server, or one too old`,
    );
  return {
    engine: 'sglang',
    version: stringMember(server, 'version'),
    route: 'generate',
    model: stringMember(listed, 'id') ?? stringMember(info, 'served_model_name') ?? stringMember(info, 'model_path'),
    contextTokens,
    weightVersion: stringMember(info, 'weight_version') ?? stringMember(meta, 'weight_version'),
    facts: {
      echoesRequestId: stringMember(meta, 'id') === PROBE_REQUEST_ID,
      promptTokensMax: refusedFrom === null ? null : refusedFrom - 1,
      totalTokensMax: refusedFrom === null ? null : refusedFrom + OUTPUT_BEYOND_TOKENS,
      weightVersions: arrayMember(meta, 'weight_versions') !== null,
      listsIds: arrayMember(answer, 'output_ids') !== null,
      tokenizer: member(server, 'skip_tokenizer_init') !== true,
    },
  };
}

/** The first path that answers JSON; names changed over time. */
async function firstOf(http: EngineHttp, paths: readonly string[]): Promise<unknown> {
  let last: EngineHttpResponse | null = null;
  for (const path of paths) {
    last = await get(http, path);
    assertAuthorized(last, `GET ${path}`);
    const value = jsonOf(last);
    if (value !== null) return value;
  }
  return null;
}
