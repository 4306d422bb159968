import { describe, expect, it } from 'vitest';
import { call, engine, plan, prompt, SLOW, sglang } from './calls.js';

describe('the simulated SGLang', () => {
  it('answers ids and logprob tuples', async () => {
    const sim = await engine({ engine: 'sglang' });
    const { body } = await sglang(sim, plan({ text: 'Hello' }), {}, { rid: 'r-1', top_logprobs_num: 2 });
    const [entry] = sim.ledger();
    expect(body.text).toBe('Hello');
    expect(body.output_ids).toEqual(Array.from(entry!.outputIds));
    expect(body.meta_info).toMatchObject({ id: 'r-1', finish_reason: { type: 'stop', matched: sim.core.options.vocabulary.eosIds[0] } });
    expect(body.meta_info.output_token_logprobs).toEqual(Array.from(entry!.outputIds, (id, i) => [entry!.logprobs[i], id, null]));
    expect(body.meta_info.weight_versions).toEqual([{ version: 'default', start: 0, end: entry!.outputIds.length }]);
  });

  it.each([
    ['an unknown sampling key', { sampling_params: { max_tokens: 4 } }, /unknown field `max_tokens`/],
    ['prompt and reply beyond the context', { sampling_params: { max_new_tokens: 131072 } }, /Requested token count exceeds/],
    ['an empty prompt', { input_ids: [] }, /cannot be empty/],
  ])('refuses %s with 400', async (_, body, words) => {
    const sim = await engine({ engine: 'sglang' });
    const answer = await call(sim, '/generate', { input_ids: [1, 2], sampling_params: {}, ...body });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toMatch(words);
  });

  it('dies of an id beyond the vocabulary', async () => {
    const sim = await engine({ engine: 'sglang' });
    await expect(call(sim, '/generate', { input_ids: [1088], sampling_params: {} })).rejects.toThrow();
    await expect(call(sim, '/health')).rejects.toThrow();
  });

  it('aborts by rid, exactly, and refuses a rid that is in flight', async () => {
    const sim = await engine({ engine: 'sglang', latency: SLOW });
    const running = sglang(sim, 'x', { ignore_eos: true, max_new_tokens: 5000 }, { rid: 'ab-22' });
    while (!sim.core.scheduler.running) await new Promise((resolve) => setTimeout(resolve, 2));
    expect((await sglang(sim, 'y', {}, { rid: 'ab-22' })).status).toBe(400);
    await call(sim, '/abort_request', { rid: 'ab-2' });
    expect(sim.core.scheduler.running).toBe(1);
    await call(sim, '/abort_request', { rid: 'ab-22' });
    expect((await running).body.meta_info.finish_reason).toMatchObject({ type: 'abort', message: 'Aborted' });
  });

  it('pauses in place and goes on under other weights', async () => {
    const sim = await engine({ engine: 'sglang', latency: SLOW });
    const running = sglang(sim, 'x', { ignore_eos: true, max_new_tokens: 20 });
    while (!sim.core.scheduler.handles()[0]?.produced) await new Promise((resolve) => setTimeout(resolve, 2));
    await call(sim, '/pause_generation', { mode: 'in_place' });
    await call(sim, '/update_weight_version', { new_version: 'w1' });
    await call(sim, '/continue_generation', {});
    expect((await running).body.meta_info.weight_versions).toHaveLength(2);
    expect((await call(sim, '/model_info')).body).toMatchObject({ weight_version: 'w1', is_generation: true });
  });

  it('has the routes that a probe asks for', async () => {
    const sim = await engine({ engine: 'sglang' });
    expect((await call(sim, '/server_info')).body).toMatchObject({ version: '0.5.23', context_length: 131072 });
    expect((await call(sim, '/v1/models')).body).toMatchObject({ data: [{ owned_by: 'sglang' }] });
    expect((await call(sim, '/health')).status).toBe(200);
    expect((await call(sim, '/inference/v1/generate', {})).status).toBe(404);
    expect(prompt(sim, 'x').length).toBeGreaterThan(3);
  });
});
