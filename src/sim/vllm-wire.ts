import { type ShownGeneration, shownText } from './generation.js';
import { alternatives } from './sampling.js';
import {
  fields,
  type GenerateRoute,
  numberField,
  numbers,
  type Parsed,
  type Refusal,
  type Refusals,
  type ServedModel,
  textField,
  texts,
} from './wire.js';

/** vLLM 0.32 as recorded: bodies of `/inference/v1/generate` and `/v1/completions`, and its error envelope. */
const PREFIX = 'generate-tokens-';

export const vllmError = (status: number, type: string, message: string, param: string | null = null): Refusal => ({
  status,
  body: { error: { message, type, param, code: status } },
});

const invalid = (where: string, message: string): Parsed => ({
  ok: false,
  refusal: vllmError(400, 'Bad Request', `1 validation error:\n  {'loc': '${where}', 'msg': '${message}'}`, where),
});

function read(
  body: unknown,
  key: string,
  sampling: unknown,
  header: string | undefined,
  id: string | undefined,
  model: ServedModel,
): Parsed {
  const request = fields(body);
  const params = fields(sampling);
  const name = textField(request.model);
  if (name !== undefined && name !== model.name) {
    return {
      ok: false,
      refusal: vllmError(404, 'NotFoundError', `The model \`${name}\` does not exist. Valid aliases: ${model.name}.`, 'model'),
    };
  }
  const prompt = request[key];
  if (!Array.isArray(prompt)) return invalid(`body.${key}`, 'Field required');
  if (prompt.length === 0) return invalid(`body.${key}`, 'List should have at least 1 item after validation, not 0');
  if (prompt.some((it) => !Number.isInteger(it) || it < 0))
    return invalid(`body.${key}`, 'Input should be a list of integers that are not negative');
  const beyond = prompt.find((it) => it >= model.vocabSize);
  if (beyond !== undefined) return { ok: false, refusal: vllmError(400, 'BadRequestError', `Token id ${beyond} is out of vocabulary`) };
  const room = model.contextTokens - prompt.length;
  if (room <= 0) return { ok: false, refusal: overflow(prompt.length, model.contextTokens) };
  const maxTokens = numberField(params.max_tokens, key === 'prompt' ? 16 : room);
  if (maxTokens < 1)
    return { ok: false, refusal: vllmError(400, 'BadRequestError', `max_tokens must be at least 1, got ${maxTokens}.`, 'max_tokens') };
  if (numberField(params.n, 1) !== 1)
    return { ok: false, refusal: vllmError(501, 'NotImplementedError', 'The simulated engine samples one choice (n = 1).') };
  if (request.stream === true)
    return { ok: false, refusal: vllmError(501, 'NotImplementedError', 'The simulated engine does not stream.') };
  const stopStrings = texts(params.stop);
  if (stopStrings.length > 0 && params.detokenize === false) {
    return { ok: false, refusal: vllmError(400, 'BadRequestError', 'stop strings are only supported when detokenize is True.') };
  }
  const logprobs = params.logprobs;
  return {
    ok: true,
    request: {
      requestId: header ?? id ?? model.newRequestId(),
      promptIds: Int32Array.from(prompt),
      maxTokens: Math.min(maxTokens, room),
      minTokens: numberField(params.min_tokens, 0),
      stopTokenIds: numbers(params.stop_token_ids),
      stopStrings,
      ignoreEos: params.ignore_eos === true,
      topLogprobs: logprobs === true ? 1 : typeof logprobs === 'number' ? logprobs : null,
      echoPromptIds: request.return_token_ids === true,
      cacheSalt: textField(request.cache_salt) ?? '',
    },
  };
}

const overflow = (length: number, context: number): Refusal =>
  vllmError(
    400,
    'BadRequestError',
    length > context
      ? `The decoder prompt (length ${length}) is longer than the maximum model length of ${context}. Make sure that \`max_model_len\` is no smaller than the number of text tokens.`
      : `The decoder prompt (length ${length}) plus the number of requested output tokens (at least 1) is longer than the maximum model length of ${context}. Make sure that \`max_model_len\` is no smaller than the number of text tokens (prompt + requested output tokens).`,
  );

function usage(shown: ShownGeneration): object {
  return {
    prompt_tokens: shown.promptTokens,
    total_tokens: shown.promptTokens + shown.completionTokens,
    completion_tokens: shown.completionTokens,
    prompt_tokens_details: { cached_tokens: shown.cachedTokens },
    completion_tokens_details: null,
  };
}

/** vLLM reports no stop reason for the model's main end token. */
function stopReason({ finish, vocabulary }: ShownGeneration): number | string | null {
  return finish.reason === 'stop' && finish.matched !== vocabulary.eosIds[0] ? finish.matched : null;
}

