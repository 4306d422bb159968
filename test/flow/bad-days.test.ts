import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';
import { loadGateway, plan, startFlow, startSim, until } from '../support/flow.js';

describe('crashes and engines that are down', () => {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  test.each(['throw', 'exit'] as const)(
    'a shard that ends by %s leaves the others serving and its sessions with a definite error',
    async (how) => {
      const flow = await startFlow({ settings: { test: { faults: true } } });
      cleanups.push(() => flow.close());
      const body = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: plan({ text: 'ok' }) }] };
      const keys = Array.from({ length: 12 }, (_, n) => `crash-${n}`);
      for (const key of keys) expect((await flow.post('/v1/chat/completions', key, body)).status).toBe(200);
      flow.gateway.crashShard(0, how);
      const statuses = new Map<string, number>();
      await until(async () => {
        for (const key of keys) {
          const reply = await flow.post('/v1/chat/completions', key, body);
          const text = await reply.text();
          if (reply.status === 403) expect(text).toContain('session_lost');
          statuses.set(key, reply.status);
        }
        return [...statuses.values()].includes(403);
      }, 'lost sessions are refused');
      const lost = keys.filter((key) => statuses.get(key) === 403);
      const kept = keys.filter((key) => statuses.get(key) === 200);
      expect(lost.length + kept.length).toBe(keys.length);
      expect(kept.length).toBeGreaterThan(0);
      const messages = await flow.post('/v1/messages', lost[0]!, body);
      expect(messages.status).toBe(403);
      await expect(flow.gateway.sessions.finish(lost[0]!)).rejects.toMatchObject({ code: 'session_lost' });
      await flow.gateway.ready(20_000);
      await flow.gateway.sessions.create({ session_id: lost[0]! });
      expect((await flow.post('/v1/chat/completions', lost[0]!, body)).status).toBe(200);
      for (const key of kept) expect((await flow.gateway.sessions.finish(key)).summary.capture_yield).toBe(1);
    },
  );

  test('a shard that hangs is replaced', async () => {
    const flow = await startFlow({ settings: { test: { faults: true }, shard: { hangMs: 2000 }, shards: 1 } });
    cleanups.push(() => flow.close());
    const body = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'x' }] };
    expect((await flow.post('/v1/chat/completions', 'hung', body)).status).toBe(200);
    flow.gateway.crashShard(0, 'hang');
    const reply = await flow.post('/v1/chat/completions', 'hung', body);
    expect(reply.status).toBe(403);
    await flow.gateway.ready(20_000);
    expect((await flow.post('/v1/chat/completions', 'fresh', body)).status).toBe(200);
  });

  test('an engine that is down is waited for and found when it comes up', async () => {
    const port = await freePort();
    const RolloutGateway = await loadGateway();
    const gateway = RolloutGateway.fromEngine({
      engineUrl: `http://127.0.0.1:${port}`,
      model: SIM_MODEL_DIR,
      settings: { shards: 1, log: { level: 'silent' }, backend: { probeDownMs: 100, probeIntervalMs: 100 } },
    });
    const { url } = await gateway.start();
    cleanups.push(() => gateway.close());
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const notReady = await fetch(`${url}/readyz`);
    expect(notReady.status).toBe(503);
    expect(await notReady.text()).toContain(`127.0.0.1:${port}`);
    const headers = { authorization: 'Bearer early', 'content-type': 'application/json' };
    const early = fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] }),
    });
    const sim = await startSim({ port });
    cleanups.push(() => sim.close());
    expect((await early).status).toBe(200);
    await until(async () => (await fetch(`${url}/readyz`)).status === 200, 'ready');
    await sim.die(2500);
    await until(async () => (await fetch(`${url}/readyz`)).status === 503, 'not ready', 10_000);
    await until(async () => (await fetch(`${url}/readyz`)).status === 200, 'ready again');
  });

  test('SGLang is spoken as well', async () => {
    const flow = await startFlow({ sim: { engine: 'sglang' } });
    cleanups.push(() => flow.close());
    const reply = await flow
      .openai('sglang')
      .chat.completions.create({ model: 'm', messages: [{ role: 'user', content: plan({ text: 'by sglang' }) }] });
    expect(reply.choices[0]?.message.content).toBe('by sglang');
    const { traces } = await flow.gateway.sessions.finish('sglang');
    expect(traces[0]?.turns[0]).toMatchObject({ engine: 'sglang', logprob_basis: 'tempered' });
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise<void>((done) => server.close(() => done()));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
