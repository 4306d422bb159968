import { describe, expect, it } from 'vitest';
import type { EngineHttp, EngineHttpRequest, EngineHttpResponse } from '../../src/engines/engine.js';
import { sglang } from '../../src/engines/sglang.js';
import { vllm } from '../../src/engines/vllm.js';
import { exchanges, responseOf } from '../contract/engine-exchanges.js';

/** Answers by method and path, the recorded ones first; what is not there is FastAPI's 404. Remembers what was asked. */
function server(answers: Readonly<Record<string, (body: Record<string, unknown>) => EngineHttpResponse>>): {
  http: EngineHttp;
  asked: string[];
} {
  const asked: string[] = [];
  const http: EngineHttp = (request: EngineHttpRequest) => {
    const key = `${request.method} ${request.path}`;
    asked.push(key);
    const body = request.body === null ? {} : (JSON.parse(Buffer.from(request.body).toString()) as Record<string, unknown>);
    return Promise.resolve(answers[key]?.(body) ?? json(404, { detail: 'Not Found' }));
  };
  return { http, asked };
}
const json = (status: number, value: unknown): EngineHttpResponse => ({ status, headers: {}, body: Buffer.from(JSON.stringify(value)) });
const recorded = (file: RegExp, name: string): EngineHttpResponse => {
  const found = exchanges(file).find((exchange) => exchange.name === name);
  if (found === undefined) throw new Error(`no recording ${name} in ${file.source}`);
  return responseOf(found);
};
const INFO = /^vllm-0\.32\.0-info$/;
const vllmInfo = {
  'GET /health': () => recorded(INFO, 'health'),
  'GET /version': () => recorded(INFO, 'version'),
  'GET /v1/models': () => recorded(INFO, 'models'),
};

describe('probing vLLM', () => {
  it('takes the token route of 0.32, with aborts and weight versions', async () => {
    const { http } = server({
      ...vllmInfo,
      'GET /weight_info': () => json(200, { weight_version: 'step-1' }),
      'POST /inference/v1/generate': () => recorded(/^vllm-0\.32\.0-generate$/, 'tokens, logprobs 0'),
      'POST /inference/v1/abort_requests': () => recorded(/^vllm-0\.32\.0-abort$/, 'abort_requests unknown id'),
    });
    expect(await vllm.probe(http)).toEqual({
      engine: 'vllm',
      version: '0.32.0',
      route: 'generate',
      model: 'tiny',
      contextTokens: 2048,
      weightVersion: 'step-1',
      // The recorded request had no id of ours.
      facts: { logprobsAtLeast: 0, abort: true, echoesRequestId: false, integerLogprobs: true, weightVersions: true, fallbackReason: null },
    });
  });

  it('trusts a server that echoes the id of the probe to echo all', async () => {
    const echo = (body: Record<string, unknown>) => {
      const answer = JSON.parse(Buffer.from(recorded(/^vllm-0\.32\.0-generate$/, 'tokens, logprobs 0').body).toString()) as object;
      return json(200, { ...answer, request_id: `generate-tokens-${String(body.request_id)}` });
    };
    const { http } = server({ ...vllmInfo, 'POST /inference/v1/generate': echo });
    expect((await vllm.probe(http)).facts).toMatchObject({ echoesRequestId: true, abort: false });
  });

  it('sends one logprob more to 0.12, which gives none for 0', async () => {
    const { http } = server({
      ...vllmInfo,
      'POST /inference/v1/generate': (body) =>
        recorded(/^vllm-0\.12\.0-generate$/, `tokens, logprobs ${String((body.sampling_params as { logprobs: number }).logprobs)}`),
    });
    const probe = await vllm.probe(http);
    expect(probe).toMatchObject({ route: 'generate', facts: { logprobsAtLeast: 1, abort: false, integerLogprobs: false } });
    expect(vllm.abort('rg-1', probe)).toBeNull();
  });

  it.each([
    ['is closed (0.32)', () => recorded(/^vllm-0\.32\.0-gate$/, 'generate'), 'Scale-out endpoints are disabled'],
    ['is not there (0.30)', () => json(404, { detail: 'Not Found' }), 'Not Found'],
    ['is for another method', () => json(405, { detail: 'Method Not Allowed' }), 'Method Not Allowed'],
  ])('falls back to completions where the token route %s', async (_name, refusal, reason) => {
    const { http } = server({
      ...vllmInfo,
      'POST /inference/v1/generate': refusal,
      'POST /v1/completions': () => recorded(/^vllm-0\.32\.0-gate$/, 'completions with token ids still works'),
    });
    const probe = await vllm.probe(http);
    expect(probe.route).toBe('completions');
    expect(probe.facts).toMatchObject({ tokenIds: 'listed', abort: false, fallbackReason: expect.stringContaining(reason) });
  });

  it('asks for spelled ids where completions do not list them', async () => {
    const { http } = server({
      ...vllmInfo,
      'POST /v1/completions': (body) =>
        body.return_tokens_as_token_ids === true
          ? recorded(/^vllm-0\.32\.0-completions$/, 'return_tokens_as_token_ids')
          : recorded(/^vllm-0\.32\.0-completions$/, 'unknown key'),
    });
    expect(await vllm.probe(http)).toMatchObject({ route: 'completions', facts: { tokenIds: 'spelled' } });
  });

  it('refuses a server that gives no ids at all, and says what would help', async () => {
    const { http } = server({ ...vllmInfo, 'POST /v1/completions': () => recorded(/^vllm-0\.32\.0-completions$/, 'unknown key') });
    await expect(vllm.probe(http)).rejects.toMatchObject({
      code: 'engine_unusable',
      message: expect.stringContaining('--enable-scale-out'),
    });
  });

  it('does not take a failure for a missing route', async () => {
    const { http, asked } = server({ ...vllmInfo, 'POST /inference/v1/generate': () => json(500, { error: { message: 'boom' } }) });
    await expect(vllm.probe(http)).rejects.toMatchObject({ code: 'engine_failed', message: expect.stringContaining('boom') });
    expect(asked).not.toContain('POST /v1/completions');
  });
});

