import { type ShownGeneration, shownText } from './generation.js';
import { alternatives } from './sampling.js';
import { fields, type GenerateRoute, numberField, numbers, type Refusal, type Refusals, textField, texts } from './wire.js';

/** SGLang 0.5.23 as recorded: bodies of `/generate` and its error shapes. */
const RESERVED_TOKENS = 6;

export const sglangError = (status: number, message: string): Refusal => ({ status, body: { error: { message } } });

const KNOWN_SAMPLING_KEYS = new Set(
  'max_new_tokens stop stop_token_ids stop_regex temperature top_p top_k min_p frequency_penalty presence_penalty repetition_penalty min_new_tokens n json_schema regex ebnf structural_tag ignore_eos skip_special_tokens spaces_between_special_tokens no_stop_trim custom_params stream_interval logit_bias sampling_seed'.split(
    ' ',
  ),
);

export const sglangGenerate: GenerateRoute = {
  path: '/generate',
  parse(body, _headers, model) {
    const request = fields(body);
    const params = fields(request.sampling_params);
    const refuse = (message: string) => ({ ok: false, refusal: sglangError(400, message) }) as const;
    const unknown = Object.keys(params).find((key) => !KNOWN_SAMPLING_KEYS.has(key));
    if (unknown !== undefined) {
      return {
        ok: false,
        refusal: { status: 400, body: { error: `unknown field \`${unknown}\`, expected one of ${[...KNOWN_SAMPLING_KEYS].join(', ')}` } },
      };
    }
    const prompt = request.input_ids;
    if (!Array.isArray(prompt)) return refuse('Either text, input_ids or input_embeds should be provided.');
    if (prompt.length === 0) return refuse('input_ids cannot be empty.');
    if (prompt.some((it) => !Number.isInteger(it))) {
      return {
        ok: false,
        refusal: {
          status: 400,
          body: { object: 'error', message: '1 validation error', type: 'Bad Request', param: 'body.input_ids', code: 400 },
        },
      };
    }
    if (prompt.length >= model.contextTokens) {
      return refuse(`The input (${prompt.length} tokens) is longer than the model's context length (${model.contextTokens} tokens).`);
    }
    if (prompt.length >= model.contextTokens - RESERVED_TOKENS) {
      return refuse(
        `Input length (${prompt.length} tokens) exceeds the maximum allowed length (${model.contextTokens - RESERVED_TOKENS} tokens). Use a shorter input or enable --allow-auto-truncate.`,
      );
    }
    // The real server does not check: its scheduler dies of such an id.
    if (prompt.some((it) => it < 0 || it >= model.vocabSize)) return { ...refuse('unreachable'), kills: true };
    const maxTokens = numberField(params.max_new_tokens, 128);
    if (maxTokens < 0) return refuse(`max_new_tokens must be at least 0, got ${maxTokens}.`);
    if (prompt.length + maxTokens > model.contextTokens) {
      return refuse(
        `Requested token count exceeds the model's maximum context length of ${model.contextTokens} tokens. You requested a total of ${prompt.length + maxTokens} tokens: ${prompt.length} tokens from the input messages and ${maxTokens} tokens for the completion.`,
      );
    }
    if (request.stream === true || numberField(params.n, 1) !== 1)
      return refuse('The simulated engine neither streams nor samples more than one output.');
    const ignoreEos = params.ignore_eos === true;
    return {
      ok: true,
      request: {
        requestId: textField(request.rid) ?? model.newRequestId(),
        promptIds: Int32Array.from(prompt),
        // The scheduler ends a sample two tokens before the context is full.
        maxTokens: Math.min(maxTokens, model.contextTokens - 2 - prompt.length),
        minTokens: numberField(params.min_new_tokens, 0),
        stopTokenIds: ignoreEos ? [] : numbers(params.stop_token_ids),
        stopStrings: texts(params.stop),
        ignoreEos,
        topLogprobs: request.return_logprob === true ? numberField(request.top_logprobs_num, 0) : null,
        echoPromptIds: request.return_prompt_token_ids === true,
        cacheSalt: textField(request.cache_salt) ?? textField(request.extra_key) ?? '',
      },
    };
  },
  format(shown) {
    const withLogprobs = shown.logprobs !== null && shown.request.topLogprobs !== null;
    const top = shown.request.topLogprobs ?? 0;
    return {
      text: shownText(shown),
      ...(shown.outputIds === null ? {} : { output_ids: shown.outputIds }),
      meta_info: {
        id: shown.requestId,
        finish_reason: finishReason(shown),
        prompt_tokens: shown.promptTokens,
        weight_version: shown.weightVersions.at(-1)?.version ?? 'default',
        num_retractions: 0,
        ...(withLogprobs && {
          input_token_logprobs: [],
          output_token_logprobs: shown.logprobs?.map((logprob, i) => [logprob, shown.logprobIds[i], null]),
          output_token_logprobs_length: shown.logprobs?.length,
          ...(top > 0 && {
            input_top_logprobs: [],
            output_top_logprobs: shown.logprobs?.map((_, i) =>
              alternatives(top, i, shown.promptHash, shown.vocabulary.spelledSize).map((it) => [it.logprob, it.id, null]),
            ),
          }),
        }),
        reasoning_tokens: 0,
        completion_tokens: shown.completionTokens,
        cached_tokens: shown.cachedTokens,
        weight_versions: shown.weightVersions,
        cached_tokens_details: shown.cachedTokens > 0 ? { device: shown.cachedTokens, host: 0 } : null,
        dp_rank: null,
        e2e_latency: shown.elapsedMs / 1000,
        response_sent_to_client_ts: Date.now() / 1000,
      },
      ...(shown.request.echoPromptIds && { prompt_token_ids: Array.from(shown.request.promptIds) }),
    };
  },
};

function finishReason({ finish, completionTokens }: ShownGeneration): object {
  switch (finish.reason) {
    case 'stop':
      return { type: 'stop', matched: finish.matched };
    case 'length':
      return { type: 'length', length: completionTokens };
    case 'abort':
      return { type: 'abort', message: 'Aborted', status_code: null, err_type: null };
    case 'error':
      return { type: 'abort', message: 'Scheduler hit an exception.', status_code: 500, err_type: 'InternalServerError' };
    default:
      return { type: finish.reason };
  }
}

export const sglangRefusals: Refusals = (kind, model) => {
  switch (kind) {
    case 'http_429':
      return sglangError(429, 'Too many requests.');
    case 'http_502':
      return { status: 502, body: '<html><body>502 Bad Gateway</body></html>' };
    case 'http_503':
      return { status: 503, body: { object: 'error', message: 'The request queue is full.', type: '503', param: null, code: 503 } };
    case 'context_overflow':
      return sglangError(
        400,
        `The input (${model.contextTokens + 1} tokens) is longer than the model's context length (${model.contextTokens} tokens).`,
      );
    case 'bad_request':
      return sglangError(400, 'top_p must be in (0, 1], got 0.');
    case 'unauthorized':
      return { status: 401, body: { error: 'Unauthorized' } };
    default:
      return { status: 500, body: 'Internal Server Error' };
  }
};
