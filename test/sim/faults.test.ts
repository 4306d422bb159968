import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ALL_FAULTS, FAULT_KINDS, type FaultKind, FaultPlan } from '../../src/sim/faults.js';
import { call, engine, plan, vllm } from './calls.js';

const asked = plan({ text: 'one two three four five six seven eight' });

/** The raw answer of one request that meets a fault, or how the connection ended. */
async function struck(
  kind: FaultKind,
  more: object = {},
): Promise<{ readonly status: number; readonly text: string; readonly sampled: number }> {
  const sim = await engine({ faults: [{ kind, count: 1, ...more }] });
  const { vocabulary } = sim.core.options;
  const ids = vocabulary.encode(`<|im_start|>user\n${asked}<|im_end|>\n<|im_start|>assistant\n`);
  const body = JSON.stringify({ token_ids: ids, sampling_params: { logprobs: 0, max_tokens: 100 } });
  const answer = await fetch(`${sim.url}/inference/v1/generate`, { method: 'POST', body })
    .then(async (response) => ({ status: response.status, text: await response.text() }))
    .catch(() => ({ status: 0, text: 'reset' }));
  expect(sim.counters.faults).toEqual({ [kind]: 1 });
  const entry = sim.ledger()[0];
  if (entry) expect(entry.fault).toBe(kind);
  return { ...answer, sampled: entry?.outputIds.length ?? 0 };
}

const choice = (text: string) => JSON.parse(text).choices[0];
const logprobsOf = (text: string): (number | null)[] => choice(text).logprobs.content.map((it: { logprob: number | null }) => it.logprob);

