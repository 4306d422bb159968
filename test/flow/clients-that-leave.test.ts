import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRowsMatchLedger, type Flow, plan, startFlow, until } from '../support/flow.js';

const STEP_MS = 15;

describe('clients that leave, retry and ask twice', () => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlow({
      sim: { latency: { prefillTokensPerS: 1e6, decodeStepMs: STEP_MS, decodeStepPerSequenceMs: 0, prefillChunkTokens: 8192 }, window: 8 },
      settings: { heartbeat: { streamMs: 50, bodyMs: 100 } },
    });
  });
  afterAll(() => flow.close());

  const running = (): number => flow.sim.core.scheduler.running;
  const long = { model: 'm', max_tokens: 4000, messages: [{ role: 'user' as const, content: plan({ text: 'x', ends: false }) }] };

  for (const stream of [false, true]) {
    test(`an abort while the engine samples frees it and records nothing, ${stream ? 'streamed' : 'plain'}`, async () => {
      const key = `leaves-${stream}`;
      const abort = new AbortController();
      const pending = flow.openai(key).chat.completions.create({ ...long, stream }, { signal: abort.signal });
      pending.catch(() => undefined);
      await until(() => running() > 0, 'the engine samples');
      if (stream) await pending;
      abort.abort();
      await until(() => running() === 0, 'the engine is free', 2000);
      const { traces, summary } = await flow.gateway.sessions.finish(key);
      expect(traces).toEqual([]);
      expect(summary).toMatchObject({ turns: 0, capture_error: null, tokens: { committed: 0, trained: 0 } });
    });
  }

  test('heartbeats keep a stream and a plain reply alive', async () => {
    const body = { model: 'm', messages: [{ role: 'user', content: plan({ text: 'word '.repeat(30) }) }] };
    const streamed = await (await flow.post('/v1/chat/completions', 'beats', { ...body, stream: true })).text();
    expect(streamed.split('\n').filter((line) => line.startsWith(':')).length).toBeGreaterThan(1);
    expect(streamed.trimEnd().endsWith('data: [DONE]')).toBe(true);
    const plain = await (await flow.post('/v1/chat/completions', 'beats', body)).text();
    expect(plain.startsWith(' \n')).toBe(true);
    expect(JSON.parse(plain)).toMatchObject({ object: 'chat.completion' });
    const messages = await (await flow.post('/v1/messages', 'beats', { ...body, max_tokens: 200, stream: true })).text();
    expect(messages).toContain('event: ping');
    await flow.gateway.sessions.finish('beats');
  });

  test('a marked retry joins the running turn, and replays it when it is over', async () => {
    const serial = flow.sim.ledger().at(-1)?.serial ?? 0;
    const body = { model: 'm', messages: [{ role: 'user', content: plan({ text: 'once and only once' }) }] };
    const first = flow.post('/v1/chat/completions', 'retries', body);
    await until(() => running() > 0, 'the engine samples');
    const joined = flow.post('/v1/chat/completions', 'retries', body, { 'x-stainless-retry-count': '1' });
    const texts = await Promise.all([first, joined].map(async (reply) => ((await (await reply).json()) as { id: string }).id));
    const replayed = (await (await flow.post('/v1/chat/completions', 'retries', body, { 'x-stainless-retry-count': '2' })).json()) as {
      id: string;
    };
    expect(new Set([...texts, replayed.id]).size).toBe(1);
    const { traces, summary } = await flow.gateway.sessions.finish('retries');
    expect(summary).toMatchObject({ turns: 1, rows: 1 });
    expect(flow.sim.ledger(serial)).toHaveLength(1);
    expectRowsMatchLedger(flow.sim, traces, serial);
  });

  test('equal requests without a mark are siblings that name each other', async () => {
    const serial = flow.sim.ledger().at(-1)?.serial ?? 0;
    const body = { model: 'm', messages: [{ role: 'user', content: 'twins' }], max_tokens: 6 };
    await Promise.all(
      [flow.post('/v1/chat/completions', 'twins', body), flow.post('/v1/chat/completions', 'twins', body)].map(async (reply) =>
        (await reply).text(),
      ),
    );
    const { traces, summary } = await flow.gateway.sessions.finish('twins');
    expect(summary).toMatchObject({ turns: 2, rows: 2, capture_yield: 1 });
    expect(traces.flatMap((row) => row.turns.map((turn) => turn.duplicate_of)).filter((row) => row !== null)).toHaveLength(1);
    expectRowsMatchLedger(flow.sim, traces, serial);
  });

  test('a marked retry of a turn that was aborted is sampled anew, and only that is recorded', async () => {
    const serial = flow.sim.ledger().at(-1)?.serial ?? 0;
    const body = { model: 'm', messages: [{ role: 'user', content: plan({ text: 'a b c d e f' }) }] };
    const abort = new AbortController();
    const gone = fetch(`${flow.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer leaver', 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: abort.signal,
    });
    gone.catch(() => undefined);
    await until(() => running() > 0, 'the engine samples');
    abort.abort();
    await until(() => running() === 0, 'the engine is free');
    const retry = await flow.post('/v1/chat/completions', 'leaver', body, { 'x-stainless-retry-count': '1' });
    expect(await retry.json()).toMatchObject({ choices: [{ message: { content: 'a b c d e f' } }] });
    const { summary } = await flow.gateway.sessions.finish('leaver');
    expect(summary).toMatchObject({ turns: 1, rows: 1, capture_yield: 1, capture_error: null });
    const [aborted, whole, ...more] = flow.sim.ledger(serial);
    expect(more).toEqual([]);
    expect([aborted?.finish.reason, whole?.finish.reason]).toEqual(['abort', 'stop']);
    expect(summary.tokens).toMatchObject({
      trained: whole!.outputIds.length,
      sampled: whole!.outputIds.length + aborted!.outputIds.length,
    });
  });

  test('finish waits for a running turn, then aborts it', async () => {
    const running1 = flow.post('/v1/chat/completions', 'finishing', {
      model: 'm',
      messages: [{ role: 'user', content: plan({ text: 'a b c' }) }],
    });
    await until(() => running() > 0, 'the engine samples');
    const waited = await flow.gateway.sessions.finish('finishing', { wait_ms: 10_000 });
    expect(waited.summary).toMatchObject({ turns: 1, aborted_turns: 0 });
    expect((await running1).status).toBe(200);
    const running2 = flow.post('/v1/chat/completions', 'finishing-2', long);
    await until(() => running() > 0, 'the engine samples');
    const aborted = await flow.gateway.sessions.finish('finishing-2', { wait_ms: 0 });
    expect(aborted.summary).toMatchObject({ turns: 0, aborted_turns: 1, capture_error: null });
    expect((await running2).status).toBe(403);
    await until(() => running() === 0, 'the engine is free', 2000);
  });
});
