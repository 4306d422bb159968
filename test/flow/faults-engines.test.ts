import { afterEach, describe, expect, test } from 'vitest';
import { expectRowsMatchLedger, type Flow, type FlowOptions, plan, startFlow, startSim, until } from '../support/flow.js';

const SLOW = { prefillTokensPerS: 1e6, decodeStepMs: 10, decodeStepPerSequenceMs: 0, prefillChunkTokens: 8192 };
const long = { model: 'm', max_tokens: 60, messages: [{ role: 'user' as const, content: plan({ text: 'x', ends: false }) }] };

interface Report {
  readonly engines: readonly { readonly url: string; readonly state: string }[];
  readonly paused: string | null;
  readonly calls: number;
  readonly waiting_turns: number;
  readonly running_turns: readonly { readonly weight_version: string | null; readonly turns: number }[];
}

describe('orders about the engines', () => {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  const start = async (options: FlowOptions = {}): Promise<Flow> => {
    const flow = await startFlow({ sim: { latency: SLOW }, ...options });
    cleanups.push(() => flow.close());
    return flow;
  };
  const order = async (flow: Flow, path: string, body: unknown = {}): Promise<Report> => {
    const response = await fetch(`${flow.url}/engines${path}`, { method: 'POST', body: JSON.stringify(body) });
    expect(response.status, await response.clone().text()).toBeLessThan(300);
    return (await response.json()) as Report;
  };
  const report = async (flow: Flow): Promise<Report> => (await (await fetch(`${flow.url}/engines`)).json()) as Report;
  const running = (flow: Flow): number => flow.sim.core.scheduler.running;

  test.each(['vllm', 'sglang'] as const)(
    'a weight update by abort goes on from the tokens there are, in two spans (%s)',
    async (engine) => {
      const flow = await start({ sim: { engine, latency: SLOW } });
      await order(flow, '/resume', { weight_version: 'step-1' });
      flow.sim.core.setWeightVersion('step-1');
      const replies = ['a', 'b', 'c'].map((key) => flow.post('/v1/chat/completions', key, { ...long, max_tokens: 400 }));
      await until(() => running(flow) === 3 && flow.sim.core.scheduler.handles().every(({ produced }) => produced > 2), 'all are sampled');
      expect(await report(flow)).toMatchObject({ calls: 3, running_turns: [{ weight_version: 'step-1', turns: 3 }] });
      const paused = await order(flow, '/pause', { mode: 'abort' });
      expect(paused).toMatchObject({
        paused: 'abort',
        calls: 0,
        waiting_turns: 0,
        running_turns: [{ weight_version: 'step-1', turns: 3 }],
      });
      expect(running(flow)).toBe(0);
      const late = flow.post('/v1/chat/completions', 'd', long);
      await until(async () => (await report(flow)).waiting_turns === 1, 'a new turn waits');
      flow.sim.core.setWeightVersion('step-2');
      expect(await order(flow, '/resume', { weight_version: 'step-2' })).toMatchObject({ paused: null, weight_version: 'step-2' });
      for (const reply of await Promise.all([...replies, late])) expect(reply.status).toBe(200);
      expect(await report(flow)).toMatchObject({ calls: 0, running_turns: [] });
      for (const key of ['a', 'b', 'c', 'd']) {
        const { traces } = await flow.gateway.sessions.finish(key);
        const [turn] = traces[0]!.turns;
        const versions = turn!.weight_versions;
        expect(versions.map(({ version }) => version)).toEqual(key === 'd' ? ['step-2'] : ['step-1', 'step-2']);
        expect([versions[0]!.start, versions.at(-1)!.end]).toEqual([turn!.start, turn!.end]);
        expect(turn!.end - turn!.start).toBe(key === 'd' ? 60 : 400);
      }
    },
  );

  test('a resumption without a name answers with the version that the engine tells', async () => {
    const flow = await start();
    await order(flow, '/resume', { weight_version: 'step-1' });
    for (const version of ['step-2', 'step-3', 'step-4']) {
      await order(flow, '/pause', { mode: 'wait' });
      flow.sim.core.setWeightVersion(version);
      expect(await order(flow, '/resume')).toMatchObject({ engines: [{ weight_version: version }] });
    }
  });

  test('a pause by waiting ends when the running turns have, and says how many are left when it may wait no longer', async () => {
    const flow = await start();
    const first = flow.post('/v1/chat/completions', 'w', long);
    await until(() => running(flow) === 1, 'it is sampled');
    expect(await order(flow, '/pause', { mode: 'wait', wait_ms: 0 })).toMatchObject({ paused: 'wait', calls: 1 });
    expect(await order(flow, '/pause')).toMatchObject({ paused: 'wait', calls: 0, running_turns: [] });
    expect((await first).status).toBe(200);
    expect(await order(flow, '/resume')).toMatchObject({ paused: null });
    expect((await flow.post('/v1/chat/completions', 'w', long)).status).toBe(200);
  });

  test('turns wait out a pause with heartbeats, streamed and plain, and a client that leaves is let go', async () => {
    const flow = await start({ settings: { heartbeat: { streamMs: 30, bodyMs: 30 } } });
    await order(flow, '/pause', { mode: 'keep' });
    const streamed = await flow.post('/v1/chat/completions', 's', { ...long, stream: true });
    const reader = streamed.body!.getReader();
    let seen = '';
    while (!/(?::.*\n\n){3}/.test(seen)) seen += Buffer.from((await reader.read()).value!).toString();
    const plain = flow.post('/v1/chat/completions', 'p', long);
    const leaver = new AbortController();
    const left = fetch(`${flow.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer l', 'content-type': 'application/json' },
      body: JSON.stringify(long),
      signal: leaver.signal,
    });
    left.catch(() => undefined);
    await until(async () => (await report(flow)).waiting_turns === 3, 'three wait');
    leaver.abort();
    await until(async () => (await report(flow)).waiting_turns === 2, 'one has left');
    expect(flow.sim.ledger().filter(({ promptIds }) => promptIds.length > 1)).toEqual([]);
    await order(flow, '/resume');
    expect((await (await plain).text()).startsWith(' \n')).toBe(true);
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) seen += Buffer.from(chunk.value).toString();
    expect(seen.trimEnd().endsWith('data: [DONE]')).toBe(true);
  });

  test('a turn that the engine keeps during a pause waits with heartbeats, longer than an engine may be silent', async () => {
    const flow = await start({ settings: { heartbeat: { streamMs: 30, bodyMs: 30 }, backend: { silenceTimeoutMs: 1500, retries: 0 } } });
    await order(flow, '/resume', { weight_version: 'one' });
    const reply = await flow.post('/v1/chat/completions', 'kept', { ...long, max_tokens: 20, stream: true });
    await until(() => flow.sim.core.scheduler.handles().some(({ produced }) => produced > 2), 'it is sampled');
    await order(flow, '/pause', { mode: 'keep' });
    expect((await fetch(`${flow.sim.url}/pause?mode=keep`, { method: 'POST' })).status).toBe(200);
    const reader = reply.body!.getReader();
    let seen = '';
    // At 30 ms each these take twice the silence that is allowed.
    while ((seen.match(/^:.*$/gm) ?? []).length < 100) seen += Buffer.from((await reader.read()).value!).toString();
    expect((await report(flow)).running_turns).toEqual([{ weight_version: 'one', turns: 1 }]);
    await fetch(`${flow.sim.url}/resume`, { method: 'POST' });
    await order(flow, '/resume', { weight_version: 'two' });
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) seen += Buffer.from(chunk.value).toString();
    expect(seen.trimEnd().endsWith('data: [DONE]')).toBe(true);
    const { traces } = await flow.gateway.sessions.finish('kept');
    expectRowsMatchLedger(flow.sim, traces);
  });

  test('replicas come and go at run time, their running turns end first', async () => {
    const flow = await start();
    const second = await startSim({ latency: SLOW });
    cleanups.push(() => second.close());
    const first = flow.post('/v1/chat/completions', 'moves', long);
    await until(() => running(flow) === 1, 'it is sampled by the first');
    expect((await order(flow, '', { url: second.url })).engines.map(({ url }) => url)).toEqual([flow.sim.url, second.url]);
    await until(async () => (await report(flow)).engines.every(({ state }) => state === 'up'), 'both are up');
    const twice = await fetch(`${flow.url}/engines`, { method: 'POST', body: JSON.stringify({ url: `${second.url}/` }) });
    expect([twice.status, await twice.text()]).toEqual([409, expect.stringContaining('replica_exists')]);
    const measured = async (): Promise<boolean[]> => {
      const metrics = await (await fetch(`${flow.url}/metrics`)).text();
      return [flow.sim.url, second.url].map((url) => metrics.includes(url));
    };
    expect(await measured()).toEqual([true, true]);
    const removed = await fetch(`${flow.url}/engines?url=${flow.sim.url}`, { method: 'DELETE' });
    expect(((await removed.json()) as Report).engines.map(({ url }) => url)).toEqual([second.url]);
    expect(running(flow)).toBe(0);
    expect(await measured()).toEqual([false, true]);
    expect((await first).status).toBe(200);
    expect((await flow.post('/v1/chat/completions', 'moves', long)).status).toBe(200);
    const { traces } = await flow.gateway.sessions.finish('moves');
    expect(traces.flatMap(({ turns }) => turns.map(({ replica }) => replica))).toEqual([flow.sim.url, second.url]);
    const unknown = await fetch(`${flow.url}/engines?url=${flow.sim.url}`, { method: 'DELETE' });
    expect([unknown.status, await unknown.text()]).toEqual([404, expect.stringContaining('replica_not_found')]);
  });

  test('the same orders can be given in process', async () => {
    const flow = await start();
    const { engines } = flow.gateway;
    const reply = flow.post('/v1/chat/completions', 'inside', { ...long, max_tokens: 400 });
    await until(() => flow.sim.core.scheduler.handles().some(({ produced }) => produced > 2), 'it is sampled');
    expect(await engines.pause({ mode: 'abort' })).toMatchObject({ paused: 'abort', calls: 0, running: [{ turns: 1 }] });
    expect(await engines.state()).toMatchObject({ paused: 'abort', replicas: [{ url: flow.sim.url, state: 'up' }] });
    await expect(engines.add(flow.sim.url)).rejects.toMatchObject({ code: 'replica_exists' });
    await expect(engines.add('file:///x')).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(engines.remove('http://nowhere', 0)).rejects.toMatchObject({ code: 'replica_not_found' });
    expect(await engines.resume(7)).toMatchObject({ paused: null, weightVersion: '7' });
    expect((await reply).status).toBe(200);
  });

  test('a shard that is born during a pause keeps it, and knows the replicas of then', async () => {
    const flow = await start({ settings: { shards: 1, test: { faults: true } } });
    const second = await startSim();
    cleanups.push(() => second.close());
    await order(flow, '', { url: second.url });
    await fetch(`${flow.url}/engines?url=${flow.sim.url}`, { method: 'DELETE' });
    await order(flow, '/pause', { mode: 'wait' });
    flow.gateway.crashShard(0, 'throw');
    await until(async () => (await flow.post('/v1/messages/count_tokens', 'x', long)).status !== 200, 'the shard is gone');
    await flow.gateway.ready(20_000);
    const reply = flow.post('/v1/chat/completions', 'born-late', long);
    await until(async () => (await report(flow)).waiting_turns === 1, 'the turn waits');
    second.core.setWeightVersion('9');
    await order(flow, '/resume', { weight_version: '9' });
    expect((await reply).status).toBe(200);
    const { traces } = await flow.gateway.sessions.finish('born-late');
    expect(traces[0]!.turns[0]).toMatchObject({ replica: second.url, weight_versions: [{ version: '9' }] });
    expectRowsMatchLedger(second, traces);
  });
});
