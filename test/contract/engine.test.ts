import { describe, expect, it } from 'vitest';
import type { Engine, EngineFailure, EngineHttp, EngineHttpRequest, EngineProbe, GenerateRequest } from '../../src/engines/engine.js';
import { ENGINES } from '../../src/engines/registry.js';
import { SpelledIds } from '../../src/engines/spelled-ids.js';
import { SAMPLING } from '../support/sampling.js';
import { type Exchange, exchanges, probeWith, requestOf, responseOf } from './engine-exchanges.js';

/** What the suite has to know of an engine to hold it to the contract. */
interface Recorded {
  readonly files: RegExp;
  readonly routes: Readonly<Record<string, string>>;
  /** The answer in the engine's words, read independently of the decoder. */
  readonly sample: (exchange: Exchange) => {
    readonly ids: unknown;
    readonly logprobs: unknown;
    readonly finish: unknown;
    readonly versions: unknown;
  };
  readonly sampling: (body: Record<string, unknown>, path: string) => Record<string, unknown>;
  readonly idsKey: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<keyof typeof SAMPLING, string>>;
  readonly abortPath: string;
  readonly load: { readonly path: string; readonly answer: string };
}

// biome-ignore lint/suspicious/noExplicitAny: recorded JSON, read by path.
type Json = any;
const choice = (exchange: Exchange): Json => (exchange.response.body as Json)?.choices?.[0];

const RECORDED: Readonly<Record<string, Recorded>> = {
  vllm: {
    files: /^vllm-(?!.*-(abort|weights|control|lora|chat))/,
    routes: { '/inference/v1/generate': 'generate', '/v1/completions': 'completions' },
    sample(exchange) {
      const { token_ids, logprobs, finish_reason, weight_versions } = choice(exchange);
      const spelled = logprobs?.tokens?.[0]?.startsWith('token_id:')
        ? logprobs.tokens.map((token: string) => Number(token.slice(9)))
        : null;
      return {
        ids: token_ids ?? spelled,
        logprobs: logprobs?.token_logprobs ?? logprobs?.content?.map((entry: Json) => entry.logprob) ?? null,
        finish: finish_reason === 'repetition' ? 'stop' : finish_reason,
        versions: weight_versions ?? [],
      };
    },
    sampling: (body, path) => (path === '/v1/completions' ? body : (body.sampling_params as Record<string, unknown>)),
    idsKey: { generate: 'token_ids', completions: 'prompt' },
    fields: {
      maxTokens: 'max_tokens',
      temperature: 'temperature',
      topP: 'top_p',
      topK: 'top_k',
      minP: 'min_p',
      presencePenalty: 'presence_penalty',
      frequencyPenalty: 'frequency_penalty',
      repetitionPenalty: 'repetition_penalty',
      seed: 'seed',
      minTokens: 'min_tokens',
      stopTokenIds: 'stop_token_ids',
      stopStrings: 'stop',
    },
    abortPath: '/inference/v1/abort_requests',
    load: {
      path: '/metrics',
      answer: [
        '# TYPE vllm:num_requests_running gauge',
        'vllm:num_requests_running{engine="0",model_name="tiny"} 1.0',
        'vllm:num_requests_running{engine="1",model_name="tiny"} 2.0',
        'vllm:num_requests_waiting{engine="0",model_name="tiny"} 5.0',
        'vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 9.0',
        '',
      ].join('\n'),
    },
  },
  sglang: {
    files: /^sglang-(?!.*-(abort|control))/,
    routes: { '/generate': 'generate' },
    sample(exchange) {
      const body = exchange.response.body as Json;
      const logprobs = body.meta_info.output_token_logprobs?.map((tuple: Json) => tuple[0]) ?? null;
      return { ids: body.output_ids, logprobs, finish: body.meta_info.finish_reason.type, versions: body.meta_info.weight_versions };
    },
    sampling: (body) => body.sampling_params as Record<string, unknown>,
    idsKey: { generate: 'input_ids' },
    fields: {
      maxTokens: 'max_new_tokens',
      temperature: 'temperature',
      topP: 'top_p',
      topK: 'top_k',
      minP: 'min_p',
      presencePenalty: 'presence_penalty',
      frequencyPenalty: 'frequency_penalty',
      repetitionPenalty: 'repetition_penalty',
      seed: 'sampling_seed',
      minTokens: 'min_new_tokens',
      stopTokenIds: 'stop_token_ids',
      stopStrings: 'stop',
    },
    abortPath: '/abort_request',
    load: {
      path: '/v1/loads?include=core',
      answer: '{"loads":[{"dp_rank":0,"num_running_reqs":1,"num_waiting_reqs":5},{"dp_rank":1,"num_running_reqs":2,"num_waiting_reqs":0}]}',
    },
  },
};

