import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Flow, plan, startFlow, until } from '../support/flow.js';

const SLOW = { prefillTokensPerS: 1e6, decodeStepMs: 10, decodeStepPerSequenceMs: 0, prefillChunkTokens: 8192 };
const short = { model: 'm', messages: [{ role: 'user' as const, content: plan({ text: 'a b c' }) }] };
const long = { model: 'm', max_tokens: 4000, messages: [{ role: 'user' as const, content: plan({ text: 'x', ends: false }) }] };
const LEASE_MS = 2000;
const IDLE_MS = 1200;

describe('trainers that race agents and each other', () => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlow({
      sim: { latency: SLOW },
      settings: { traces: { leaseMs: LEASE_MS }, sessions: { idleTtlMs: IDLE_MS, closedTtlMs: 60_000 } },
    });
  });
  afterAll(() => flow.close());

  const running = (): number => flow.sim.core.scheduler.running;
  const ask = (key: string, body: object = short): Promise<Response> => flow.post('/v1/chat/completions', key, body);
  const sampling = (): Promise<void> => until(() => running() > 0, 'the engine samples');
  const idle = (): Promise<void> => until(() => running() === 0, 'the engine is free');
  const code = async (reply: Response): Promise<[number, string]> => [
    reply.status,
    ((await reply.json()) as { readonly error: { readonly code: string } }).error.code,
  ];
  const finishOverHttp = (id: string, body: object): Promise<Response> =>
    fetch(`${flow.url}/sessions/${id}/finish`, { method: 'POST', body: JSON.stringify(body) });
  const leasedIds = async (): Promise<string[]> => {
    const { lease_id, sessions } = await flow.gateway.sessions.lease({ max: 1000 });
    if (lease_id !== null) await flow.gateway.sessions.ack({ leaseId: lease_id });
    return sessions.map(({ session_id }) => session_id);
  };

  test('finish while a turn runs waits for it, and a call that comes meanwhile is refused', async () => {
    const first = ask('waits');
    await sampling();
    const finished = flow.gateway.sessions.finish('waits', { wait_ms: 10_000 });
    await until(async () => (await flow.gateway.sessions.get('waits')).state === 'finishing', 'it is being finished');
    expect(await code(await ask('waits'))).toEqual([403, 'session_closed']);
    expect((await finished).summary).toMatchObject({ turns: 1, aborted_turns: 0, capture_yield: 1, capture_error: null });
    expect((await first).status).toBe(200);
  });

  test('two finishes at once have the same rows and end the session once', async () => {
    const first = ask('twice');
    await sampling();
    const [a, b] = await Promise.all([
      flow.gateway.sessions.finish('twice', { reward: 1, metadata: { from: 'a' } }),
      flow.gateway.sessions.finish('twice', { reward: 2, metadata: { also: 'b' } }),
    ]);
    expect((await first).status).toBe(200);
    expect([a.traces[0]?.reward, b.traces[0]?.reward]).toEqual([1, 1]);
    expect(b.traces[0]?.token_ids).toEqual(a.traces[0]?.token_ids);
    expect(await leasedIds()).toContain('twice');
    expect(await leasedIds()).not.toContain('twice');
  });

  test('delete while a turn runs frees the engine, refuses the agent and leaves no rows', async () => {
    const reply = ask('deleted', long);
    await sampling();
    await flow.gateway.sessions.delete('deleted');
    await idle();
    expect(await code(await reply)).toEqual([403, 'session_closed']);
    await expect(flow.gateway.sessions.finish('deleted')).rejects.toMatchObject({ code: 'session_not_found' });
    expect(await leasedIds()).not.toContain('deleted');
  });

  test('delete during a finish wins, and a session that is opened then by the same id is another', async () => {
    const reply = ask('reborn', long);
    await sampling();
    const finished = flow.gateway.sessions.finish('reborn', { wait_ms: 600 });
    finished.catch(() => undefined);
    await until(async () => (await flow.gateway.sessions.get('reborn')).state === 'finishing', 'it is being finished');
    await flow.gateway.sessions.delete('reborn');
    await flow.gateway.sessions.create({ session_id: 'reborn' });
    await expect(finished).rejects.toMatchObject({ code: 'session_not_found' });
    expect(await code(await reply)).toEqual([403, 'session_closed']);
    await idle();
    expect((await ask('reborn')).status).toBe(200);
    expect((await flow.gateway.sessions.finish('reborn', { ack: true })).summary).toMatchObject({ turns: 1, capture_error: null });
  });

  test('a turn that is being rendered while its session is finished is refused and samples nothing', async () => {
    const serial = flow.sim.ledger().at(-1)?.serial ?? 0;
    const huge = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'word '.repeat(200_000) }] };
    await flow.gateway.sessions.create({ session_id: 'rendering' });
    const reply = ask('rendering', huge);
    const { summary } = await flow.gateway.sessions.finish('rendering', { wait_ms: 0, ack: true });
    expect(summary).toMatchObject({ turns: 0, capture_error: null });
    expect((await reply).status).toBeGreaterThanOrEqual(400);
    expect(flow.sim.ledger(serial).filter(({ promptIds }) => promptIds.length > 1)).toEqual([]);
  });

  test('two trainers that lease at once never get the same session', async () => {
    const ids = Array.from({ length: 12 }, (_, number) => `leased-${number}`);
    await Promise.all(ids.map((id) => ask(id)));
    const waiting = [0, 1, 2].map(() => flow.gateway.sessions.lease({ max: 5, waitMs: 300 }));
    await Promise.all(ids.map((id) => flow.gateway.sessions.finish(id)));
    const leases = await Promise.all([...waiting, flow.gateway.sessions.lease({ max: 100 })]);
    const got = leases.flatMap(({ sessions }) => sessions.map(({ session_id }) => session_id)).filter((id) => ids.includes(id));
    expect(new Set(got).size).toBe(got.length);
    for (const { lease_id } of leases) if (lease_id !== null) await flow.gateway.sessions.ack({ leaseId: lease_id });
    const left = await leasedIds();
    expect([...got, ...left].filter((id) => ids.includes(id)).sort()).toEqual([...ids].sort());
  });

  test('a lease that runs out is redelivered, and its late acknowledgement takes nothing from the next trainer', async () => {
    await ask('expires');
    await flow.gateway.sessions.finish('expires');
    const late = await flow.gateway.sessions.lease();
    expect(late.sessions.map(({ session_id }) => session_id)).toContain('expires');
    const next = await flow.gateway.sessions.lease({ waitMs: 20 });
    expect(next.sessions.map(({ session_id }) => session_id)).not.toContain('expires');
    let again = next;
    await until(async () => {
      again = await flow.gateway.sessions.lease();
      return again.sessions.some(({ session_id }) => session_id === 'expires');
    }, 'it comes again');
    expect(await flow.gateway.sessions.ack({ leaseId: late.lease_id! })).toEqual({ acked: 0, unknown: 1 });
    expect(await flow.gateway.sessions.ack({ leaseId: again.lease_id! })).toMatchObject({ unknown: 0 });
    await expect(flow.gateway.sessions.finish('expires')).rejects.toMatchObject({ code: 'session_not_found' });
  });

  test('a lease begins when its rows are given, however long the trainer waited for them', async () => {
    await ask('slowly');
    const waiting = flow.gateway.sessions.lease({ waitMs: 20_000 });
    await new Promise((resolve) => setTimeout(resolve, LEASE_MS));
    const finished = await flow.gateway.sessions.finish('slowly');
    const { lease_id, expires_at, sessions } = await waiting;
    expect(sessions.map(({ session_id }) => session_id)).toEqual(['slowly']);
    expect(expires_at).toBeGreaterThanOrEqual(finished.summary.finished_at + LEASE_MS / 1000);
    await flow.gateway.sessions.ack({ leaseId: lease_id! });
  });

  test('an acknowledgement of what nobody knows changes nothing', async () => {
    await ask('kept');
    await flow.gateway.sessions.finish('kept');
    expect(await flow.gateway.sessions.ack({ leaseId: 'nobody' })).toEqual({ acked: 0, unknown: 1 });
    expect(await flow.gateway.sessions.ack({ sessionIds: ['nobody', '../kept', 'kept '] })).toEqual({ acked: 0, unknown: 3 });
    expect(await leasedIds()).toContain('kept');
  });

  test('creating an id that an agent has opened by its key is 409, and both have the same session after all', async () => {
    const [opened, created] = await Promise.all([
      ask('meets'),
      flow.gateway.sessions.create({ session_id: 'meets' }).then(
        () => 'created',
        (error: { readonly code: string }) => error.code,
      ),
    ]);
    expect(opened.status).toBe(200);
    expect(['created', 'session_exists']).toContain(created);
    await expect(flow.gateway.sessions.create({ session_id: 'meets' })).rejects.toMatchObject({ code: 'session_exists' });
    expect((await flow.gateway.sessions.finish('meets', { ack: true })).summary).toMatchObject({ turns: 1 });
  });

  test('expiry waits for a turn that runs longer than a session may idle', async () => {
    const steps = Math.ceil((IDLE_MS * 2) / SLOW.decodeStepMs);
    const reply = await ask('busy', { ...long, max_tokens: steps });
    expect(reply.status).toBe(200);
    expect((await ask('busy')).status).toBe(200);
    const { summary } = await flow.gateway.sessions.finish('busy', { ack: true });
    expect(summary).toMatchObject({ turns: 2, capture_yield: 1 });
  });

  test('an idle session expires with its rows, its key is closed, and a finish afterwards fills in the reward', async () => {
    expect((await ask('idle')).status).toBe(200);
    await until(async () => (await flow.gateway.sessions.get('idle')).state === 'finished', 'it expires');
    expect(await code(await ask('idle'))).toEqual([403, 'session_closed']);
    const { traces } = await flow.gateway.sessions.finish('idle', { reward: 0.5, status: 'completed' });
    expect(traces[0]).toMatchObject({ status: 'aborted', stop_reason: 'idle', reward: 0.5 });
    expect(await leasedIds()).toContain('idle');
  });

  test('an id can be used again after its acknowledgement, and an earlier life that was not acknowledged stays', async () => {
    await ask('again');
    await flow.gateway.sessions.finish('again', { reward: 1 });
    expect(await code(await ask('again'))).toEqual([403, 'session_closed']);
    await flow.gateway.sessions.create({ session_id: 'again' });
    expect((await ask('again')).status).toBe(200);
    const second = await flow.gateway.sessions.finish('again', { reward: 2, ack: true });
    expect(second.traces[0]?.reward).toBe(2);
    const { sessions, lease_id } = await flow.gateway.sessions.lease();
    expect(sessions.filter(({ session_id }) => session_id === 'again').map(({ traces }) => traces[0]?.reward)).toEqual([1]);
    await flow.gateway.sessions.ack({ leaseId: lease_id! });
    await flow.gateway.sessions.create({ session_id: 'again' });
    await flow.gateway.sessions.delete('again');
  });

  test('rows that a trainer asked for with ack and did not stay to read are not lost', async () => {
    const reply = ask('unread');
    await sampling();
    const leaver = new AbortController();
    const left = fetch(`${flow.url}/sessions/unread/finish`, {
      method: 'POST',
      body: JSON.stringify({ ack: true, wait_ms: 10_000 }),
      signal: leaver.signal,
    });
    left.catch(() => undefined);
    await until(async () => (await flow.gateway.sessions.get('unread')).state === 'finishing', 'it is being finished');
    leaver.abort();
    expect((await reply).status).toBe(200);
    await until(async () => (await flow.gateway.sessions.get('unread')).state === 'finished', 'it is finished');
    const read = await finishOverHttp('unread', { ack: true });
    expect(((await read.json()) as { readonly traces: unknown[] }).traces).toHaveLength(1);
    await until(async () => (await finishOverHttp('unread', {})).status === 404, 'it is acknowledged');
  });

  test('a scrape that its trainer left waiting takes no lease', async () => {
    const leaver = new AbortController();
    const left = fetch(`${flow.url}/traces?wait_ms=20000`, { signal: leaver.signal });
    left.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 50));
    leaver.abort();
    await ask('scraped');
    await flow.gateway.sessions.finish('scraped');
    expect(await leasedIds()).toContain('scraped');
  });
});
