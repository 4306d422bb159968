import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GatewayError } from '../../src/gateway.js';
import { until } from '../support/flow.js';
import { sampledOf } from '../support/live-books.js';
import { isSampling, type LiveGateway, type LiveSuite, sampledSince, startLiveGateway, tell, untilIdle } from '../support/live-flow.js';

/** What a client left is out of the engine within this time. */
const FREE_MS = 2000;
/** More than an engine here samples in that time. */
const LONG = 1900;

/** Clients that leave at each stage of their turn; the engine's own counters say when its work is gone. */
export function abortTests(live: LiveSuite, seats: number): void {
  const { name } = live;
  const routes = name === 'vllm' ? (['the abort route', 'the connection alone'] as const) : (['/abort_request'] as const);

  describe.each(routes)('abort: a client that leaves frees the engine within 2 s, by %s', (route) => {
    let flow: LiveGateway;
    let onRequest: () => Promise<void> | void = () => undefined;
    let onAnswer: () => Promise<void> | void = () => undefined;
    beforeAll(async () => {
      flow = await startLiveGateway(live.engine, {
        // One place at the engine more than it runs at once, and one turn more than places.
        settings: { window: { initial: seats + 1, min: seats + 1, max: seats + 1 } },
        proxy: {
          ...(route === 'the connection alone' ? { missing: /abort_requests/ } : {}),
          onRequest: (path) => (isSampling(path) ? onRequest() : undefined),
          onAnswer: ({ path }) => (isSampling(path) ? onAnswer() : undefined),
        },
      });
      await flow.gateway.ready(60_000);
    });
    afterAll(() => flow?.close());

    const load = () => live.engine.load();
    const leaver = (key: string, tokens = LONG): { leave(): void; readonly left: Promise<unknown> } => {
      const abort = new AbortController();
      const left = flow.chat(key, `${key} asks for much.`, tokens, abort.signal).catch(() => undefined);
      return { leave: () => abort.abort(), left };
    };
    /** Milliseconds until the engine has nothing left to do. */
    const freed = async (what: string): Promise<number> => {
      const startMs = performance.now();
      for (;;) {
        const { running, waiting } = await load();
        const ms = Math.round(performance.now() - startMs);
        if (running + waiting === 0) {
          tell(name, `abort by ${route}, ${what}: freed after ${ms} ms`);
          return ms;
        }
        expect(ms, `${what}: ${running} running and ${waiting} waiting in the engine`).toBeLessThan(FREE_MS);
        await new Promise((done) => setTimeout(done, 20));
      }
    };
    /** Nothing is recorded, and what the engine said it sampled is counted as discarded. */
    const expectNothingKept = async (keys: readonly string[], before: number): Promise<void> => {
      await until(async () => (await flow.order('')).calls === 0, 'the gateway has no call at the engine', 10_000);
      const sampled = sampledSince(flow, before).reduce((sum, exchange) => sum + sampledOf(name, exchange).ids.length, 0);
      let discarded = 0;
      for (const key of keys) {
        const finished = await flow.gateway.sessions.finish(key).catch((error: unknown) => error as GatewayError);
        // Its client had left before anything of the request was read.
        if ('code' in finished) {
          expect(finished.code).toBe('session_not_found');
          continue;
        }
        const { traces, summary } = finished;
        expect([traces, summary.turns, summary.tokens.trained, summary.capture_error]).toEqual([[], 0, 0, null]);
        discarded += summary.tokens.discarded.client_gone ?? 0;
      }
      expect(discarded).toBe(sampled);
      await untilIdle(live.engine);
    };

    test('before admission: left with half of the request sent', async () => {
      const { begun } = flow.proxy;
      const before = begun.length;
      const { hostname, port } = new URL(flow.url);
      const socket = connect(Number(port), hostname);
      await new Promise<void>((done) => socket.once('connect', done));
      socket.write(
        'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer half\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"model":',
      );
      await until(async () => /rollout_gateway_open_calls 1/.test(await (await fetch(`${flow.url}/metrics`)).text()), 'the call is open');
      socket.destroy();
      await until(async () => /rollout_gateway_open_calls 0/.test(await (await fetch(`${flow.url}/metrics`)).text()), 'it is gone');
      await freed('before admission');
      expect(begun.slice(before).filter(isSampling)).toEqual([]);
    });

    test('at once: left in the first moments after asking, wherever that meets the call', async () => {
      const before = flow.proxy.exchanges.length;
      const keys = Array.from({ length: 12 }, (_, n) => `at-once-${n}`);
      await Promise.all(
        keys.map(async (key, n) => {
          const { leave, left } = leaver(key);
          await new Promise((done) => setTimeout(done, n * 4));
          leave();
          await left;
        }),
      );
      await freed('12 clients within 50 ms of asking');
      await expectNothingKept(keys, before);
    });

    test('sending: left while the call is on its way to the engine, which takes no note of an abort yet', async () => {
      const before = flow.proxy.exchanges.length;
      const arrivals = flow.proxy.begun.length;
      let send = (): void => undefined;
      onRequest = () =>
        new Promise<void>((done) => {
          send = done;
        });
      const { leave, left } = leaver('sending');
      await until(() => flow.proxy.begun.slice(arrivals).some(isSampling), 'the call is on its way');
      onRequest = () => undefined;
      leave();
      await left;
      await until(async () => (await flow.order('')).calls === 0 || flow.proxy.begun.slice(arrivals).length > 1, 'the gateway has reacted');
      await new Promise((done) => setTimeout(done, 100));
      send();
      const startMs = performance.now();
      await until(async () => (await flow.order('')).calls === 0, 'the call has ended', FREE_MS);
      await untilIdle(live.engine);
      tell(name, `abort by ${route}, sending: freed ${Math.round(performance.now() - startMs)} ms after the call had arrived`);
      await expectNothingKept(['sending'], before);
      const answers = sampledSince(flow, before).map((exchange) => sampledOf(name, exchange).finish);
      expect(answers).toEqual(route === 'the connection alone' ? [] : ['abort']);
    });

    test('queued: left while waiting in the gateway and in the engine', async () => {
      const before = flow.proxy.exchanges.length;
      const { begun } = flow.proxy;
      const callsBefore = begun.length;
      const asking = (n: number) => ({ key: `queued-${n}`, ...leaver(`queued-${n}`) });
      const sent = Array.from({ length: seats + 1 }, (_, n) => asking(n));
      await until(async () => {
        const { running, waiting } = await load();
        return running === seats && waiting === 1;
      }, 'the engine is full and one call waits in it');
      const waiting = asking(seats + 1);
      await until(async () => (await flow.order('')).waiting_turns === 1, 'one turn waits in the gateway');
      waiting.leave();
      await until(async () => (await flow.order('')).waiting_turns === 0, 'it waits no more');
      for (const { leave } of sent) leave();
      await freed(`${seats} running and 1 waiting in the engine, after 1 in the gateway`);
      await Promise.all(sent.map(({ left }) => left));
      expect(begun.slice(callsBefore).filter(isSampling)).toHaveLength(seats + 1);
      await expectNothingKept(
        [...sent, waiting].map(({ key }) => key),
        before,
      );
      live.recordings.keep(
        'aborted while it waited in the engine',
        sampledSince(flow, before).find((exchange) => sampledOf(name, exchange).ids.length === 0),
      );
    });

    test('sampling: left while tokens are sampled', async () => {
      const before = flow.proxy.exchanges.length;
      const { leave, left } = leaver('sampling');
      await until(async () => (await load()).running === 1, 'it is sampled');
      await new Promise((done) => setTimeout(done, 300));
      leave();
      await freed('sampling');
      await left;
      await expectNothingKept(['sampling'], before);
      live.recordings.keep('aborted while it was sampled', sampledSince(flow, before)[0]);
      const answers = sampledSince(flow, before).map((exchange) => sampledOf(name, exchange));
      if (route === 'the connection alone') expect(answers).toEqual([]);
      else expect(answers).toMatchObject([{ finish: 'abort' }]);
    });

    test('answering: left while the answer is on its way', async () => {
      const { leave, left } = leaver('answering', 20);
      onAnswer = async () => {
        onAnswer = () => undefined;
        leave();
        await left;
        await until(async () => (await load()).running === 0, 'the engine is done with it');
      };
      await left;
      await freed('answering');
      await until(async () => (await flow.order('')).calls === 0, 'the call has ended', 10_000);
      const calls = flow.proxy.begun.length;
      const retry = await fetch(`${flow.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer answering', 'x-stainless-retry-count': '1' },
        body: JSON.stringify({
          model: 'tiny',
          messages: [{ role: 'user', content: 'answering asks for much.' }],
          max_tokens: 20,
          min_tokens: 20,
        }),
      });
      expect(retry.status).toBe(200);
      // By an abort route the answer still comes, and is kept for the marked retry; a connection that is closed has taken it along.
      const again = flow.proxy.begun.slice(calls).filter(isSampling).length;
      expect(again).toBe(route === 'the connection alone' ? 1 : 0);
      const { summary } = await flow.gateway.sessions.finish('answering');
      expect(summary).toMatchObject({ turns: 1, capture_error: null, tokens: { sampled: 20, trained: 20 } });
    });
  });
}
