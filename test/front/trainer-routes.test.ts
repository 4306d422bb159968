import { describe, expect, test, vi } from 'vitest';
import type { TrainerAnswer, TrainerCall } from '../../src/trainer/calls.js';
import { frontUnderTest, RawClient, refusal } from './running-front.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const post = (url: string, body: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { method: 'POST', body, headers });
const piece = (id: string): Uint8Array => bytes(JSON.stringify({ session_id: id, traces: [], summary: {} }));

describe('sessions', () => {
  test('create answers key and base URLs by the address the trainer used', async () => {
    const { link, url } = await frontUnderTest();
    link.onTrainer = (_shard, call) => {
      const id = call.kind === 'create' ? call.session.sessionId : '';
      return { kind: 'text', status: 201, text: JSON.stringify({ session_id: id }) };
    };
    const response = await post(`${url}/sessions`, '{"session_id":"abc","max_turns":3}');
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ session_id: 'abc', api_key: 'abc', base_urls: { openai: `${url}/v1`, anthropic: url } });
    expect(link.trainerCalls[0]).toMatchObject({ shard: 1, call: { kind: 'create', session: { sessionId: 'abc', maxTurns: 3 } } });
    expect(await (await post(`${url}/sessions`, '{"session_id":"日本"}')).json()).toMatchObject({
      session_id: '日本',
      api_key: "UTF-8''%E6%97%A5%E6%9C%AC",
    });
    const named = (await (await post(`${url}/sessions`, '')).json()) as { session_id: string };
    expect(named.session_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    ['no JSON', '{', 'invalid_json'],
    ['a list', '[]', 'invalid_json'],
    ['an unknown field', '{"sesion_id":"a"}', 'invalid_request'],
    ['a wrong type', '{"max_turns":"3"}', 'invalid_request'],
    ['an id with a control character', '{"session_id":"a\\u0000"}', 'invalid_session_id'],
    ['half a surrogate pair', '{"session_id":"\\ud800"}', 'invalid_session_id'],
    ['deep nesting', `{"metadata":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`, 'invalid_json'],
    ['a prototype key', '{"__proto__":{"a":1}}', 'invalid_request'],
  ])('create refuses %s without asking a shard', async (_name, body, code) => {
    const { link, url } = await frontUnderTest();
    expect(await refusal(await post(`${url}/sessions`, body))).toEqual([400, code]);
    expect(link.trainerCalls).toHaveLength(0);
  });

  test('a body beyond the limit is 413', async () => {
    const { url } = await frontUnderTest({ limits: { bodyBytes: 1024 } });
    expect(await refusal(await post(`${url}/sessions`, `{"metadata":{"a":"${'x'.repeat(2000)}"}}`))).toEqual([413, 'body_too_large']);
  });

  test('an error of a shard has the trainer’s shape', async () => {
    const { link, url } = await frontUnderTest();
    link.onTrainer = () => ({ kind: 'error', error: { code: 'session_exists', message: 'a live one has this id' } });
    const response = await post(`${url}/sessions`, '{"session_id":"a"}');
    expect([response.status, await response.json()]).toEqual([
      409,
      { error: { code: 'session_exists', message: 'a live one has this id' } },
    ]);
  });

  test('calls of one session go to its shard with the decoded id', async () => {
    const { link, url } = await frontUnderTest();
    await fetch(`${url}/sessions/a%2F..%2Fb`);
    await fetch(`${url}/sessions/abc`, { method: 'DELETE' });
    const tree = await fetch(`${url}/sessions/ab/tree?format=text`);
    expect(tree.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(link.trainerCalls).toEqual([
      { shard: 0, call: { kind: 'get', sessionId: 'a/../b' } },
      { shard: 1, call: { kind: 'delete', sessionId: 'abc' } },
      { shard: 0, call: { kind: 'tree', sessionId: 'ab', format: 'text', colour: false } },
    ]);
  });

  test('the list joins the pages of all shards', async () => {
    const { link, url } = await frontUnderTest();
    link.onTrainer = (shard) => ({
      kind: 'text',
      status: 200,
      text: JSON.stringify(shard === 0 ? [{ session_id: 'a' }, { session_id: 'c' }] : [{ session_id: 'b' }]),
    });
    const list = await (await fetch(`${url}/sessions?limit=2`)).json();
    expect(list).toEqual({ sessions: [{ session_id: 'a' }, { session_id: 'b' }], next_cursor: 'b' });
    expect(await refusal(await fetch(`${url}/sessions?limit=0`))).toEqual([400, 'invalid_request']);
  });

  test('finish answers a session’s piece in the encoding asked for', async () => {
    const { link, url } = await frontUnderTest();
    link.onTrainer = () => ({ kind: 'traces', status: 200, sessions: [bytes('{"traces":[]}')] });
    const response = await post(`${url}/sessions/abc/finish`, '{"reward":0.5}', { accept: 'application/x-ndjson' });
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      'application/x-ndjson',
      '{"traces":[]}',
    ]);
    expect(link.trainerCalls[0]!.call).toMatchObject({
      kind: 'finish',
      sessionId: 'abc',
      finish: { reward: 0.5, waitMs: 5000, encoding: 'ndjson' },
    });
  });
});

