import { afterEach, describe, expect, test } from 'vitest';
import type { Settings, SomeSettings } from '../../src/config.js';
import { RawClient } from '../front/running-front.js';
import { type Flow, plan, startFlow, until } from '../support/flow.js';

const SLOW = { prefillTokensPerS: 1e6, decodeStepMs: 10, decodeStepPerSequenceMs: 0, prefillChunkTokens: 8192 };
const short = { model: 'm', max_tokens: 6, messages: [{ role: 'user' as const, content: 'hello' }] };
const long = { model: 'm', max_tokens: 4000, messages: [{ role: 'user' as const, content: plan({ text: 'x', ends: false }) }] };

type Limit =
  | `limits.${keyof Settings['limits']}`
  | `sessions.${Exclude<keyof Settings['sessions'], 'implicit' | 'secretKeys'>}`
  | `traces.${keyof Settings['traces']}`
  | `finish.${keyof Settings['finish']}`
  | `backend.${'holdMs' | 'silenceTimeoutMs' | 'retries'}`
  | 'window.max'
  | 'sampling.maxTokens'
  | 'shutdown.drainMs';

interface Reaction {
  readonly settings: SomeSettings;
  /** What is seen at the bound, and that one below it is served. */
  readonly at: (flow: Flow) => Promise<void>;
}