const OVERFLOW = /maximum model length|context length|maximum allowed length/;
const textOf = (exchange: Exchange): string => JSON.stringify(exchange.response.body ?? exchange.response.sse ?? exchange.response.text);

/** What a caller must do about a recorded refusal; by status and text of the recording, not by the code under test. */
function expectedFailure(exchange: Exchange): EngineFailure['kind'] {
  const { status } = exchange.response;
  const text = textOf(exchange);
  if (OVERFLOW.test(text)) return 'context_overflow';
  if (/already running|Duplicate request/.test(text)) return 'transient';
  if (/Scale-out endpoints/.test(text) || /EngineCore encountered/.test(text) || /"detail":"Not Found"/.test(text)) return 'down';
  if (status === 401) return 'unauthorized';
  if (status === 503) return 'overloaded';
  return status >= 500 ? 'transient' : 'bad_request';
}

const encoded = (
  engine: Engine,
  request: GenerateRequest,
  probe: EngineProbe,
): { call: EngineHttpRequest; body: Record<string, unknown> } => {
  const call = engine.encode(request, probe);
  return { call, body: JSON.parse(Buffer.from(call.body!).toString()) as Record<string, unknown> };
};

it('holds every registered engine', () => {
  expect(Object.keys(RECORDED)).toEqual(Object.keys(ENGINES));
});