describe('traces', () => {
  const leasesOf = (ready: readonly (readonly string[])[]) => {
    const left = ready.map((ids) => [...ids]);
    return (shard: number, call: TrainerCall): TrainerAnswer => {
      if (call.kind !== 'lease') throw new Error(call.kind);
      return { kind: 'traces', status: 200, sessions: left[shard]!.splice(0, call.max).map(piece) };
    };
  };
  const idsOf = (lease: unknown): readonly string[] =>
    (lease as { sessions: { session_id: string }[] }).sessions.map(({ session_id }) => session_id).sort();

  test('a lease collects from all shards under one id up to max', async () => {
    const { link, url } = await frontUnderTest();
    link.onTrainer = leasesOf([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    const first = (await (await fetch(`${url}/traces?max=3`)).json()) as { lease_id: string; expires_at: number };
    expect(first.lease_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(first.expires_at).toBeGreaterThan(Date.now() / 1000);
    expect(idsOf(first)).toHaveLength(3);
    const second = await (await fetch(`${url}/traces`)).json();
    expect([...idsOf(first), ...idsOf(second)].sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(new Set(link.trainerCalls.slice(0, 2).map(({ call }) => (call.kind === 'lease' ? call.leaseId : ''))).size).toBe(1);
    expect(await (await fetch(`${url}/traces`)).json()).toEqual({ lease_id: null, expires_at: null, sessions: [] });
  });

  test('HEAD leases nothing', async () => {
    const { link, url } = await frontUnderTest();
    link.onTrainer = leasesOf([['a'], []]);
    expect((await fetch(`${url}/traces`, { method: 'HEAD' })).status).toBe(405);
    expect(link.trainerCalls).toEqual([]);
    expect(idsOf(await (await fetch(`${url}/traces`)).json())).toEqual(['a']);
  });

  test('NDJSON carries the lease in its headers', async () => {
    const { link, url } = await frontUnderTest();
    link.onTrainer = (shard) => ({ kind: 'traces', status: 200, sessions: shard === 0 ? [bytes('{"row":1}\n')] : [] });
    const response = await fetch(`${url}/traces`, { headers: { accept: 'application/x-ndjson' } });
    expect(response.headers.get('x-lease-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(Number(response.headers.get('x-lease-expires-at'))).toBeGreaterThan(0);
    expect(await response.text()).toBe('{"row":1}\n');
  });

  test('a waiting scrape wakes when a session is finished', async () => {
    const { link, url } = await frontUnderTest();
    let ready: string[] = [];
    link.onTrainer = (shard) => ({ kind: 'traces', status: 200, sessions: shard === 0 ? ready.splice(0).map(piece) : [] });
    const waiting = fetch(`${url}/traces?wait_ms=600000`);
    await expect.poll(() => link.trainerCalls.length).toBe(2);
    ready = ['late'];
    link.announceFinished();
    expect(idsOf(await (await waiting).json())).toEqual(['late']);
    expect(link.finishedListeners).toBe(0);
  });

  test('a waiting scrape ends empty when its time is up', async () => {
    const { link, url } = await frontUnderTest();
    link.onTrainer = leasesOf([[], []]);
    expect(await (await fetch(`${url}/traces?wait_ms=30`)).json()).toMatchObject({ lease_id: null });
    expect(link.finishedListeners).toBe(0);
  });

  test('a waiting scrape ends when its time is up, though the clock was set back', async () => {
    const { link, url } = await frontUnderTest();
    link.onTrainer = leasesOf([[], []]);
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 60_000);
    try {
      expect(await (await fetch(`${url}/traces?wait_ms=30`)).json()).toMatchObject({ lease_id: null });
    } finally {
      clock.mockRestore();
    }
  });

  test('a trainer that left while it waited is leased nothing', async () => {
    const { link, url } = await frontUnderTest();
    link.onTrainer = leasesOf([[], []]);
    const client = new RawClient(url);
    client.send('GET /traces?wait_ms=600000 HTTP/1.1\r\nhost: x\r\n\r\n');
    await expect.poll(() => link.finishedListeners).toBe(1);
    client.socket.destroy();
    await expect.poll(() => link.finishedListeners).toBe(0);
    expect(link.trainerCalls).toHaveLength(2);
  });

  test('a shard that is being replaced does not keep the rows of others back', async () => {
    const { link, url } = await frontUnderTest();
    link.onTrainer = (shard) =>
      shard === 0
        ? { kind: 'error', error: { code: 'overloaded', message: 'starting' } }
        : { kind: 'traces', status: 200, sessions: [piece('b')] };
    expect(idsOf(await (await fetch(`${url}/traces`)).json())).toEqual(['b']);
  });

  test('an acknowledgement goes to all shards and a name is unknown where none knew it', async () => {
    const { link, url } = await frontUnderTest();
    link.onTrainer = (shard) => ({ kind: 'acked', acked: shard, unknown: shard === 0 ? ['x', 'y'] : ['x'] });
    expect(await (await post(`${url}/traces/ack`, '{"session_ids":["x","y"]}')).json()).toEqual({ acked: 1, unknown: 1 });
    expect(link.trainerCalls.map(({ shard }) => shard)).toEqual([0, 1]);
    expect(await refusal(await post(`${url}/traces/ack`, '{}'))).toEqual([400, 'invalid_request']);
    expect(await refusal(await post(`${url}/traces/ack`, '{"lease_id":"a","session_ids":[]}'))).toEqual([400, 'invalid_request']);
  });
});

describe('planted faults', () => {
  test('exist only with test.faults', async () => {
    const { url } = await frontUnderTest();
    expect(await refusal(await post(`${url}/test/shards/0/crash?how=exit`, ''))).toEqual([404, 'not_found']);
  });

  test('name a shard and a kind', async () => {
    const { link, url } = await frontUnderTest({ test: { faults: true } });
    expect((await post(`${url}/test/shards/1/crash?how=hang`, '')).status).toBe(202);
    expect(link.crashes).toEqual(['1 hang']);
    for (const path of ['2/crash?how=exit', '0/crash?how=melt', 'x/crash?how=exit', '0/crash']) {
      expect(await refusal(await post(`${url}/test/shards/${path}`, '')), path).toEqual([400, 'invalid_request']);
    }
  });
});
