import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Flow, plan, startFlow, until } from '../support/flow.js';

describe('sessions over HTTP', () => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlow({
      sim: { faults: [{ kind: 'slow', ms: 500, prompt: 'slow' }] },
      settings: { traces: { leaseMs: 300 } },
    });
  });
  afterAll(() => flow.close());

  const ask = (key: string, text = 'hello'): Promise<Response> =>
    flow.post('/v1/chat/completions', key, { model: 'm', max_tokens: 12, messages: [{ role: 'user', content: text }] });
  const json = async (reply: Promise<Response>): Promise<Record<string, unknown>> =>
    (await (await reply).json()) as Record<string, unknown>;
  const trainer = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${flow.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  test('create, turn, state, tree, finish, acknowledge', async () => {
    const created = await trainer('POST', '/sessions', {
      session_id: 'run/1: ü',
      metadata: { seed: 1.0 },
      rollout_id: 'r',
      group_id: 'g',
      sample_index: 3,
    });
    expect(created.status).toBe(201);
    const { api_key, base_urls } = (await created.json()) as { api_key: string; base_urls: Record<string, string> };
    expect(Object.values(base_urls).every((base) => base.startsWith('http'))).toBe(true);
    expect((await trainer('POST', '/sessions', { session_id: 'run/1: ü' })).status).toBe(409);
    expect((await ask(api_key)).status).toBe(200);
    const path = `/sessions/${encodeURIComponent('run/1: ü')}`;
    expect(await json(trainer('GET', path))).toMatchObject({ session_id: 'run/1: ü', state: 'open', turns: 1 });
    expect(await (await trainer('GET', `${path}/tree?format=text`)).text()).toContain('user');
    const finished = await json(trainer('POST', `${path}/finish?include=messages,segments`, { reward: 1, metadata: { judge: 'x' } }));
    expect(finished).toMatchObject({
      session_id: 'run/1: ü',
      traces: [{ reward: 1, rollout_id: 'r', group_id: 'g', sample_index: 3, metadata: { seed: 1, judge: 'x' } }],
      summary: { turns: 1, capture_yield: 1 },
    });
    const again = await json(trainer('POST', `${path}/finish`, {}));
    expect((again.traces as unknown[]).length).toBe(1);
    expect((await ask(api_key)).status).toBe(403);
    expect(await json(trainer('POST', '/traces/ack', { session_ids: ['run/1: ü', 'unknown'] }))).toEqual({ acked: 1, unknown: 1 });
    expect((await trainer('POST', `${path}/finish`, {})).status).toBe(404);
    expect((await trainer('POST', '/sessions', { session_id: 'run/1: ü' })).status).toBe(201);
    expect((await ask(api_key)).status).toBe(200);
    expect((await trainer('DELETE', path)).status).toBe(200);
  });

  test('rewards of turns and rows that are not there are refused, and nothing of the call is applied', async () => {
    await ask('rewarded');
    const wrong = { reward: 1, metadata: { judge: 'x' }, turn_rewards: { t0: 1, t9: 1 }, row_rewards: [1, 2] };
    const refused = await trainer('POST', '/sessions/rewarded/finish', wrong);
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      {
        error: {
          code: 'invalid_request',
          message: expect.stringMatching(/`turn_rewards` names t9, the session has the turns t0; `row_rewards` has 2 entries, .* has 1\b/),
        },
      },
    ]);
    expect(await json(trainer('GET', '/sessions/rewarded'))).toMatchObject({ state: 'open' });
    expect((await ask('rewarded', 'and')).status).toBe(200);
    const rows = await json(trainer('POST', '/sessions/rewarded/finish', { turn_rewards: { t0: 0.5 } }));
    expect(rows).toMatchObject({
      traces: [
        { reward: null, metadata: {} },
        { reward: null, metadata: {} },
      ],
    });
    expect((await trainer('POST', '/sessions/rewarded/finish', wrong)).status).toBe(400);
    const again = await json(trainer('POST', '/sessions/rewarded/finish', { row_rewards: [1, null], ack: true }));
    expect(again).toMatchObject({
      traces: [
        { reward: 1, metadata: {} },
        { reward: null, metadata: {} },
      ],
    });
  });

  test('rewards that turn out wrong when the running turns have ended leave the session finished without any', async () => {
    const running = ask('late', plan({ text: 'slow' }));
    await until(async () => (await (await trainer('GET', '/sessions/late')).text()).includes('"running_turns":1'), 'a turn runs');
    const refused = await trainer('POST', '/sessions/late/finish', { reward: 1, turn_rewards: { t7: 1 } });
    expect((await running).status).toBe(200);
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { message: expect.stringMatching(/names t7,.*The session is finished\.$/) } },
    ]);
    expect(await json(trainer('POST', '/sessions/late/finish', { ack: true }))).toMatchObject({ traces: [{ reward: null }] });
  });

  test('a lease that is not acknowledged comes again, in every encoding', async () => {
    const ids = ['lease-a', 'lease-b', 'lease-c'];
    for (const id of ids) await ask(id);
    for (const id of ids) await flow.gateway.sessions.finish(id, { reward: 0 });
    const first = (await json(trainer('GET', '/traces?max=10&wait_ms=1000'))) as { lease_id: string; sessions: { session_id: string }[] };
    expect(first.sessions.map(({ session_id }) => session_id).sort()).toEqual(ids);
    expect(await json(trainer('GET', '/traces'))).toMatchObject({ lease_id: null, sessions: [] });
    await new Promise((done) => setTimeout(done, 350));
    const lines = await trainer('GET', '/traces?max=10', undefined, { accept: 'application/x-ndjson' });
    expect((await lines.text()).trim().split('\n')).toHaveLength(3);
    const lease = lines.headers.get('x-lease-id');
    expect(await json(trainer('POST', '/traces/ack', { lease_id: lease }))).toEqual({ acked: 3, unknown: 0 });
    expect(await json(trainer('POST', '/traces/ack', { lease_id: 'nobody' }))).toEqual({ acked: 0, unknown: 1 });
  });

  test('max_turns counts committed turns over both protocols', async () => {
    await trainer('POST', '/sessions', { session_id: 'capped', max_turns: 2 });
    expect((await ask('capped')).status).toBe(200);
    const messages = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] };
    expect((await flow.post('/v1/messages', 'capped', messages)).status).toBe(200);
    const refused = await ask('capped');
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { code: 'turn_limit' } });
    expect(refused.headers.get('x-should-retry')).toBe('false');
    await flow.gateway.sessions.delete('capped');
  });

  test('session sampling wins over the request', async () => {
    await trainer('POST', '/sessions', { session_id: 'fixed', sampling: { temperature: 0.25, max_tokens: 5 }, wire: { token_ids: true } });
    const reply = await json(
      flow.post('/v1/chat/completions', 'fixed', {
        model: 'm',
        temperature: 2,
        max_tokens: 500,
        messages: [{ role: 'user', content: 'hi' }],
      }),
    );
    expect((reply.prompt_token_ids as number[]).length).toBeGreaterThan(3);
    const { traces } = await flow.gateway.sessions.finish('fixed');
    expect(traces[0]?.turns[0]?.sampling).toMatchObject({ temperature: 0.25, max_tokens: 5 });
  });

  test('a client’s mistake costs no engine call and changes no tree', async () => {
    const before = flow.sim.counters.requests;
    const bad: readonly [string, string, unknown, number, string][] = [
      ['/v1/chat/completions', 'k', '{"model":', 400, 'invalid_json'],
      ['/v1/chat/completions', 'k', '[]', 400, 'invalid_json'],
      ['/v1/chat/completions', 'k', { model: 'm', messages: [] }, 400, 'invalid_request'],
      ['/v1/chat/completions', 'k', { model: 'm', messages: [{ role: 'alien', content: 'x' }] }, 400, 'invalid_request'],
      ['/v1/chat/completions', 'k', { model: 'm', n: 3, messages: [{ role: 'user', content: 'x' }] }, 400, 'unsupported_feature'],
      ['/v1/chat/completions', 'k', `${'['.repeat(5000)}`, 400, 'invalid_json'],
      ['/v1/messages', 'k', { model: 'm', max_tokens: 5, messages: [{ role: 'assistant', content: 'x' }] }, 400, 'unsupported_feature'],
    ];
    for (const [path, key, body, status, code] of bad) {
      const reply = await flow.post(path, key, body);
      expect([path, reply.status]).toEqual([path, status]);
      expect(JSON.stringify(await reply.json())).toContain(code);
    }
    expect(flow.sim.counters.requests).toBe(before);
    const tree = await trainer('GET', '/sessions/k');
    if (tree.status === 200) expect(await tree.json()).toMatchObject({ turns: 0, messages: 0 });
  });

  test('a prompt beyond the context is the dialect’s overflow error', async () => {
    await trainer('POST', '/sessions', { session_id: 'short', max_context_tokens: 20 });
    const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'word '.repeat(40) }] };
    expect(await json(flow.post('/v1/chat/completions', 'short', body))).toMatchObject({ error: { code: 'context_length_exceeded' } });
    const messages = (await json(flow.post('/v1/messages', 'short', body))) as { error: { message: string } };
    expect(messages.error.message).toMatch(/^prompt is too long: \d+ tokens > 20 maximum$/);
  });

  test('models and probes', async () => {
    const models = await flow.openai('any').models.list();
    expect(models.data).toHaveLength(1);
    expect((await fetch(`${flow.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${flow.url}/readyz`)).status).toBe(200);
    const metrics = await (await fetch(`${flow.url}/metrics`)).text();
    expect(metrics).toMatch(/rollout_gateway_tokens_total\{kind="committed"\} [1-9]/);
    await ask('metrics', plan({ text: 'x' }));
  });
});