describe('faults', () => {
  it.each([
    ['http_429', 429],
    ['http_500', 500],
    ['http_502', 502],
    ['http_503', 503],
    ['context_overflow', 400],
    ['bad_request', 400],
    ['unauthorized', 401],
  ] as const)('%s answers %d and samples nothing', async (kind, status) => {
    expect(await struck(kind)).toMatchObject({ status, sampled: 0 });
  });

  it.each(['reset_before', 'die'] as const)('%s cuts the connection before anything was sampled', async (kind) => {
    expect(await struck(kind, { ms: 0 })).toMatchObject({ text: 'reset', sampled: 0 });
  });

  it('stall says nothing until the connection is cut', async () => {
    expect(await struck('stall', { ms: 20 })).toMatchObject({ text: 'reset', sampled: 0 });
  });

  it('reset_mid cuts the connection inside an answer that was sampled', async () => {
    const { text, sampled } = await struck('reset_mid');
    expect(text).toBe('reset');
    expect(sampled).toBeGreaterThan(0);
  });

  it.each([
    ['html_200', /^<html>/],
    ['error_200', /^\{"error":/],
    ['empty_200', /^\{\}$/],
    ['empty_body', /^$/],
    ['truncated_json', /^\{"request_id".*[^}]$/],
  ] as const)('%s has status 200 and no answer in it', async (kind, shape) => {
    const { status, text, sampled } = await struck(kind);
    expect(status).toBe(200);
    expect(text).toMatch(shape);
    expect(sampled).toBeGreaterThan(0);
  });

  it.each(['slow', 'trickle'] as const)('%s gives the whole answer in the end', async (kind) => {
    const { text, sampled } = await struck(kind, { ms: 30 });
    expect(choice(text).token_ids).toHaveLength(sampled);
  });

  it('a request that comes before the last answer on its connection has ended is answered after it', async () => {
    const sim = await engine({ faults: [{ kind: 'trickle', count: 1, ms: 200 }] });
    const body = JSON.stringify({ token_ids: sim.core.options.vocabulary.encode(asked), sampling_params: { max_tokens: 5 } });
    const request = `POST /inference/v1/generate HTTP/1.1\r\nhost: sim\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const socket = connect(sim.port, '127.0.0.1', () => socket.write(request + request));
    let text = '';
    for await (const part of socket) {
      text += String(part);
      if (text.split('"request_id"').length === 3) break;
    }
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  });

  it('abort_partial has half of the tokens, abort_empty none', async () => {
    const half = await struck('abort_partial');
    expect(choice(half.text)).toMatchObject({ finish_reason: 'abort' });
    expect(choice(half.text).token_ids).toHaveLength(half.sampled);
    expect(half.sampled).toBeGreaterThan(0);
    expect(choice((await struck('abort_empty')).text)).toMatchObject({ finish_reason: 'abort', token_ids: [] });
  });

  it('lies about log-probabilities', async () => {
    const nan = await struck('nan_logprobs');
    expect(nan.text).toMatch(/"logprob":NaN,/);
    expect((await struck('infinite_logprobs')).text).toMatch(/"logprob":-Infinity,/);
    expect(logprobsOf((await struck('null_logprobs')).text)).toContain(null);
    expect(logprobsOf((await struck('clamped_logprobs')).text)).toContain(-9999);
    expect(Math.max(...(logprobsOf((await struck('positive_logprobs')).text) as number[]))).toBe(1.5);
    const fewer = await struck('fewer_logprobs');
    expect(logprobsOf(fewer.text)).toHaveLength(fewer.sampled - 1);
    const more = await struck('more_logprobs');
    expect(logprobsOf(more.text)).toHaveLength(more.sampled + 1);
    expect(choice((await struck('no_logprobs')).text).logprobs).toBeNull();
  });

  it('lies about ids', async () => {
    const other = choice((await struck('other_ids')).text);
    expect(other.token_ids).not.toEqual(other.logprobs.content.map((it: { token_id: number }) => it.token_id));
    expect(Math.max(...choice((await struck('out_of_vocabulary_ids')).text).token_ids)).toBe(1095);
    expect(choice((await struck('no_ids')).text).token_ids).toBeNull();
    expect(choice((await struck('no_output')).text)).toMatchObject({ token_ids: [], finish_reason: 'stop' });
    const extra = await struck('extra_eos');
    expect(choice(extra.text).token_ids.slice(-2)).toEqual([1026, 1026]);
    const missing = await struck('missing_eos');
    expect(choice(missing.text).token_ids).toHaveLength(missing.sampled - 1);
  });

  it('lies about the rest', async () => {
    expect(choice((await struck('wrong_finish')).text).finish_reason).toBe('length');
    expect(choice((await struck('unknown_finish')).text).finish_reason).toBe('banana');
    expect(choice((await struck('finish_error')).text)).toMatchObject({ finish_reason: 'error', token_ids: [] });
    expect(JSON.parse((await struck('negative_usage')).text).usage.prompt_tokens).toBe(-1);
    expect(JSON.parse((await struck('wrong_request_id')).text).request_id).toMatch(/-of-another$/);
  });

  it('has every kind in one group only', () => {
    expect(new Set(ALL_FAULTS).size).toBe(Object.values(FAULT_KINDS).flat().length);
  });

  it('comes back on its port after it died', async () => {
    const sim = await engine();
    await sim.die(30);
    await expect(call(sim, '/health')).rejects.toThrow();
    for (;;) {
      const up = await call(sim, '/health').catch(() => null);
      if (up) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect((await vllm(sim, asked)).status).toBe(200);
  });

  it('takes rules over HTTP and refuses unknown kinds', async () => {
    const sim = await engine();
    expect((await call(sim, '/sim/faults', { rules: [{ kind: 'nope' }] })).status).toBe(400);
    expect((await call(sim, '/sim/faults', { rules: [{ kind: 'http_503', prompt: 'three', retryAfterS: 2 }] })).status).toBe(200);
    const refused = await fetch(`${sim.url}/inference/v1/generate`, {
      method: 'POST',
      body: JSON.stringify({ token_ids: sim.core.options.vocabulary.encode('one two three'), sampling_params: {} }),
    });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect((await vllm(sim, 'other')).status).toBe(200);
    expect((await call(sim, '/sim/faults')).body).toMatchObject({ rules: [{ kind: 'http_503', struck: 1 }] });
  });
});

describe('FaultPlan', () => {
  const draw = (fault: FaultPlan, promptHash: number, attempt = 0) =>
    fault.draw({ promptHash, attempt, promptText: () => 'text' })?.kind ?? null;

  it('strikes about as often as its rate says, the same prompts in any order', () => {
    const hashes = Array.from({ length: 2000 }, (_, i) => i * 7919);
    const one = new FaultPlan(3, [{ kind: 'http_500', rate: 0.1 }]);
    const two = new FaultPlan(3, [{ kind: 'http_500', rate: 0.1 }]);
    const forward = new Map(hashes.map((hash) => [hash, draw(one, hash)]));
    const backward = new Map(hashes.toReversed().map((hash) => [hash, draw(two, hash)]));
    expect(hashes.every((hash) => forward.get(hash) === backward.get(hash))).toBe(true);
    const times = [...forward.values()].filter((kind) => kind !== null).length;
    expect(times).toBeGreaterThan(140);
    expect(times).toBeLessThan(260);
  });

  it('keeps to count, after and attempt', () => {
    const counted = new FaultPlan(0, [{ kind: 'stall', count: 1, after: 1 }]);
    expect([draw(counted, 1), draw(counted, 2), draw(counted, 3)]).toEqual([null, 'stall', null]);
    const first = new FaultPlan(0, [{ kind: 'stall', attempt: 0 }]);
    expect([draw(first, 1, 0), draw(first, 1, 1)]).toEqual(['stall', null]);
  });
});