const chat = (flow: Flow, key: string, body: object = short, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  flow.post('/v1/chat/completions', key, body, headers);
const told = async (reply: Response): Promise<[number, string, string | null]> => [
  reply.status,
  ((await reply.json()) as { readonly error: { readonly code: string } }).error.code,
  reply.headers.get('x-should-retry'),
];
const OVERLOADED = [503, 'overloaded', 'true'];
const TURN_LIMIT = [403, 'turn_limit', 'false'];
const running = (flow: Flow): number => flow.sim.core.scheduler.running;
/** Calls that take all places until the engine is let go. */
const hold = async (flow: Flow, keys: readonly string[], seen = keys.length): Promise<() => Promise<void>> => {
  const leave = new AbortController();
  const calls = keys.map((key) =>
    fetch(`${flow.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(long),
      signal: leave.signal,
    }).catch(() => undefined),
  );
  await until(() => running(flow) >= seen, 'all are sampled');
  return async () => {
    leave.abort();
    await Promise.all(calls);
    await until(() => running(flow) === 0, 'the engine is free');
  };
};

/** Every limit with what happens at it; the compiler asks for an entry for each bound of requests, sessions and traces. */
const REACTIONS: Readonly<Record<Limit, Reaction>> = {
  'limits.bodyBytes': {
    settings: { limits: { bodyBytes: 2000 } },
    at: async (flow) => {
      expect((await chat(flow, 'k')).status).toBe(200);
      const large = { ...short, user: 'x'.repeat(2000) };
      expect(await told(await chat(flow, 'k', large))).toEqual([413, 'body_too_large', 'false']);
      expect((await flow.post('/v1/messages', 'k', large)).status).toBe(413);
    },
  },
  'limits.bodiesInFlightBytes': {
    settings: { limits: { bodiesInFlightBytes: 1024 * 1024, bodyBytes: 1024 * 1024 } },
    at: async (flow) => {
      const hogs = [0, 1].map(() => new RawClient(flow.url));
      const head = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer hog\r\ncontent-length: 1048576\r\n\r\n';
      hogs[0]!.send(head + 'x'.repeat(100_000));
      const held = async (): Promise<boolean> => /bodies_in_flight_bytes 1048576/.test(await (await fetch(`${flow.url}/metrics`)).text());
      await until(held, 'a body is being received');
      hogs[1]!.send(head + 'x'.repeat(100_000));
      expect(await hogs[1]!.until((text) => text.includes('overloaded'))).toMatch(/^HTTP\/1\.1 503 /);
      hogs[0]!.socket.destroy();
      hogs[1]!.socket.destroy();
      await until(async () => !(await held()), 'its memory is free');
      expect((await chat(flow, 'k')).status).toBe(200);
    },
  },
  'limits.rememberedBytes': {
    settings: { limits: { rememberedBytes: 0 } },
    at: async (flow) => {
      const messages: { role: string; content: string }[] = [];
      for (const content of ['one', 'two', 'three']) {
        messages.push({ role: 'user', content });
        const reply = await chat(flow, 'k', { ...short, messages });
        const { choices } = (await reply.json()) as { readonly choices: readonly { readonly message: { readonly content: string } }[] };
        messages.push({ role: 'assistant', content: choices[0]!.message.content });
      }
      // Nothing is remembered between bodies, and the history is recognised all the same.
      expect((await flow.gateway.sessions.finish('k', { ack: true })).summary).toMatchObject({ turns: 3, rows: 1, capture_yield: 1 });
    },
  },
  'limits.openCalls': {
    settings: { limits: { openCalls: 2 } },
    at: async (flow) => {
      const free = await hold(flow, ['a', 'b']);
      expect(await told(await chat(flow, 'c'))).toEqual(OVERLOADED);
      expect((await flow.post('/v1/messages', 'c', short)).status).toBe(529);
      await free();
      await until(async () => (await chat(flow, 'c')).status === 200, 'there is room again');
    },
  },
  'limits.queue': {
    settings: { limits: { queue: 2 }, window: { initial: 1, max: 1 } },
    at: async (flow) => {
      const free = await hold(flow, ['a', 'b', 'c'], 1);
      await until(async () => /replica_queue\{[^}]*\} 2/.test(await (await fetch(`${flow.url}/metrics`)).text()), 'two wait');
      expect(await told(await chat(flow, 'd'))).toEqual(OVERLOADED);
      await free();
      expect((await chat(flow, 'd')).status).toBe(200);
    },
  },
  'limits.pendingTurns': {
    settings: { limits: { pendingTurns: 2 } },
    at: async (flow) => {
      const free = await hold(flow, ['same', 'same']);
      expect(await told(await chat(flow, 'same'))).toEqual(OVERLOADED);
      expect((await chat(flow, 'other')).status).toBe(200);
      await free();
      expect((await chat(flow, 'same')).status).toBe(200);
    },
  },
  'limits.keptReplies': {
    settings: { limits: { keptReplies: 1 } },
    at: async (flow) => {
      const ids: string[] = [];
      const ask = async (content: string, retry: string): Promise<string> => {
        const reply = await chat(flow, 'k', { ...short, messages: [{ role: 'user', content }] }, { 'x-stainless-retry-count': retry });
        return ((await reply.json()) as { readonly id: string }).id;
      };
      for (const content of ['one', 'two']) ids.push(await ask(content, '0'));
      expect(await ask('two', '1')).toBe(ids[1]);
      expect(await ask('one', '1')).not.toBe(ids[0]);
    },
  },
  'limits.treeNodes': {
    settings: { limits: { treeNodes: 4 } },
    at: async (flow) => {
      expect((await chat(flow, 'k')).status).toBe(200);
      const many = Array.from({ length: 5 }, (_, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: `m${at}` }));
      expect(await told(await chat(flow, 'k', { ...short, messages: many }))).toEqual(TURN_LIMIT);
      expect((await flow.gateway.sessions.finish('k', { ack: true })).summary).toMatchObject({ turns: 1, capture_yield: 1 });
    },
  },
  'limits.turnsPerSession': {
    settings: { limits: { turnsPerSession: 2 } },
    at: async (flow) => {
      for (let turn = 0; turn < 2; turn++) expect((await chat(flow, 'k')).status).toBe(200);
      expect(await told(await chat(flow, 'k'))).toEqual(TURN_LIMIT);
      expect((await flow.post('/v1/messages', 'k', short)).status).toBe(403);
      expect((await chat(flow, 'other')).status).toBe(200);
    },
  },
  'limits.contextTokens': {
    settings: { limits: { contextTokens: 100 } },
    at: async (flow) => {
      const clamped = (await (
        await chat(flow, 'k', { ...long, messages: [{ role: 'user', content: plan({ text: 'x', ends: false }) }] })
      ).json()) as {
        readonly usage: { readonly total_tokens: number };
        readonly choices: readonly { readonly finish_reason: string }[];
      };
      expect([clamped.usage.total_tokens, clamped.choices[0]?.finish_reason]).toEqual([100, 'length']);
      const beyond = { ...short, messages: [{ role: 'user', content: 'word '.repeat(400) }] };
      expect(await told(await chat(flow, 'k', beyond))).toEqual([400, 'context_length_exceeded', 'false']);
    },
  },
  'limits.jsonDepth': {
    settings: { limits: { jsonDepth: 10 } },
    at: async (flow) => {
      const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
      expect((await chat(flow, 'k', { ...short, metadata: nested(7) })).status).toBe(200);
      expect(await told(await chat(flow, 'k', { ...short, metadata: nested(12) }))).toEqual([400, 'invalid_json', 'false']);
      const created = await fetch(`${flow.url}/sessions`, { method: 'POST', body: JSON.stringify({ metadata: { deep: nested(12) } }) });
      expect(created.status).toBe(400);
    },
  },
  'sessions.max': {
    settings: { sessions: { max: 2 } },
    at: async (flow) => {
      for (const key of ['a', 'b']) expect((await chat(flow, key)).status).toBe(200);
      expect(await told(await chat(flow, 'c'))).toEqual(OVERLOADED);
      await expect(flow.gateway.sessions.create({ session_id: 'd' })).rejects.toMatchObject({ code: 'overloaded' });
      expect((await chat(flow, 'a')).status).toBe(200);
      await flow.gateway.sessions.delete('b');
      expect((await chat(flow, 'c')).status).toBe(200);
    },
  },
  'sessions.idleTtlMs': {
    settings: { sessions: { idleTtlMs: 1000 } },
    at: async (flow) => {
      expect((await chat(flow, 'k')).status).toBe(200);
      await until(async () => (await flow.gateway.sessions.get('k')).state === 'finished', 'the idle session expires');
      expect(await told(await chat(flow, 'k'))).toEqual([403, 'session_closed', 'false']);
      expect((await flow.gateway.sessions.finish('k')).traces).toMatchObject([{ status: 'aborted', stop_reason: 'idle' }]);
    },
  },
  'sessions.closedMax': {
    settings: { sessions: { closedMax: 1000 } },
    at: async (flow) => {
      expect((await chat(flow, 'first')).status).toBe(200);
      await flow.gateway.sessions.delete('first');
      expect((await chat(flow, 'first')).status).toBe(403);
      for (let number = 0; number < 1000; number++) {
        await flow.gateway.sessions.create({ session_id: `n${number}` });
        await flow.gateway.sessions.delete(`n${number}`);
      }
      expect((await chat(flow, 'n999')).status).toBe(403);
      expect((await chat(flow, 'first')).status).toBe(200);
    },
  },
  'sessions.closedTtlMs': {
    settings: { sessions: { closedTtlMs: 1500 } },
    at: async (flow) => {
      expect((await chat(flow, 'k')).status).toBe(200);
      await flow.gateway.sessions.delete('k');
      expect(await told(await chat(flow, 'k'))).toEqual([403, 'session_closed', 'false']);
      await until(async () => (await chat(flow, 'k')).status === 200, 'the key opens a session again');
    },
  },
  'traces.ttlMs': {
    settings: { traces: { ttlMs: 1000 } },
    at: async (flow) => {
      expect((await chat(flow, 'k')).status).toBe(200);
      await flow.gateway.sessions.finish('k');
      expect((await flow.gateway.sessions.finish('k')).traces).toHaveLength(1);
      await until(async () => (await fetch(`${flow.url}/sessions/k`)).status === 404, 'the rows expire');
      await expect(flow.gateway.sessions.finish('k')).rejects.toMatchObject({ code: 'session_not_found' });
    },
  },
  'traces.leaseMs': {
    settings: { traces: { leaseMs: 300 } },
    at: async (flow) => {
      expect((await chat(flow, 'k')).status).toBe(200);
      await flow.gateway.sessions.finish('k');
      const first = await flow.gateway.sessions.lease();
      const again = async (): Promise<boolean> => (await flow.gateway.sessions.lease()).sessions.length === 1;
      await until(again, 'the rows are handed out again');
      expect(first.sessions.map(({ session_id }) => session_id)).toEqual(['k']);
      expect(await flow.gateway.sessions.ack({ sessionIds: ['k'] })).toEqual({ acked: 1, unknown: 0 });
    },
  },
  'traces.storeSessions': {
    settings: { traces: { storeSessions: 2 } },
    at: async (flow) => {
      for (const key of ['a', 'b', 'c']) {
        expect((await chat(flow, key)).status).toBe(200);
        await flow.gateway.sessions.finish(key);
      }
      await until(async () => (await fetch(`${flow.url}/sessions/a`)).status === 404, 'the oldest is dropped');
      for (const key of ['b', 'c']) expect((await flow.gateway.sessions.finish(key)).traces).toHaveLength(1);
    },
  },
  'traces.maxRowTokens': {
    settings: { traces: { maxRowTokens: 60 } },
    at: async (flow) => {
      const messages: { role: string; content: string }[] = [];
      for (const content of ['one', 'two', 'three']) {
        messages.push({ role: 'user', content: `${content} ${plan({ text: 'a b c d e' })}` });
        const reply = (await (await chat(flow, 'k', { model: 'm', messages })).json()) as {
          readonly choices: readonly { readonly message: { readonly content: string } }[];
        };
        messages.push({ role: 'assistant', content: reply.choices[0]!.message.content });
      }
      const { traces, summary } = await flow.gateway.sessions.finish('k', { ack: true });
      expect(summary.tokens.discarded).toEqual({ max_row_tokens: summary.tokens.committed - summary.tokens.trained });
      expect(summary.tokens.discarded.max_row_tokens).toBeGreaterThan(0);
      expect(traces.some(({ quality }) => quality.cut_turns > 0)).toBe(true);
    },
  },
  'finish.waitMs': {
    settings: { finish: { waitMs: 0 } },
    at: async (flow) => {
      const reply = chat(flow, 'k', long);
      await until(() => running(flow) === 1, 'it is sampled');
      expect((await flow.gateway.sessions.finish('k')).summary).toMatchObject({ turns: 0, aborted_turns: 1 });
      expect(await told(await reply)).toEqual([403, 'session_closed', 'false']);
    },
  },
  'backend.holdMs': {
    settings: { backend: { holdMs: 400, probeDownMs: 50 }, window: { initial: 1, max: 1 } },
    at: async (flow) => {
      const free = await hold(flow, ['a']);
      expect(await told(await chat(flow, 'b'))).toEqual(OVERLOADED);
      await free();
      expect((await chat(flow, 'b')).status).toBe(200);
    },
  },
  'backend.silenceTimeoutMs': {
    settings: { backend: { silenceTimeoutMs: 300, retries: 1 } },
    at: async (flow) => {
      flow.sim.setFaults([{ kind: 'stall', prompt: 'hello', count: 1 }]);
      expect((await chat(flow, 'k')).status).toBe(200);
      flow.sim.setFaults([{ kind: 'stall', prompt: 'hello', count: 2 }]);
      expect(await told(await chat(flow, 'k'))).toEqual([500, 'engine_failed', 'true']);
    },
  },
  'window.max': {
    settings: { window: { initial: 2, max: 2 } },
    at: async (flow) => {
      const free = await hold(flow, ['a', 'b', 'c'], 2);
      await until(async () => /replica_queue\{[^}]*\} 1/.test(await (await fetch(`${flow.url}/metrics`)).text()), 'one waits');
      expect(running(flow)).toBe(2);
      await free();
    },
  },
  'sampling.maxTokens': {
    settings: { sampling: { maxTokens: 3 } },
    at: async (flow) => {
      const reply = (await (await chat(flow, 'k', { ...long, max_tokens: 50 })).json()) as object;
      expect(reply).toMatchObject({ choices: [{ finish_reason: 'length' }], usage: { completion_tokens: 3 } });
    },
  },
  'shutdown.drainMs': {
    settings: { shutdown: { drainMs: 0 } },
    at: async (flow) => {
      const reply = chat(flow, 'k', long);
      await until(() => running(flow) === 1, 'it is sampled');
      await flow.gateway.close();
      expect(await told(await reply)).toEqual([503, 'shutting_down', 'true']);
      await until(() => running(flow) === 0, 'the engine is free');
    },
  },
  'backend.retries': {
    settings: { backend: { retries: 2 } },
    at: async (flow) => {
      flow.sim.setFaults([{ kind: 'http_500', prompt: 'hello', count: 2 }]);
      expect((await chat(flow, 'k')).status).toBe(200);
      flow.sim.setFaults([{ kind: 'http_500', prompt: 'hello', count: 3 }]);
      expect(await told(await chat(flow, 'k'))).toEqual([500, 'engine_failed', 'true']);
      expect((await chat(flow, 'k')).status).toBe(200);
    },
  },
};

describe('limits', () => {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  test.each(Object.keys(REACTIONS) as Limit[])('%s', async (limit) => {
    const { settings, at } = REACTIONS[limit];
    const flow = await startFlow({ sim: { latency: SLOW }, settings: { shards: 1, ...settings } });
    cleanups.push(() => flow.close());
    await at(flow);
  });
});
