import { afterEach, describe, expect, test } from 'vitest';
import type { LeasedTraces } from '../../src/gateway.js';
import { type Flow, plan, startFlow, until } from '../support/flow.js';

const SLOW = { prefillTokensPerS: 1e6, decodeStepMs: 10, decodeStepPerSequenceMs: 0, prefillChunkTokens: 8192 };
const short = { model: 'm', max_tokens: 20, messages: [{ role: 'user' as const, content: plan({ text: 'a b' }) }] };
const long = { model: 'm', max_tokens: 4000, messages: [{ role: 'user' as const, content: plan({ text: 'x', ends: false }) }] };

describe('threads and processes that end', () => {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  const start = async (settings: object): Promise<Flow> => {
    const flow = await startFlow({ sim: { latency: SLOW }, settings: { test: { faults: true }, ...settings } });
    cleanups.push(() => flow.close());
    return flow;
  };
  const json = async (path: string): Promise<Record<string, unknown>> => (await (await fetch(path)).json()) as Record<string, unknown>;

  test.each(['throw', 'exit', 'hang', 'heap'] as const)(
    'a shard that ends by %s: its sessions are told as failed with what is known, its calls end, the others go on',
    async (how) => {
      const flow = await start({ shards: 2, shard: { hangMs: 1500, heapMb: 96 } });
      const { sessions } = flow.gateway;
      const names = Array.from({ length: 10 }, (_, number) => `${how}-${number}`);
      for (const id of names) {
        await sessions.create({ session_id: id, rollout_id: `rollout of ${id}`, group_id: 'g', sample_index: 7 });
        expect((await flow.post('/v1/chat/completions', id, short)).status).toBe(200);
      }
      const done = names.slice(0, 5);
      for (const id of done) await sessions.finish(id, { reward: 1 });
      await sessions.finish(names[4]!, { ack: true });
      const calls = names
        .slice(5)
        .flatMap((id) => [
          flow.post('/v1/chat/completions', id, long),
          flow
            .post('/v1/messages', id, { ...long, stream: true })
            .then(async (reply) => ({ status: reply.status, body: await readToEnd(reply) })),
        ]);
      await until(() => flow.sim.core.scheduler.running === 10, 'all turns are sampled');
      flow.gateway.crashShard(0, how);
      const listed = async (): Promise<readonly Record<string, unknown>[]> =>
        ((await json(`${flow.url}/sessions`)).sessions ?? []) as Record<string, unknown>[];
      await until(
        async () => (await listed()).some(({ state }) => state === 'failed') && (await fetch(`${flow.url}/readyz`)).status === 200,
        'it is replaced',
      );
      expect((await fetch(`${flow.url}/healthz`)).status).toBe(200);
      const failed = (await listed()).filter(({ state }) => state === 'failed');
      const lost = failed.map(({ session_id }) => session_id as string);
      expect(lost).not.toContain(names[4]);
      expect(lost.length).toBeLessThan(names.length - 1);
      for (const session of failed) {
        const id = session.session_id as string;
        const lostState = done.includes(id) ? 'finished' : 'open';
        expect(session).toMatchObject({
          error: 'session_lost',
          lost_state: lostState,
          turns: 1,
          rollout_id: `rollout of ${id}`,
          group_id: 'g',
          sample_index: 7,
          tokens: { committed: expect.any(Number) },
        });
        expect(await sessions.get(id)).toEqual(session);
        await expect(sessions.finish(id)).rejects.toMatchObject({ code: 'session_lost' });
        expect((await flow.post('/v1/messages', id, short)).status).toBe(403);
      }
      for (const [at, id] of names.slice(5).entries()) {
        if (!lost.includes(id)) await sessions.delete(id);
        const [plain, streamed] = [await (calls[at * 2] as Promise<Response>), await calls[at * 2 + 1]!];
        expect(plain.status).toBe(403);
        expect(await plain.text()).toContain(lost.includes(id) ? 'session_lost' : 'session_closed');
        // A begun stream of a lost shard is cut; one of a deleted session ends with an error event.
        expect(streamed).toMatchObject({ status: 200, body: expect.not.stringContaining('message_stop') });
      }
      for (const id of done.slice(0, 4).filter((id) => !lost.includes(id)))
        expect((await sessions.finish(id, { ack: true })).traces).toHaveLength(1);
      // A trainer that only scrapes is told of them too, each once until it acknowledges.
      const leased = await sessions.lease({ max: 1000 });
      const told = leased.sessions.filter((session) => session.failed !== undefined);
      expect(told.map(({ session_id, failed: known }) => ({ session_id, ...known })).sort(byId)).toEqual(failed.sort(byId));
      expect(told.every(({ traces, summary }) => traces.length === 0 && summary.rows === 0 && summary.turns === 1)).toBe(true);
      const scraped = (await json(`${flow.url}/traces?max=1000`)) as unknown as LeasedTraces;
      expect(scraped.sessions).toEqual([]);
      const [first, ...others] = lost as [string, ...string[]];
      expect(await sessions.ack({ sessionIds: [first, 'nobody'] })).toEqual({ acked: 1, unknown: 1 });
      await expect(sessions.finish(first)).rejects.toMatchObject({ code: 'session_not_found' });
      expect((await flow.post('/v1/messages', first, short)).status).toBe(403);
      for (const id of others) await sessions.delete(id);
      expect((await listed()).filter(({ session_id }) => names.includes(session_id as string))).toEqual([]);
      expect((await flow.post('/v1/chat/completions', lost[0]!, short)).status).toBe(403);
      await sessions.create({ session_id: lost[0]! });
      expect((await flow.post('/v1/chat/completions', lost[0]!, short)).status).toBe(200);
      await until(() => flow.sim.core.scheduler.running === 0, 'the engine works for nobody who is gone');
    },
    60_000,
  );

  test('rows of an earlier life that nobody acknowledged are told as lost beside the session that has their id now', async () => {
    const flow = await start({ shards: 1 });
    const { sessions } = flow.gateway;
    for (const key of ['again', 'acked', 'other']) expect((await flow.post('/v1/chat/completions', key, short)).status).toBe(200);
    await sessions.finish('again');
    await sessions.finish('acked');
    await sessions.ack({ sessionIds: ['acked'] });
    await sessions.create({ session_id: 'again', rollout_id: 'second' });
    flow.gateway.crashShard(0, 'throw');
    await until(
      async () => (await fetch(`${flow.url}/sessions/again`)).ok && (await sessions.get('again')).state === 'failed',
      'it is lost',
    );
    await flow.gateway.ready(20_000);
    const { sessions: leased, lease_id } = await sessions.lease();
    expect(leased.map(({ session_id, failed }) => [session_id, failed?.lost_state, failed?.rollout_id, failed?.turns])).toEqual([
      ['again', 'finished', null, 1],
      ['other', 'open', null, 1],
      ['again', 'open', 'second', 0],
    ]);
    expect(await sessions.ack({ leaseId: lease_id! })).toEqual({ acked: 2, unknown: 0 });
    await expect(sessions.get('again')).rejects.toMatchObject({ code: 'session_not_found' });
  });

  test('a call that its shard had not begun may be tried again, and nothing is told as lost', async () => {
    const flow = await start({ shards: 1 });
    // The thread ends before it turns to messages of later ticks.
    flow.gateway.crashShard(0, 'exit');
    const early = await Promise.all(['/v1/chat/completions', '/v1/messages'].map((path, at) => flow.post(path, `early-${at}`, short)));
    for (const reply of early)
      expect([reply.headers.get('x-should-retry'), reply.headers.get('retry-after-ms'), await reply.text()]).toEqual([
        'true',
        '1000',
        expect.stringContaining('not ready'),
      ]);
    await flow.gateway.ready(20_000);
    expect((await flow.gateway.sessions.lease()).sessions).toEqual([]);
    for (const key of ['early-0', 'early-1']) expect((await flow.post('/v1/chat/completions', key, short)).status).toBe(200);
  });

  test('a create that its shard cannot take yet leaves the lost session told', async () => {
    const flow = await start({ shards: 1 });
    const { sessions } = flow.gateway;
    expect((await flow.post('/v1/chat/completions', 'k', short)).status).toBe(200);
    flow.gateway.crashShard(0, 'throw');
    await until(async () => (await sessions.get('k').catch(() => null))?.state === 'failed', 'it is lost');
    await expect(sessions.create({ session_id: 'k' })).rejects.toMatchObject({ code: 'overloaded' });
    expect(await sessions.get('k')).toMatchObject({ state: 'failed' });
    await flow.gateway.ready(20_000);
    await sessions.create({ session_id: 'k' });
    expect(await sessions.get('k')).toMatchObject({ state: 'open', turns: 0 });
    expect((await sessions.lease()).sessions).toEqual([]);
  });

  test('a stopping gateway lets calls finish, then refuses the rest in their dialects and frees the engine', async () => {
    const flow = await start({ shutdown: { drainMs: 400 }, heartbeat: { streamMs: 50, bodyMs: 100 } });
    const finishes = flow.post('/v1/chat/completions', 'ends', short);
    const chat = flow.post('/v1/chat/completions', 'chat', { ...long, stream: true }).then(readToEnd);
    const messages = flow.post('/v1/messages', 'messages', { ...long, stream: true }).then(readToEnd);
    const begun = flow.post('/v1/chat/completions', 'begun', long).then(readToEnd);
    await until(() => flow.sim.core.scheduler.running >= 3, 'they are sampled');
    await flow.gateway.close();
    expect((await finishes).status).toBe(200);
    expect(await chat).toContain('shutting_down');
    expect(await messages).toContain('overloaded_error');
    // White space and nothing else: an error inside a 200 would be read as a reply.
    expect((await begun).trim()).toBe('the connection was cut');
    await until(() => flow.sim.core.scheduler.running === 0, 'the engine is free');
    await flow.gateway.close();
  });
});

const byId = (a: object, b: object): number =>
  (a as { session_id: string }).session_id < (b as { session_id: string }).session_id ? -1 : 1;

const readToEnd = async (reply: Response): Promise<string> => {
  let text = '';
  try {
    for await (const chunk of reply.body!) text += Buffer.from(chunk).toString();
  } catch {
    text += 'the connection was cut';
  }
  return text;
};
