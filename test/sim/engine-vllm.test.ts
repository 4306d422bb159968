import { describe, expect, it } from 'vitest';
import { hashIds, simLogprob } from '../../src/sim/hash.js';
import { call, engine, plan, prompt, SLOW, type VllmAnswer, vllm } from './calls.js';

describe('the simulated vLLM', () => {
  it('plays the plan in the prompt and keeps what it sampled', async () => {
    const sim = await engine();
    const asked = plan({ reasoning: 'Look.', text: 'I will.', calls: [{ name: 'f', arguments: { x: 1, y: [true, null] } }] });
    const { body } = await vllm(sim, asked, {}, { request_id: 'r-1', return_token_ids: true });
    const [choice] = body.choices;
    const { vocabulary } = sim.core.options;
    expect(vocabulary.decode(choice!.token_ids!)).toBe(
      '<think>\nLook.\n</think>\n\nI will.\n<tool_call>\n{"name": "f", "arguments": {"x": 1, "y": [true, null]}}\n</tool_call><|im_end|>',
    );
    expect(choice).toMatchObject({ finish_reason: 'stop', stop_reason: null });
    expect(body.request_id).toBe('generate-tokens-r-1');
    expect(body.prompt_token_ids).toEqual(prompt(sim, asked));
    const [entry] = sim.ledger();
    expect(entry).toMatchObject({
      requestId: 'r-1',
      fault: null,
      delivered: true,
      finish: { reason: 'stop', matched: vocabulary.eosIds[0] },
    });
    expect(Array.from(entry!.promptIds)).toEqual(prompt(sim, asked));
    expect(Array.from(entry!.outputIds)).toEqual(choice!.token_ids);
    const hash = hashIds(prompt(sim, asked));
    const expected = choice!.token_ids!.map((id, position) => simLogprob(7, hash, position, id));
    expect(choice!.logprobs!.content.map((it) => it.logprob)).toEqual(expected);
    expect(choice!.logprobs!.content.map((it) => it.token_id)).toEqual(choice!.token_ids);
    expect(Array.from(entry!.logprobs)).toEqual(expected);
  });

  it('gives the same to the same seed and prompt, and something else the second time it is asked', async () => {
    const [one, two] = [await engine(), await engine()];
    const first = await vllm(one, 'anything');
    expect((await vllm(two, 'anything')).body.choices).toEqual(first.body.choices);
    expect((await vllm(one, 'anything')).body.choices[0]!.token_ids).not.toEqual(first.body.choices[0]!.token_ids);
  });

  it('stops at max_tokens, at stop tokens and at stop strings, which stay in the ids', async () => {
    const sim = await engine();
    const ids = sim.core.options.vocabulary;
    const asked = plan({ text: 'one two STOP three' });
    const cut = (await vllm(sim, asked, { max_tokens: 2 })).body.choices[0]!;
    expect(cut).toMatchObject({ finish_reason: 'length', stop_reason: null });
    expect(cut.token_ids).toHaveLength(2);
    const two = ids.encode(' two')[0]!;
    const token = (await vllm(sim, asked, { stop_token_ids: [two] })).body.choices[0]!;
    expect(token).toMatchObject({ finish_reason: 'stop', stop_reason: two });
    expect(token.token_ids!.at(-1)).toBe(two);
    const string = (await vllm(sim, asked, { stop: ['STOP'], detokenize: true })).body.choices[0]!;
    expect(string).toMatchObject({ finish_reason: 'stop', stop_reason: 'STOP' });
    expect(ids.decode(string.token_ids!)).toBe('one two STOP');
  });

  it('goes on past the end token with ignore_eos and before min_tokens', async () => {
    const sim = await engine();
    const on = (await vllm(sim, plan({ text: 'hi' }), { ignore_eos: true, max_tokens: 30 })).body.choices[0]!;
    expect(on).toMatchObject({ finish_reason: 'length' });
    expect(on.token_ids).toHaveLength(30);
    const longer = (await vllm(sim, plan({ text: 'hi' }), { min_tokens: 10, max_tokens: 20 })).body.choices[0]!;
    expect(longer.token_ids!.length).toBeGreaterThanOrEqual(10);
  });

  it.each([
    ['a prompt as long as the context', { token_ids: new Array(131072).fill(1) }, 'longer than the maximum model length of 131072'],
    ['an id beyond the vocabulary', { token_ids: [5, 1088] }, 'Token id 1088 is out of vocabulary'],
    ['a negative id', { token_ids: [-1] }, 'not negative'],
    ['no ids', { token_ids: [] }, 'at least 1 item'],
    ['no sampling_params', { token_ids: [1], sampling_params: undefined }, 'Field required'],
    ['max_tokens 0', { token_ids: [1], sampling_params: { max_tokens: 0 } }, 'at least 1, got 0'],
  ])('refuses %s with 400', async (_, body, words) => {
    const sim = await engine();
    const { status, body: answer } = await call<{ error: { message: string } }>(sim, '/inference/v1/generate', {
      sampling_params: {},
      ...body,
    });
    expect(status).toBe(400);
    expect(answer.error.message).toContain(words);
    expect(sim.counters.requests).toBe(0);
  });

  it('answers 404 for another model, 403 without scale-out, 401 without the key', async () => {
    const body = { token_ids: [1], sampling_params: {}, model: 'other' };
    expect((await call(await engine(), '/inference/v1/generate', body)).status).toBe(404);
    expect((await call(await engine({ scaleOut: false }), '/inference/v1/generate', body)).status).toBe(403);
    const guarded = await engine({ apiKey: 'k' });
    expect((await call(guarded, '/inference/v1/generate', body)).status).toBe(401);
    expect((await call(guarded, '/v1/models')).status).toBe(401);
    expect((await call(guarded, '/health')).status).toBe(200);
  });

  it('takes token ids on /v1/completions and shows them', async () => {
    const sim = await engine();
    const { body } = await call<{
      choices: [
        { text: string; token_ids: number[]; prompt_token_ids: number[]; logprobs: { tokens: string[]; token_logprobs: number[] } },
      ];
    }>(sim, '/v1/completions', { prompt: prompt(sim, plan({ text: 'Hello' })), max_tokens: 9, logprobs: 0, return_token_ids: true });
    const [choice] = body.choices;
    expect(choice.text).toBe('Hello');
    expect(choice.logprobs.tokens).toEqual(choice.token_ids.map((id) => `token_id:${id}`));
    expect(choice.logprobs.token_logprobs).toEqual(Array.from(sim.ledger()[0]!.logprobs));
  });

  it('ends an aborted request with what it has, and only by its prefixed id', async () => {
    const sim = await engine({ latency: SLOW });
    const running = vllm(sim, 'a long one', { ignore_eos: true, max_tokens: 5000 }, { request_id: 'ab-1' });
    await until(() => sim.core.scheduler.handles()[0]?.produced);
    await call(sim, '/inference/v1/abort_requests', { request_ids: ['ab-1', 'unknown'] });
    expect(sim.core.scheduler.running).toBe(1);
    await call(sim, '/inference/v1/abort_requests', { request_ids: ['generate-tokens-ab-1'] });
    const [choice] = (await running).body.choices;
    expect(choice!.finish_reason).toBe('abort');
    expect(choice!.token_ids!.length).toBeGreaterThan(0);
    expect(Array.from(sim.ledger()[0]!.outputIds)).toEqual(choice!.token_ids);
  });

  it('frees the slot of a client that leaves', async () => {
    const sim = await engine({ latency: SLOW, window: 1 });
    const leaving = new AbortController();
    const body = JSON.stringify({ token_ids: prompt(sim, 'x'), sampling_params: { ignore_eos: true, max_tokens: 5000 } });
    const gone = fetch(`${sim.url}/inference/v1/generate`, { method: 'POST', body, signal: leaving.signal }).catch(() => 'gone');
    await until(() => sim.core.scheduler.handles()[0]?.produced);
    leaving.abort();
    expect(await gone).toBe('gone');
    expect((await vllm(sim, plan({ text: 'next' }))).status).toBe(200);
    expect(sim.ledger().map((entry) => [entry.finish.reason, entry.delivered])).toEqual([
      ['abort', false],
      ['stop', true],
    ]);
  });

  it('freezes on pause, marks which weights sampled what, and goes on after resume', async () => {
    const sim = await engine({ latency: SLOW });
    const running = vllm(sim, 'a long one', { ignore_eos: true, max_tokens: 40 });
    await until(() => sim.core.scheduler.handles()[0]?.produced);
    await call(sim, '/pause?mode=keep', {});
    const produced = sim.core.scheduler.handles()[0]!.produced;
    const waiting = vllm(sim, plan({ text: 'new' }));
    await call(sim, '/update_weight_version', { new_version: 'v2' });
    expect((await call(sim, '/is_paused')).body).toEqual({ is_paused: true });
    await call(sim, '/resume', {});
    expect((await running).body.choices[0]!.weight_versions).toEqual([
      { version: 'default', start: 0, end: produced },
      { version: 'v2', start: produced, end: 40 },
    ]);
    expect((await waiting).body.choices[0]!.weight_versions).toMatchObject([{ version: 'v2', start: 0 }]);
  });

  it('aborts or drains by the mode of the pause', async () => {
    const sim = await engine({ latency: SLOW });
    const cut = vllm(sim, 'a long one', { ignore_eos: true, max_tokens: 5000 });
    await until(() => sim.core.scheduler.running);
    await call(sim, '/pause?mode=abort', {});
    expect((await cut).body.choices[0]!.finish_reason).toBe('abort');
    await call(sim, '/resume', {});
    const whole = vllm(sim, 'another', { ignore_eos: true, max_tokens: 10 });
    await until(() => sim.core.scheduler.running);
    await call(sim, '/pause?mode=wait', {});
    expect(sim.core.scheduler.running).toBe(0);
    expect((await whole).body.choices[0]!.finish_reason).toBe('length');
  });

  it('counts what the prefix cache saves', async () => {
    const sim = await engine();
    const ids = Array.from({ length: 100 }, (_, i) => i);
    const cached = async (more: object = {}) => {
      const { body } = await call<VllmAnswer>(sim, '/inference/v1/generate', {
        token_ids: ids,
        sampling_params: { max_tokens: 1 },
        ...more,
      });
      return body.usage.prompt_tokens_details.cached_tokens;
    };
    expect([await cached(), await cached(), await cached({ cache_salt: 'other' })]).toEqual([0, 96, 0]);
    expect(sim.counters).toMatchObject({ prefixQueries: 300, prefixHits: 96 });
    await call(sim, '/reset_prefix_cache', {});
    expect(await cached()).toBe(0);
  });

  it('refuses with 503 when its queue is full', async () => {
    const sim = await engine({ latency: SLOW, window: 1, maxQueued: 2 });
    const both = [vllm(sim, 'a', { max_tokens: 20 }), vllm(sim, 'b', { max_tokens: 20 })];
    await until(() => sim.core.scheduler.waiting);
    expect((await vllm(sim, 'c')).status).toBe(503);
    for (const { status } of await Promise.all(both)) expect(status).toBe(200);
  });

  it('answers other paths as FastAPI does', async () => {
    const sim = await engine();
    expect(await call(sim, '/nope')).toEqual({ status: 404, body: { detail: 'Not Found' } });
    expect(await call(sim, '/inference/v1/generate')).toEqual({ status: 405, body: { detail: 'Method Not Allowed' } });
    expect((await call(sim, '/v1/models')).body).toMatchObject({ data: [{ id: 'sim', max_model_len: 131072 }] });
    expect((await call(sim, '/version')).body).toEqual({ version: '0.32.0' });
    const metrics = await (await fetch(`${sim.url}/metrics`)).text();
    expect(metrics).toContain('vllm:num_requests_running{engine="0",model_name="sim"} 0');
    expect((await fetch(`${sim.url}/inference/v1/generate`, { method: 'POST', body: '{nope' })).status).toBe(400);
  });
});

/** Waits until something is truthy; the test's own time limit bounds it. */
async function until(what: () => unknown): Promise<void> {
  while (!what()) await new Promise((resolve) => setTimeout(resolve, 2));
}