const headerId = (headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined =>
  textField(headers['x-request-id']);

export const vllmGenerate: GenerateRoute = {
  path: '/inference/v1/generate',
  parse(body, headers, model) {
    const request = fields(body);
    if (request.sampling_params === undefined) return invalid('body.sampling_params', 'Field required');
    return read(body, 'token_ids', request.sampling_params, headerId(headers), textField(request.request_id), model);
  },
  format(shown) {
    const more = Math.max(0, (shown.request.topLogprobs ?? 0) - 1);
    const content = shown.logprobs?.map((logprob, i) => {
      const own = { token_id: shown.logprobIds[i], logprob, rank: 1 };
      const others = alternatives(more, i, shown.promptHash, shown.vocabulary.spelledSize).map((it, rank) => ({
        token_id: it.id,
        logprob: it.logprob,
        rank: rank + 2,
      }));
      return { ...own, top_logprobs: [own, ...others] };
    });
    return {
      request_id: PREFIX + shown.requestId,
      model: shown.model,
      created: Math.floor(Date.now() / 1000),
      usage: usage(shown),
      prompt_logprobs: null,
      prompt_token_id_logprobs: null,
      prompt_token_ids: shown.request.echoPromptIds ? Array.from(shown.request.promptIds) : null,
      mm_placeholders: null,
      metrics: null,
      kv_transfer_params: null,
      ec_transfer_params: null,
      output_mode: 'tokens',
      choices: [
        {
          index: 0,
          finish_reason: shown.finish.reason,
          stop_reason: stopReason(shown),
          token_ids: shown.outputIds,
          routed_experts: null,
          sampling_mask: null,
          weight_versions: shown.weightVersions,
          logprobs: content && shown.request.topLogprobs !== null ? { content } : null,
        },
      ],
    };
  },
};

export const vllmCompletions: GenerateRoute = {
  path: '/v1/completions',
  parse(body, headers, model) {
    return read(body, 'prompt', body, headerId(headers), textField(fields(body).request_id), model);
  },
  format(shown) {
    const asIds = shown.logprobIds.map((id) => `token_id:${id}`);
    let offset = 0;
    return {
      id: `cmpl-${shown.requestId}`,
      object: 'text_completion',
      created: Math.floor(Date.now() / 1000),
      model: shown.model,
      choices: [
        {
          index: 0,
          text: shownText(shown),
          logprobs:
            shown.logprobs && shown.request.topLogprobs !== null
              ? {
                  text_offset: shown.logprobIds.map((id) => {
                    const { length } = shown.vocabulary.decode([id]);
                    offset += length;
                    return offset - length;
                  }),
                  token_logprobs: shown.logprobs,
                  tokens: asIds,
                  top_logprobs: shown.logprobs.map((logprob, i) => ({ [asIds[i] ?? '']: logprob })),
                }
              : null,
          finish_reason: shown.finish.reason,
          stop_reason: stopReason(shown),
          token_ids: shown.request.echoPromptIds ? shown.outputIds : null,
          prompt_logprobs: null,
          prompt_token_ids: shown.request.echoPromptIds ? Array.from(shown.request.promptIds) : null,
          routed_experts: null,
        },
      ],
      service_tier: null,
      system_fingerprint: 'simulated',
      usage: usage(shown),
      kv_transfer_params: null,
    };
  },
};

/** The answer of both routes on a server that was started without `--enable-scale-out`. */
export const GATED: Refusal = vllmError(
  403,
  'PermissionDeniedError',
  'Scale-out endpoints are disabled. Restart vllm serve with --enable-scale-out to enable them.',
);

export const vllmRefusals: Refusals = (kind, model) => {
  switch (kind) {
    case 'http_429':
      return vllmError(429, 'RateLimitError', 'Too many requests.');
    case 'http_502':
      return { status: 502, body: '<html><body>502 Bad Gateway</body></html>' };
    case 'http_503':
      return vllmError(
        503,
        'Service Unavailable',
        'The engine is currently busy and cannot accept new requests. Please try again later or on a different instance.',
      );
    case 'context_overflow':
      return overflow(model.contextTokens + 1, model.contextTokens);
    case 'bad_request':
      return vllmError(400, 'BadRequestError', 'top_p must be in (0, 1], got 0.0. (parameter=top_p, value=0.0)', 'top_p');
    case 'unauthorized':
      return { status: 401, body: { error: 'Unauthorized' } };
    default:
      return vllmError(500, 'InternalServerError', 'EngineCore encountered an issue. See stack trace (above) for the root cause.');
  }
};

/** The client's ids of an abort call; only prefixed ones count. */
export const vllmAbortIds = (body: unknown): readonly string[] | null => {
  const given = fields(body).request_ids;
  if (!Array.isArray(given)) return null;
  return texts(given)
    .filter((id) => id.startsWith(PREFIX))
    .map((id) => id.slice(PREFIX.length));
};