describe.each(Object.keys(RECORDED))('engine %s', (name) => {
  const engine = ENGINES[name]!;
  const recorded = RECORDED[name]!;
  const all = exchanges(recorded.files).filter(
    (exchange) => recorded.routes[exchange.request.path] !== undefined && exchange.request.method === 'POST',
  );
  const samples = all.filter(
    ({ response, request }) => response.status === 200 && response.sse === undefined && typeof request.body === 'object',
  );
  const single = samples.filter(({ response }) => !Array.isArray(response.body) && ((response.body as Json).choices?.length ?? 1) === 1);
  const refusals = all.filter(({ response, request }) => response.status >= 400 && typeof request.body === 'object');

  it('has recorded exchanges of all kinds', () => {
    expect(single.length).toBeGreaterThan(20);
    expect(refusals.length).toBeGreaterThan(10);
  });

  it.each(single.map((exchange) => [`${exchange.file}: ${exchange.name}`, exchange] as const))('decodes %s', (_title, exchange) => {
    const probe = probeWith({ route: recorded.routes[exchange.request.path]! });
    const outcome = engine.decode(responseOf(exchange), requestOf(exchange), probe);
    const sample = recorded.sample(exchange);
    if (sample.ids === undefined || sample.ids === null || ((sample.ids as []).length === 0 && sample.finish !== 'abort')) {
      expect(outcome).toMatchObject({ ok: false });
    } else if (sample.logprobs === null) {
      expect(outcome).toMatchObject({
        ok: false,
        failure: { kind: 'invalid_answer', message: expect.stringContaining('missing_logprobs') },
      });
    } else if ((sample.logprobs as []).length > (sample.ids as []).length) {
      expect(outcome).toMatchObject({ ok: false, failure: { message: expect.stringContaining('more_logprobs') } });
    } else {
      const result = outcome.ok ? outcome.result : expect.fail(outcome.failure.message);
      expect([...result.outputIds]).toEqual(sample.ids);
      const expected = Float32Array.from(sample.logprobs as number[], (value) => (value > 0.01 || value <= -9000 ? Number.NaN : value));
      expect(result.logprobs).toEqual(expected);
      expect(result.unknownLogprobs).toBe([...expected].filter(Number.isNaN).length);
      expect(result.finish.kind).toBe(sample.finish);
      // Some recordings are cut, and then the spans go beyond the ids.
      const isWhole = (sample.versions as readonly { readonly end: number }[]).at(-1)?.end === (sample.ids as []).length;
      expect(result.weightVersions).toEqual(isWhole && (sample.ids as []).length > 0 ? sample.versions : []);
      expect(result.logprobBasis).toBe(engine.logprobBasis);
    }
  });

  it.each(refusals.map((exchange) => [`${exchange.file}: ${exchange.name}`, exchange] as const))(
    'sorts the refusal %s',
    (_title, exchange) => {
      const outcome = engine.decode(
        responseOf(exchange),
        requestOf(exchange),
        probeWith({ route: recorded.routes[exchange.request.path]! }),
      );
      const failure = outcome.ok ? expect.fail('a refusal was decoded as a sample') : outcome.failure;
      expect(failure.kind).toBe(expectedFailure(exchange));
      expect(failure.status).toBe(exchange.response.status);
      expect(textOf(exchange)).toContain(JSON.stringify(failure.message).slice(1, -1));
    },
  );

  it('sorts an error that came as an event of a stream with status 200', () => {
    const streamed = all.filter(({ response }) => response.sse?.some((event) => (event as Json).error !== undefined));
    expect(streamed.length).toBeGreaterThan(0);
    for (const exchange of streamed) {
      const outcome = engine.decode(
        responseOf(exchange),
        requestOf(exchange),
        probeWith({ route: recorded.routes[exchange.request.path]! }),
      );
      const { code } = (exchange.response.sse!.find((event) => (event as Json).error !== undefined) as Json).error;
      const kind = expectedFailure({ ...exchange, response: { ...exchange.response, status: code } });
      expect(outcome).toMatchObject({ ok: false, failure: { kind } });
    }
  });

  it('refuses a stream that was not asked for', () => {
    const exchange = all.find(({ response }) => response.sse !== undefined && !textOf({ response } as Exchange).includes('"error"'))!;
    expect(engine.decode(responseOf(exchange), requestOf(exchange), probeWith())).toMatchObject({
      ok: false,
      failure: { kind: 'invalid_answer', message: expect.stringContaining('unrequested_stream') },
    });
  });

  describe.each(Object.values(recorded.routes))('encoding for route %s', (route) => {
    const probe = probeWith({ route });
    const request: GenerateRequest = {
      requestId: 'rg-1',
      model: null,
      promptIds: Int32Array.of(0, 9, 10, 151_935),
      vocabularySize: 151_936,
      sampling: { ...SAMPLING, maxTokens: 17, temperature: 0.5, seed: 3, stopTokenIds: [5, 6], stopStrings: ['é"\n'] },
      topLogprobs: 0,
      routingKey: 'hash',
    };

    it('sends every sampling field by the engine’s name', () => {
      const { call, body } = encoded(engine, request, probe);
      const sent = recorded.sampling(body, call.path);
      for (const [field, key] of Object.entries(recorded.fields))
        expect(sent[key], field).toEqual(request.sampling[field as keyof typeof SAMPLING]);
      expect(sent.n).toBe(1);
      expect(sent.ignore_eos).toBe(false);
      expect(sent.skip_special_tokens).toBe(false);
      expect(body.stream).toBe(false);
      expect(call.headers['x-session-id']).toBe('hash');
      expect(call.headers['x-smg-routing-key']).toBe('hash');
    });

    it('leaves out a seed that is not there', () => {
      const { call, body } = encoded(engine, { ...request, sampling: SAMPLING }, probe);
      expect(recorded.sampling(body, call.path)).not.toHaveProperty(recorded.fields.seed);
    });

    it('spells the prompt ids, and copies what the prompt before spelled of them', () => {
      const { call, body } = encoded(engine, request, probe);
      expect(body[recorded.idsKey[route]!]).toEqual([...request.promptIds]);
      expect(Buffer.from(call.body!).toString()).toContain('[0,9,10,151935]');
      const spelled = new SpelledIds();
      engine.encode({ ...request, spelled }, probe);
      const longer = { ...request, promptIds: Int32Array.of(0, 9, 10, 151_935, 4) };
      const continued = engine.encode({ ...longer, spelled }, probe);
      expect(Buffer.from(continued.body!)).toEqual(Buffer.from(engine.encode(longer, probe).body!));
    });
  });

  it('names the request that is to be aborted, and says when it cannot', () => {
    const call = engine.abort('rg-7', probeWith({ facts: { abort: true } }));
    expect(call?.path).toBe(recorded.abortPath);
    expect(Buffer.from(call!.body!).toString()).toContain('rg-7');
  });

  it('reads how much is in work, and says when an answer does not tell', () => {
    expect(engine.load().path).toBe(recorded.load.path);
    expect(engine.readLoad({ status: 200, headers: {}, body: Buffer.from(recorded.load.answer) })).toEqual({ running: 3, waiting: 5 });
    expect(engine.readLoad({ status: 404, headers: {}, body: Buffer.from('{"detail":"Not Found"}') })).toBeNull();
    expect(engine.readLoad({ status: 200, headers: {}, body: Buffer.from('hello') })).toBeNull();
  });

  it('rejects a probe when the server cannot be reached, and reports one that is loading', async () => {
    const unreachable: EngineHttp = () => Promise.reject(new Error('refused'));
    await expect(engine.probe(unreachable)).rejects.toThrow('refused');
    const loading: EngineHttp = () => Promise.resolve({ status: 503, headers: {}, body: new Uint8Array() });
    await expect(engine.probe(loading)).rejects.toMatchObject({ code: 'engine_failed' });
  });

  it('says that an API key is missing', async () => {
    const locked: EngineHttp = ({ path }) =>
      Promise.resolve({
        status: path === '/health' || path === '/version' ? 200 : 401,
        headers: {},
        body: Buffer.from('{"error":"Unauthorized"}'),
      });
    await expect(engine.probe(locked)).rejects.toMatchObject({ code: 'engine_unusable', message: expect.stringContaining('API key') });
  });
});
