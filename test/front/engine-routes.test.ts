import { describe, expect, test } from 'vitest';
import { frontUnderTest, refusal } from './running-front.js';

const post = (url: string, body: unknown): Promise<Response> => fetch(url, { method: 'POST', body: JSON.stringify(body) });

describe('the engines’ routes', () => {
  test('GET shows every replica, the pause and running turns by their weights', async () => {
    const { link, url } = await frontUnderTest();
    link.replicas = [
      { url: 'http://e', state: 'up', version: '1', route: 'r', weightVersion: '7', inFlight: 2, queued: 1, window: 64, problem: null },
    ];
    link.engineStand = {
      replicas: [
        { url: 'http://e', slot: 0 },
        { url: 'http://new', slot: 1 },
      ],
      pause: 'keep',
      weightVersion: '6',
    };
    link.onOrder = () => ({ calls: 2, waiting: 1, running: [{ weightVersion: '6', turns: 2 }] });
    expect(await (await fetch(`${url}/engines`)).json()).toEqual({
      engines: [
        { url: 'http://e', state: 'up', version: '1', route: 'r', weight_version: '7', in_flight: 2, queued: 1, window: 64, problem: null },
        {
          url: 'http://new',
          state: 'starting',
          version: null,
          route: null,
          weight_version: null,
          in_flight: 0,
          queued: 0,
          window: 0,
          problem: 'not asked yet',
        },
      ],
      paused: 'keep',
      weight_version: '6',
      calls: 2,
      waiting_turns: 1,
      running_turns: [{ weight_version: '6', turns: 2 }],
    });
    expect(link.orders).toEqual([{ kind: 'tell' }]);
  });

  test('orders reach the shards as they were given', async () => {
    const { link, url } = await frontUnderTest();
    expect((await post(`${url}/engines/pause`, { mode: 'abort', wait_ms: 50 })).status).toBe(200);
    expect((await fetch(`${url}/engines/pause`, { method: 'POST' })).status).toBe(200);
    expect((await post(`${url}/engines/resume`, { weight_version: 12 })).status).toBe(200);
    expect((await post(`${url}/engines/resume`, {})).status).toBe(200);
    expect((await post(`${url}/engines`, { url: 'http://127.0.0.1:9/root' })).status).toBe(201);
    const gone = await fetch(`${url}/engines?${new URLSearchParams({ url: 'http://127.0.0.1:9/root' })}`, { method: 'DELETE' });
    expect(gone.status).toBe(200);
    expect(link.orders).toEqual([
      { kind: 'pause', mode: 'abort', waitMs: 50 },
      { kind: 'pause', mode: 'wait', waitMs: 3_600_000 },
      { kind: 'resume', weightVersion: '12' },
      { kind: 'resume', weightVersion: null },
      { kind: 'add_replica', url: 'http://127.0.0.1:9/root' },
      { kind: 'remove_replica', url: 'http://127.0.0.1:9/root', waitMs: 3_600_000 },
    ]);
  });

  test.each([
    ['/engines/pause', { mode: 'retract' }, '`mode`'],
    ['/engines/pause', { wait_ms: -1 }, '`wait_ms`'],
    ['/engines/resume', { version: '1' }, 'version'],
    ['/engines', { url: 'ftp://x' }, 'ftp://x'],
    ['/engines', { url: 'http://user:secret@x' }, '`url`'],
    ['/engines', {}, '`url`'],
  ])('a wrong body for %s is refused with the field’s name: %o', async (path, body, named) => {
    const { link, url } = await frontUnderTest();
    const response = await post(`${url}${path}`, body);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(named);
    expect(link.orders).toEqual([]);
  });

  test('what the shards cannot do is answered with its code, and the admin token guards all of it', async () => {
    const { link, url } = await frontUnderTest();
    link.onOrder = ({ kind }) => ({ code: kind === 'add_replica' ? 'replica_exists' : 'replica_not_found', message: 'no' });
    expect(await refusal(await post(`${url}/engines`, { url: 'http://x' }))).toEqual([409, 'replica_exists']);
    expect(await refusal(await fetch(`${url}/engines?url=http://x`, { method: 'DELETE' }))).toEqual([404, 'replica_not_found']);
    expect(await refusal(await fetch(`${url}/engines`, { method: 'DELETE' }))).toEqual([400, 'invalid_request']);
    const guarded = await frontUnderTest({}, 'secret');
    for (const [method, path] of [
      ['GET', '/engines'],
      ['POST', '/engines'],
      ['DELETE', '/engines?url=http://x'],
      ['POST', '/engines/pause'],
      ['POST', '/engines/resume'],
    ] as const) {
      expect(await refusal(await fetch(`${guarded.url}${path}`, { method }))).toEqual([401, 'admin_token_required']);
    }
    expect(guarded.link.orders).toEqual([]);
  });

  test('lost sessions stand in the list of sessions', async () => {
    const { link, url } = await frontUnderTest();
    link.onTrainer = () => ({ kind: 'text', status: 200, text: '[{"session_id":"b","state":"open"}]' });
    link.shardCount = 1;
    link.lostPage = '[{"session_id":"a","state":"failed"}]';
    expect(await (await fetch(`${url}/sessions`)).json()).toEqual({
      sessions: [
        { session_id: 'a', state: 'failed' },
        { session_id: 'b', state: 'open' },
      ],
      next_cursor: null,
    });
  });
});
