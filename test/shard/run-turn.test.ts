import { describe, expect, test } from 'vitest';
import type { TurnRequest } from '../../src/canonical/turn.js';
import type { SomeSettings } from '../../src/config.js';
import { resolveSettings } from '../../src/config-load.js';
import { createProtocols } from '../../src/protocols/registry.js';
import { loadModel } from '../../src/rendering/model.js';
import { CallAnswer } from '../../src/shard/call-answer.js';
import type { FromShard } from '../../src/shard/messages.js';
import { retriedTurn, retryTurn } from '../../src/shard/retry-turn.js';
import { runTurn } from '../../src/shard/run-turn.js';
import { implicitSession, Session } from '../../src/shard/session.js';
import type { ShardContext } from '../../src/shard/shard-context.js';
import type { TurnCall } from '../../src/shard/turn-call.js';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';
import { createMetrics } from '../../src/telemetry/metrics.js';
import { generateResult, shardContext, turnRequest } from '../support/hand-made-turn.js';

const base = { ...resolveSettings({}), model: SIM_MODEL_DIR };
const model = loadModel(base);
const outcomeOf = (result: object): object => ({
  ...result,
  replica: 'http://e',
  queueMs: 0,
  engineMs: 0,
  attempts: 1,
  firstTokenMs: null,
});
const sampled = outcomeOf({ ok: true, result: generateResult(Int32Array.of(70, 71, 72), Float32Array.of(-1, -2, -3)) });

/** A session before an engine whose outcomes the test gives. */
class Desk {
  readonly session: Session;
  readonly #settings;
  readonly #context: ShardContext;

  constructor(generate: () => Promise<unknown>, settings: SomeSettings = {}, promptTokensMax: number | null = null) {
    this.#settings = { ...resolveSettings(settings), model: SIM_MODEL_DIR };
    const metrics = createMetrics('test');
    metrics.stop();
    this.#context = shardContext({
      settings: this.#settings,
      metrics,
      model,
      engine: { generate },
      promptTokensMax: () => promptTokensMax,
    });
    this.session = new Session(implicitSession('s'), this.#settings, Date.now(), true);
  }

  call(changes: Partial<TurnRequest> = {}): { readonly turn: TurnCall; readonly answer: CallAnswer; readonly sent: FromShard[] } {
    const sent: FromShard[] = [];
    const asked = turnRequest(changes);
    const protocol = createProtocols(this.#settings.wire)[asked.protocol];
    const answer = new CallAnswer(1, 'req_1', protocol, this.#settings.heartbeat, (message) => void sent.push(message));
    return { turn: { request: asked, session: this.session, protocol, answer, context: this.#context, receivedAtMs: 0 }, answer, sent };
  }
}

const textOf = (sent: readonly FromShard[]): string =>
  sent.map((message) => ('body' in message ? Buffer.from(message.body as Uint8Array).toString() : message.kind)).join('');

test('a fault of the gateway after a sample discards its tokens under a name of its own', async () => {
  const result = generateResult(Int32Array.of(1, 2, 3), Float32Array.of(-1));
  const desk = new Desk(async () => outcomeOf({ ok: true, result }));
  const { session } = desk;
  const { turn, answer, sent } = desk.call();
  await expect(runTurn(turn, 'digest')).rejects.toThrow('3 output ids and 1 logprobs');
  answer.fail({ code: 'internal_error', message: 'x' });
  expect(sent).toMatchObject([{ kind: 'answer', status: 500 }]);
  expect(session.running.size).toBe(0);
  session.tree.close();
  expect([session.tree.books.sampled, Object.fromEntries(session.tree.books.discarded)]).toEqual([3, { gateway_failed: 3 }]);
});

describe('a prompt that is too long', () => {
  const overflow = outcomeOf({
    ok: false,
    failure: {
      kind: 'context_overflow',
      message: 'Input length (9 tokens) exceeds the maximum allowed length',
      status: 400,
      retryAfterMs: null,
    },
  });
  const never = (): Promise<never> => Promise.reject(new Error('the engine was asked'));
  const dialects = [
    ['openai-chat', /maximum context length is (\d+) tokens. However, your messages resulted in (\d+) tokens/],
    ['anthropic-messages', /prompt is too long: (\d+) tokens > (\d+) maximum/],
  ] as const;

  test.each(dialects)(
    'for an engine that keeps tokens for itself is refused in the vendor’s words, unasked (%s)',
    async (protocol, words) => {
      const desk = new Desk(never, {}, 4);
      const { turn, sent } = desk.call({ protocol });
      await runTurn(turn, 'digest');
      expect(sent).toMatchObject([{ kind: 'answer', status: 400 }]);
      const numbers = words
        .exec(textOf(sent))!
        .slice(1)
        .map(Number)
        .sort((a, b) => a - b);
      expect(numbers[0]).toBe(4);
      expect(numbers[1]).toBeGreaterThan(4);
    },
  );

  test.each(dialects)('for a replica that says so itself is refused in the vendor’s words (%s)', async (protocol, words) => {
    for (const stream of [false, true]) {
      const desk = new Desk(async () => overflow);
      const { turn, sent } = desk.call({ protocol, stream });
      await runTurn(turn, 'digest');
      expect(textOf(sent)).toMatch(words);
      expect(sent.at(-1)).toMatchObject(stream ? { kind: 'end' } : { kind: 'answer', status: 400 });
      expect(desk.session.running.size).toBe(0);
      desk.session.tree.close();
      expect(desk.session.tree.books).toMatchObject({ sampled: 0, committed: 0 });
    }
  });

  test.each([false, true])('for a replica that says so itself ends by length where the setting says so (stream: %s)', async (stream) => {
    const desk = new Desk(async () => overflow, { onContextOverflow: 'end' });
    const { turn, sent } = desk.call({ stream });
    await runTurn(turn, 'digest');
    expect(textOf(sent)).toContain('"finish_reason":"length"');
    expect(sent.filter(({ kind }) => kind === 'head')).toHaveLength(stream ? 1 : 0);
    const ids = new Set([...textOf(sent).matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id));
    expect(ids.size).toBe(1);
  });
});

describe('a turn whose client left while it was sampled', () => {
  test('is kept for the marked retry when the abort came too late', async () => {
    let finish = (_outcome: object): void => undefined;
    const calls: Promise<object>[] = [];
    const desk = new Desk(() => {
      const outcome = new Promise<object>((resolve) => {
        finish = resolve;
      });
      calls.push(outcome);
      return outcome;
    });
    const first = desk.call();
    const run = runTurn(first.turn, 'digest');
    await expect.poll(() => calls.length).toBe(1);
    first.answer.clientGone();
    // While it may still end by the abort, a retry is sampled anew.
    expect(retriedTurn(desk.session, 'digest')).toBeNull();
    finish(sampled);
    await run;
    const pending = retriedTurn(desk.session, 'digest');
    expect(pending).not.toBeNull();
    const second = desk.call();
    const retry = retryTurn(second.turn, pending!);
    await expect.poll(() => second.sent.length).toBe(1);
    expect(second.sent).toMatchObject([{ kind: 'answer', status: 200 }]);
    second.answer.clientServed();
    await retry;
    expect(calls).toHaveLength(1);
    desk.session.tree.close();
    expect(desk.session.tree.books).toMatchObject({ sampled: 3, committed: 3, committedTurns: 1 });
  });
});
