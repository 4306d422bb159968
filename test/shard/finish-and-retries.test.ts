import { afterEach, describe, expect, test } from 'vitest';
import { resolveSettings } from '../../src/config-load.js';
import { createProtocols } from '../../src/protocols/registry.js';
import { loadModel } from '../../src/rendering/model.js';
import { CallAnswer } from '../../src/shard/call-answer.js';
import type { FromShard } from '../../src/shard/messages.js';
import { retriedTurn, retryTurn } from '../../src/shard/retry-turn.js';
import { runTurn } from '../../src/shard/run-turn.js';
import type { Session } from '../../src/shard/session.js';
import { SessionStore } from '../../src/shard/session-store.js';
import { decodeSession } from '../../src/shard/trace-msgpack.js';
import { TrainerDesk } from '../../src/shard/trainer-desk.js';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';
import { createLog } from '../../src/telemetry/log.js';
import { createMetrics } from '../../src/telemetry/metrics.js';
import type { FinishedSession } from '../../src/trainer/trace-encoding.js';
import { until } from '../support/flow.js';
import { generateResult, shardContext, turnRequest } from '../support/hand-made-turn.js';

const settings = { ...resolveSettings({}), model: SIM_MODEL_DIR };
const model = loadModel(settings);
const protocol = createProtocols(settings.wire)['openai-chat'];
const request = turnRequest();
const DIGEST = 'the same body';
const [END] = model.directory.eosTokenIds;
const SAMPLE = [65, 66, END!];
/** Time for a finish to go wrong. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

interface Call {
  readonly answer: CallAnswer;
  readonly sent: FromShard[];
  readonly over: Promise<void>;
}

/** One shard's session and desk over an engine that answers when it is told to. */
class Bench {
  readonly #answers: ((aborted: boolean) => void)[] = [];
  readonly #metrics = createMetrics('test');
  readonly context = shardContext({
    settings,
    metrics: this.#metrics,
    log: createLog('silent', 'test'),
    model,
    engine: {
      generate: ({ signal }: { readonly signal: AbortSignal }) =>
        new Promise((resolve) => {
          const done = (aborted: boolean): void => resolve(outcome(aborted));
          signal.addEventListener('abort', () => done(true), { once: true });
          this.#answers.push(done);
        }),
    },
  });
  readonly store = new SessionStore(settings, this.context.journal, { opened: () => undefined, closed: () => undefined });
  readonly desk = new TrainerDesk({ store: this.store, context: this.context });
  readonly session = this.store.enter('s', Date.now()) as Session;
  #calls = 0;

  constructor() {
    this.#metrics.stop();
  }