describe('a server of another kind', () => {
  const nothing = { 'GET /health': () => json(200, {}) };
  it.each([
    ['vllm', vllm, { ...nothing, 'GET /get_model_info': () => json(200, {}), 'POST /v1/completions': () => json(200, { choices: [{}] }) }],
    ['sglang', sglang, { ...nothing, 'GET /version': () => json(200, { version: '0.32.0' }) }],
  ] as const)('is named where %s was expected', async (_name, engine, answers) => {
    const other = engine === vllm ? 'SGLang: set engine to sglang' : 'vLLM: set engine to vllm';
    const failure = engine.probe(server(answers).http);
    await expect(failure).rejects.toMatchObject({ code: 'engine_unusable', message: expect.stringContaining(`this looks like ${other}`) });
  });

  it.each([
    [vllm, 'is this really vLLM, and engineUrl its root? For SGLang set engine to sglang'],
    [sglang, 'is this really SGLang, and engineUrl its root? For vLLM set engine to vllm'],
  ])('is asked about where no known route answers', async (engine, words) => {
    await expect(engine.probe(server(nothing).http)).rejects.toMatchObject({ message: expect.stringContaining(words) });
    await expect(engine.probe(server({}).http)).rejects.toMatchObject({ message: expect.stringContaining('GET /health gives 404') });
  });
});

describe('probing SGLang', () => {
  const file = /^sglang-0\.5\.23-info$/;
  const sampled = () => recorded(/^sglang-0\.5\.23-generate$/, 'logprobs');
  const rest = {
    'GET /health': () => recorded(file, '/health'),
    'GET /v1/models': () => recorded(file, '/v1/models'),
    'POST /generate': sampled,
  };

  it('reads model, context and weight version of 0.5.23', async () => {
    const { http } = server({
      ...rest,
      'GET /model_info': () => recorded(file, '/model_info'),
      'GET /server_info': () => json(200, { version: '0.5.23', skip_tokenizer_init: false }),
    });
    expect(await sglang.probe(http)).toEqual({
      engine: 'sglang',
      version: '0.5.23',
      route: 'generate',
      model: 'tiny',
      contextTokens: 2048,
      weightVersion: 'default',
      facts: { echoesRequestId: false, promptTokensMax: 2041, totalTokensMax: 2046, weightVersions: true, listsIds: true, tokenizer: true },
    });
  });

  it('knows the older names of its routes', async () => {
    const { http } = server({
      ...rest,
      'GET /get_model_info': () => recorded(file, '/get_model_info'),
      'GET /get_server_info': () => json(200, { version: '0.4.0' }),
    });
    expect(await sglang.probe(http)).toMatchObject({ version: '0.4.0', weightVersion: 'default' });
  });

  it('refuses a server that gives no logprobs', async () => {
    const { http } = server({ ...rest, 'POST /generate': () => recorded(/^sglang-0\.5\.23-generate$/, 'no logprobs') });
    await expect(sglang.probe(http)).rejects.toMatchObject({ code: 'engine_unusable' });
  });
});
