/** What README says under "When things go wrong", as agents and trainers see it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TraceRecord } from '../../src/gateway.js';
import type { FaultRule } from '../../src/sim/faults.js';
import { type Flow, startFlow, until } from '../support/flow.js';

/** Each strikes the prompts that name it. */
const FAULTS: readonly FaultRule[] = [
  { kind: 'fewer_logprobs', prompt: 'always-lies' },
  { kind: 'fewer_logprobs', prompt: 'lies-once', count: 1 },
  { kind: 'null_logprobs', prompt: 'null-logprobs' },
  { kind: 'http_500', prompt: 'always-fails' },
  { kind: 'http_500', prompt: 'fails-once', count: 1 },
  { kind: 'abort_partial', prompt: 'aborts-once', count: 1 },
];

describe('an engine that', () => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlow({ sim: { faults: FAULTS }, settings: { shards: 1, backend: { retries: 1 } } });
  });
  afterAll(() => flow.close());

  const body = (text: string, more: object = {}): object => ({
    model: 'm',
    max_tokens: 24,
    messages: [{ role: 'user', content: text }],
    ...more,
  });
  const rowsOf = async (key: string): Promise<readonly TraceRecord[]> => (await flow.gateway.sessions.finish(key, { ack: true })).traces;

  test.each([
    ['always-lies', 'engine_invalid_answer'],
    ['always-fails', 'engine_failed'],
  ])('%s is an error that clients retry, and nothing is recorded', async (fault, code) => {
    const chat = await flow.post('/v1/chat/completions', fault, body(fault));
    expect([chat.status, chat.headers.get('x-should-retry')]).toEqual([500, 'true']);
    expect(await chat.json()).toMatchObject({ error: { code, type: 'server_error' } });
    const messages = await flow.post('/v1/messages', fault, body(fault));
    expect(messages.status).toBe(500);
    expect(await messages.json()).toMatchObject({ error: { type: 'api_error', details: { error_code: code } } });
    expect(await rowsOf(fault)).toEqual([]);
  });

  test('fails in a stream ends it with an error event', async () => {
    const reply = await flow.post('/v1/chat/completions', 'stream', body('always-lies', { stream: true }));
    const text = await reply.text();
    expect(reply.status).toBe(200);
    expect(text).toContain('"code":"engine_invalid_answer"');
    expect(text).not.toContain('"finish_reason":"stop"');
    expect(await rowsOf('stream')).toEqual([]);
  });

  test.each(['lies-once', 'fails-once'])('%s is not noticed', async (fault) => {
    expect((await flow.post('/v1/chat/completions', fault, body(fault))).status).toBe(200);
    const rows = await rowsOf(fault);
    expect(rows.map(({ turns, trainable }) => [turns.length, trainable])).toEqual([[1, true]]);
  });

  test('aborts is gone on with from the tokens there are', async () => {
    expect((await flow.post('/v1/chat/completions', 'aborted', body('aborts-once'))).status).toBe(200);
    const rows = await rowsOf('aborted');
    expect(rows.map(({ turns }) => turns.map(({ stop }) => stop.kind))).not.toContainEqual(['abort']);
    expect(rows[0]?.loss_mask.every((bit) => bit === 1)).toBe(true);
    expect(rows[0]?.logprobs.every((logprob) => logprob < 0)).toBe(true);
  });

  test('gives no logprob leaves a row that is advised against', async () => {
    expect((await flow.post('/v1/chat/completions', 'null', body('null-logprobs'))).status).toBe(200);
    const [row] = await rowsOf('null');
    const unknown = row!.logprobs.filter((logprob) => Number.isNaN(logprob)).length;
    expect(unknown).toBeGreaterThan(0);
    expect(row).toMatchObject({ trainable: false, quality: { repaired_logprobs: unknown, untrainable: ['unknown_logprobs'] } });
  });

  test('does any of it did so here', async () => {
    const reply = (await (await fetch(`${flow.sim.url}/sim/faults`)).json()) as { readonly rules: readonly { readonly struck: number }[] };
    expect(reply.rules.map(({ struck }) => struck > 0)).toEqual(FAULTS.map(() => true));
  });
});

describe('a session that is over', () => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlow({ settings: { shards: 1, onContextOverflow: 'end', sessions: { idleTtlMs: 1000 } } });
  });
  afterAll(() => flow.close());
  const body = { model: 'm', max_tokens: 8, messages: [{ role: 'user', content: 'x' }] };

  test('is refused with the status that every client takes as final', async () => {
    await flow.post('/v1/chat/completions', 'over', body);
    await flow.gateway.sessions.finish('over', { ack: true });
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      const refused = await flow.post(path, 'over', body);
      expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([403, 'false']);
      expect(await refused.text()).toContain('session_closed');
    }
  });

  test('for want of calls waits for the trainer, aborted and idle', async () => {
    await flow.post('/v1/chat/completions', 'idle', body);
    await until(async () => (await flow.gateway.sessions.get('idle')).state === 'finished', 'the idle session expires');
    const { traces } = await flow.gateway.sessions.finish('idle', { ack: true });
    expect(traces).toMatchObject([{ status: 'aborted', stop_reason: 'idle' }]);
  });

  test('by its context gets an empty reply that ends by length, where the setting says so', async () => {
    await flow.gateway.sessions.create({ session_id: 'short', max_context_tokens: 5 });
    const reply = await flow.post('/v1/chat/completions', 'short', body);
    expect(await reply.json()).toMatchObject({ choices: [{ message: { content: '' }, finish_reason: 'length' }] });
    expect((await flow.gateway.sessions.finish('short', { ack: true })).traces).toEqual([]);
  });
});