  /** A call for the turn; a marked one must find it. */
  call(kind: 'first' | 'retry'): Call {
    const sent: FromShard[] = [];
    const answer = new CallAnswer(++this.#calls, `req_${this.#calls}`, protocol, settings.heartbeat, (message) => void sent.push(message));
    const turn = { request, session: this.session, protocol, answer, context: this.context, receivedAtMs: 0 };
    const retried = kind === 'retry' ? retriedTurn(this.session, DIGEST) : null;
    expect(retried === null).toBe(kind === 'first');
    return { answer, sent, over: retried === null ? runTurn(turn, DIGEST) : retryTurn(turn, retried) };
  }

  async sampling(): Promise<void> {
    await until(() => this.#answers.length > 0, 'the engine samples');
  }

  /** The engine has answered, and so has this call. */
  async sampled(call: Call): Promise<void> {
    await this.sampling();
    for (const done of this.#answers.splice(0)) done(false);
    await answered(call);
  }

  /** The reply of a turn is there and its first call over; a marked retry has been answered with it and has not taken it. */
  async replaying(first: 'left' | 'served'): Promise<Call> {
    const call = this.call('first');
    await this.sampled(call);
    if (first === 'left') call.answer.clientGone();
    else call.answer.clientServed();
    await call.over;
    const retry = this.call('retry');
    await answered(retry);
    return retry;
  }

  async finish(waitMs: number): Promise<FinishedSession> {
    const finish = { metadata: '{}', waitMs, include: [], ack: false, encoding: 'msgpack' } as const;
    const answer = await this.desk.answer({ kind: 'finish', sessionId: 's', finish });
    if (answer.kind !== 'traces') throw new Error(JSON.stringify(answer));
    return decodeSession(answer.sessions[0]!);
  }
}

const answered = (call: Call): Promise<void> => until(() => call.sent.length > 0, 'the call is answered');

function outcome(aborted: boolean): object {
  const outputIds = Int32Array.from(aborted ? [65] : SAMPLE);
  const finish = aborted ? ({ kind: 'abort' } as const) : ({ kind: 'stop', matched: END! } as const);
  const result = generateResult(outputIds, new Float32Array(outputIds.length).fill(-1), { finish });
  return { ok: true, result, replica: 'http://e', queueMs: 0, engineMs: 0, attempts: 1, firstTokenMs: null };
}

const trainedTokens = ({ traces }: FinishedSession): number[] =>
  traces.flatMap((row) => [...row.token_ids.subarray(row.prompt_length)].filter((_, at) => row.loss_mask[at] === 1));

describe('a finish while a marked retry is answered', () => {
  const calls: Call[] = [];
  afterEach(async () => {
    for (const { answer } of calls.splice(0)) answer.clientGone();
  });

  test('waits for the replay of a turn whose first client has left', async () => {
    const bench = new Bench();
    const first = bench.call('first');
    await bench.sampling();
    const retry = bench.call('retry');
    first.answer.clientGone();
    await bench.sampled(retry);
    await first.over;
    expect(bench.session.running.size).toBe(0);
    expect(retry.sent).toMatchObject([{ kind: 'answer', status: 200 }]);
    const finished = bench.finish(5000);
    await settle();
    retry.answer.clientServed();
    const { summary, ...rest } = await finished;
    expect(summary).toMatchObject({ turns: 1, aborted_turns: 0, capture_yield: 1, capture_error: null, tokens: { trained: 3 } });
    expect(trainedTokens({ summary, ...rest })).toEqual(SAMPLE);
  });

  test('waits for the replay of a turn that was kept aside, even where it may not wait for sampling', async () => {
    const bench = new Bench();
    const retry = await bench.replaying('left');
    const finished = bench.finish(0);
    await settle();
    retry.answer.clientServed();
    expect(trainedTokens(await finished)).toEqual(SAMPLE);
  });

  test('gives up a replay whose client does not take it, and counts its tokens', async () => {
    const bench = new Bench();
    const retry = await bench.replaying('left');
    calls.push(retry);
    const { traces, summary } = await bench.finish(0);
    expect(traces).toEqual([]);
    expect(summary).toMatchObject({ aborted_turns: 1, capture_error: null, tokens: { sampled: 3, discarded: { session_closed: 3 } } });
    retry.answer.clientServed();
    await retry.over;
    expect(bench.session.tree.turns).toEqual([]);
  });

  test('waits for no replay of a turn that is recorded', async () => {
    const bench = new Bench();
    const retry = await bench.replaying('served');
    calls.push(retry);
    // The retry is never taken: a finish that waited for it would not come within the test's time.
    expect(trainedTokens(await bench.finish(3_600_000))).toEqual(SAMPLE);
  });

  test('tells a retry of a turn that is stopped with its session that the session is over', async () => {
    const bench = new Bench();
    const first = bench.call('first');
    await bench.sampling();
    const retry = bench.call('retry');
    const { summary } = await bench.finish(0);
    expect(summary).toMatchObject({ turns: 0, aborted_turns: 1, capture_error: null });
    await Promise.all([first.over, retry.over]);
    expect([first.sent, retry.sent]).toMatchObject([[{ kind: 'answer', status: 403 }], [{ kind: 'answer', status: 403 }]]);
  });

  test('expires no session while a retry of it is answered', async () => {
    const bench = new Bench();
    const retry = await bench.replaying('left');
    const expired = bench.desk.expire(bench.session);
    await settle();
    retry.answer.clientServed();
    await expired;
    expect(bench.session.tree.turns).toHaveLength(1);
  });
});
