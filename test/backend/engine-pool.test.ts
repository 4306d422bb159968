import { describe, expect, it } from 'vitest';
import { rendezvousScore } from '../../src/backend/placement.js';
import { type Clock, systemClock } from '../../src/backend/pool-settings.js';
import { answer, answerBody, type EngineCallSeen, end, json, type Script, type ScriptedEngine } from '../support/scripted-engine.js';
import { allUp, openPool, SAMPLING, settingsWith, startEngine, stateOf, turn } from './pool-fixture.js';

/** The replica that session `s1` belongs to. */
const ownOf = (engines: readonly ScriptedEngine[]): ScriptedEngine =>
  engines.reduce((best, engine) => (rendezvousScore('s1', engine.url) > rendezvousScore('s1', best.url) ? engine : best));
const silent: Script = () => {};
const reset: Script = (call) => void call.socket.resetAndDestroy();
const busy: Script = (call) => json(call.response, 503, { error: { message: 'busy', code: 503 } });
const ids = (outcome: Awaited<ReturnType<ReturnType<typeof openPool>['generate']>>): number[] => {
  if (!outcome.ok) throw new Error(outcome.failure.message);
  return [...outcome.result.outputIds];
};

describe('EnginePool.generate', () => {
  it('samples token ids and says where and how', async () => {
    const engine = await startEngine();
    const pool = openPool([engine], { apiKey: 'secret' });
    const outcome = await pool.generate(turn());
    expect(ids(outcome)).toEqual([7, 8, 9]);
    expect(outcome).toMatchObject({ replica: engine.url, attempts: 1, firstTokenMs: null });
    const { body, headers } = engine.calls[0]!;
    expect(body?.token_ids).toEqual([1, 2, 3]);
    expect(headers).toMatchObject({ authorization: 'Bearer secret', 'x-session-id': 'k1', 'x-smg-routing-key': 'k1' });
  });

  it.each([
    ['negative', [1, -1], 'token id -1 at 1'],
    ['out of the vocabulary', [1000], 'token id 1000 at 0'],
    ['missing', [], 'no token'],
  ])('refuses prompt ids that are %s without asking the engine', async (_name, prompt, message) => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    const outcome = await pool.generate(turn({ promptIds: Int32Array.from(prompt) }));
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'bad_request' }, replica: null, attempts: 0 });
    expect(outcome.ok ? '' : outcome.failure.message).toContain(message);
    expect(engine.calls).toHaveLength(0);
  });

  it('refuses a prompt that does not fit into the context without asking the engine', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    const outcome = await pool.generate(turn({ promptIds: new Int32Array(2048).fill(1) }));
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'context_overflow' }, attempts: 0 });
    expect(engine.calls).toHaveLength(0);
    expect(pool.states()[0]?.inFlight).toBe(0);
  });

  it('asks for no more tokens than the replica has room for', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    const sampling = { ...SAMPLING, maxTokens: 64, minTokens: 20 };
    expect(await pool.generate(turn({ promptIds: new Int32Array(2040).fill(1), sampling }))).toMatchObject({ ok: true });
    expect(await pool.generate(turn({ promptIds: new Int32Array(1984).fill(1), sampling }))).toMatchObject({ ok: true });
    expect(engine.calls.map(({ body }) => body?.sampling_params)).toMatchObject([
      { max_tokens: 8, min_tokens: 8 },
      { max_tokens: 64, min_tokens: 20 },
    ]);
  });

  it('spells growing prompts as they are, whatever it remembers of earlier ones', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    let promptIds = Int32Array.from({ length: 600 }, (_, index) => index % 1000);
    for (const [kept, added] of [
      [600, 300],
      [850, 10],
      [3, 700],
      [703, 1],
    ] as const) {
      await pool.generate(turn({ promptIds }));
      expect(engine.calls.at(-1)?.body?.token_ids).toEqual([...promptIds]);
      promptIds = Int32Array.from([...promptIds.subarray(0, kept), ...Array.from({ length: added }, (_, index) => (index * 7) % 1000)]);
    }
    promptIds[promptIds.length - 1] = 1000;
    expect(await pool.generate(turn({ promptIds }))).toMatchObject({ ok: false, failure: { kind: 'bad_request' } });
  });

  it('keeps a session on one replica and spreads sessions over all', async () => {
    const engines = await Promise.all([startEngine(), startEngine(), startEngine()]);
    const pool = openPool(engines);
    await allUp(pool);
    const used = new Set<string | null>();
    for (let session = 0; session < 24; session++) {
      const places = [];
      for (let number = 0; number < 3; number++) places.push((await pool.generate(turn({ sessionId: `s${session}` }))).replica);
      expect(new Set(places).size).toBe(1);
      used.add(places[0]!);
    }
    expect(used.size).toBe(3);
  });

  it('takes another replica when the own one is full', async () => {
    const engines = await Promise.all([startEngine(), startEngine()]);
    const pool = openPool(engines, { settings: settingsWith({ window: { initial: 1, max: 1 } }) });
    await allUp(pool);
    const held: EngineCallSeen[] = [];
    for (const engine of engines) engine.next((call) => void held.push(call));
    const arrivals = engines.map((engine) => engine.arrival());
    const turns = [pool.generate(turn()), pool.generate(turn())];
    await Promise.all(arrivals);
    for (const call of held) answer(call, { ids: [4] });
    const outcomes = await Promise.all(turns);
    expect(new Set(outcomes.map(({ replica }) => replica)).size).toBe(2);
  });

  it('never has more calls at a replica than its window', async () => {
    const engine = await startEngine();
    const pool = openPool([engine], { settings: settingsWith({ window: { initial: 3, max: 3 } }) });
    let most = 0;
    let now = 0;
    engine.otherwise = async (call) => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 3));
      now--;
      answer(call, { ids: [1] });
    };
    const outcomes = await Promise.all(Array.from({ length: 30 }, (_, index) => pool.generate(turn({ sessionId: `s${index}` }))));
    expect(outcomes.every(({ ok }) => ok)).toBe(true);
    expect(most).toBe(3);
    expect(pool.states()[0]).toMatchObject({ inFlight: 0, queued: 0 });
  });

  it('refuses a turn when the queue is full', async () => {
    const engine = await startEngine();
    const pool = openPool([engine], { settings: settingsWith({ window: { initial: 1, max: 1 }, queue: 1 }) });
    await allUp(pool);
    engine.otherwise = silent;
    const arrival = engine.arrival();
    const stop = new AbortController();
    const first = pool.generate(turn({ signal: stop.signal }));
    const call = await arrival;
    const second = pool.generate(turn({ signal: stop.signal }));
    const third = await pool.generate(turn());
    expect(third).toMatchObject({ ok: false, failure: { kind: 'overloaded' }, attempts: 0 });
    stop.abort();
    answer(call, { ids: [1], finish: 'abort' });
    expect(await second).toMatchObject({ ok: false, failure: { kind: 'cancelled' } });
    await first;
  });
});

describe('EnginePool and engines on bad days', () => {
  it('retries at once, with a new request id, when a connection is reset before any byte', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    engine.next((call) => answer(call, { ids: [1] }), reset);
    await pool.generate(turn());
    const outcome = await pool.generate(turn());
    expect(ids(outcome)).toEqual([7, 8, 9]);
    expect(outcome.attempts).toBe(2);
    const [, broken, again] = engine.calls;
    expect(again?.body?.request_id).not.toBe(broken?.body?.request_id);
    expect(pool.counts().broken).toEqual({ reset: 1 });
  });

  it.each<[string, Script]>([
    ['500', (call) => json(call.response, 500, { error: { message: 'boom' } })],
    ['HTML with 200', (call) => end(call.response, 200, '<html>hello</html>')],
    [
      'a cut-off body',
      (call) => void call.response.writeHead(200, { 'content-length': '500' }).write('{"choices":[{', () => call.socket.destroy()),
    ],
    ['truncated JSON', (call) => end(call.response, 200, JSON.stringify(answerBody(call, { ids: [1] })).slice(0, -9))],
    ['an error inside 200', (call) => json(call.response, 200, { error: { message: 'late', code: 500 } })],
    ['ids without logprobs', (call) => answer(call, { ids: [1, 2], logprobs: [] })],
  ])('samples elsewhere after %s', async (_name, fault) => {
    const engines = await Promise.all([startEngine(), startEngine()]);
    const pool = openPool(engines);
    await allUp(pool);
    const own = ownOf(engines);
    own.next(fault);
    const outcome = await pool.generate(turn());
    expect(ids(outcome)).toEqual([7, 8, 9]);
    expect(outcome.attempts).toBe(2);
    expect(outcome.replica).not.toBe(own.url);
  });

  it('counts the tokens of an answer that makes no sense, and asks only once more', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    engine.otherwise = (call) => answer(call, { ids: [1, 2, 3], logprobs: [-1] });
    const outcome = await pool.generate(turn());
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'invalid_answer', sampledTokens: 3 }, attempts: 2 });
    expect(pool.counts().discardedTokens).toEqual({ invalid_answer: 3 });
  });

  it('gives up after the retries of the settings', async () => {
    const engine = await startEngine();
    const pool = openPool([engine], { settings: settingsWith({ backend: { retries: 1 } }) });
    engine.otherwise = (call) => json(call.response, 500, { error: { message: 'boom' } });
    expect(await pool.generate(turn())).toMatchObject({
      ok: false,
      failure: { kind: 'transient', message: 'boom', status: 500 },
      attempts: 2,
    });
  });

  it('does not retry what is final', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    engine.otherwise = (call) => json(call.response, 400, { error: { message: 'top_p must be in (0, 1], got 0.0.', code: 400 } });
    expect(await pool.generate(turn())).toMatchObject({ ok: false, failure: { kind: 'bad_request' }, attempts: 1 });
  });

  it('waits and shrinks the window when the engine is overloaded', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    engine.next(busy, busy);
    expect(await pool.generate(turn())).toMatchObject({ ok: true, attempts: 3 });
    expect(pool.states()[0]?.window).toBeLessThan(8);
  });

  it('shrinks the window when calls wait inside of the engine', async () => {
    const engine = await startEngine();
    engine.waiting = 50;
    const pool = openPool([engine], { settings: settingsWith({ window: { initial: 4, max: 4 } }) });
    await Promise.all(Array.from({ length: 12 }, (_, index) => pool.generate(turn({ sessionId: `s${index}` }))));
    await expect.poll(() => pool.states()[0]?.window).toBeLessThan(4);
  });

  it('asks the engine not before the time that Retry-After names', async () => {
    const engine = await startEngine();
    let offsetMs = 0;
    const long: { ms: number; call: () => void }[] = [];
    const clock: Clock = {
      ...systemClock,
      now: () => systemClock.now() + offsetMs,
      after: (ms, call) => {
        if (ms < 1_000_000) return systemClock.after(ms, call);
        long.push({ ms, call });
        return () => {};
      },
    };
    const pool = openPool([engine], { clock });
    await allUp(pool);
    engine.next((call) => json(call.response, 503, { error: { message: 'busy' } }, { 'retry-after': '3600' }));
    const outcome = pool.generate(turn());
    await expect.poll(() => long.length).toBe(1);
    expect(long[0]?.ms).toBeGreaterThan(3_590_000);
    expect(engine.calls).toHaveLength(1);
    offsetMs += 3_600_000;
    long[0]?.call();
    expect(await outcome).toMatchObject({ ok: true, attempts: 2 });
  });

  it('fails as overloaded when no replica took the turn within holdMs', async () => {
    const engine = await startEngine();
    const pool = openPool([engine], { settings: settingsWith({ backend: { holdMs: 200 } }) });
    engine.otherwise = busy;
    const outcome = await pool.generate(turn());
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'overloaded' } });
    expect(outcome.ok ? '' : outcome.failure.message).toContain('holdMs 200');
  });

  it('waits for an engine that is not there yet and recovers when it goes and comes back', async () => {
    const engine = await startEngine();
    await engine.stop();
    const pool = openPool([engine]);
    const early = pool.generate(turn());
    await stateOf(pool, ([state]) => state?.state === 'starting' && /no connection/.test(state.problem ?? ''));
    await engine.listen();
    expect(await early).toMatchObject({ ok: true });
    expect(pool.states()[0]).toMatchObject({ state: 'up', version: '0.32.0', route: 'generate', problem: null });
    await engine.stop();
    await stateOf(pool, ([state]) => state?.state === 'down');
    const late = pool.generate(turn());
    await engine.listen();
    expect(await late).toMatchObject({ ok: true });
  });

  it('says that an engine is loading and waits', async () => {
    const engine = await startEngine();
    engine.healthy = false;
    const pool = openPool([engine]);
    await stateOf(pool, ([state]) => /503 to GET \/health/.test(state?.problem ?? ''));
    expect(pool.states()[0]?.state).toBe('starting');
    engine.healthy = true;
    await allUp(pool);
  });

  it('does not take a closed connection for a replica that is down', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    await allUp(pool);
    const states: string[] = [];
    pool.onChange(() => states.push(pool.states()[0]!.state));
    engine.healthResets = 1;
    await expect.poll(() => engine.healthResets).toBe(0);
    expect(await pool.generate(turn())).toMatchObject({ ok: true });
    expect(states).not.toContain('down');
  });

  it('moves sessions of a replica that went down and finishes their turns', async () => {
    const engines = await Promise.all([startEngine(), startEngine()]);
    const pool = openPool(engines);
    await allUp(pool);
    const own = ownOf(engines);
    own.next(async () => own.stop());
    const outcome = await pool.generate(turn());
    expect(ids(outcome)).toEqual([7, 8, 9]);
    expect(outcome.replica).not.toBe(own.url);
  });

  it('ends a call in which the engine says nothing', async () => {
    const engine = await startEngine();
    const pool = openPool([engine], { settings: settingsWith({ backend: { silenceTimeoutMs: 100, retries: 0 } }) });
    engine.otherwise = silent;
    const outcome = await pool.generate(turn());
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'transient' } });
    expect(outcome.ok ? '' : outcome.failure.message).toContain('sent no byte');
  });

  it('ends a call whose answer does not end, and goes on elsewhere', async () => {
    const engines = await Promise.all([startEngine(), startEngine()]);
    const pool = openPool(engines);
    await allUp(pool);
    const own = ownOf(engines);
    const closed: Promise<void>[] = [];
    own.next((call) => {
      closed.push(call.closed);
      call.response.writeHead(200, { 'content-type': 'application/json' });
      const chunk = Buffer.alloc(256 * 1024, ' ');
      const more = (): void => {
        while (!call.response.destroyed && call.response.write(chunk));
      };
      call.response.on('drain', more);
      more();
    });
    const outcome = await pool.generate(turn());
    expect([ids(outcome), outcome.replica === own.url, outcome.attempts]).toEqual([[7, 8, 9], false, 2]);
    expect(pool.counts().broken).toMatchObject({ endless: 1 });
    await closed[0];
  });

  it('sends nothing to a removed replica and lets its running call end', async () => {
    const engines = await Promise.all([startEngine(), startEngine()]);
    const pool = openPool(engines);
    await allUp(pool);
    const own = ownOf(engines);
    own.next(silent);
    const arrival = own.arrival();
    const running = pool.generate(turn());
    const call = await arrival;
    const removed = pool.removeReplica(own.url);
    expect((await pool.generate(turn())).replica).not.toBe(own.url);
    answer(call, { ids: [3] });
    expect(ids(await running)).toEqual([3]);
    expect(await removed).toBe(true);
    expect(pool.states()).toHaveLength(1);
  });

  it('fails waiting and running turns as cancelled when it is closed', async () => {
    const engine = await startEngine();
    const pool = openPool([engine], { settings: settingsWith({ window: { initial: 1, max: 1 } }) });
    engine.otherwise = silent;
    const arrival = engine.arrival();
    const turns = [pool.generate(turn()), pool.generate(turn())];
    await arrival;
    await pool.close();
    for (const outcome of await Promise.all(turns)) expect(outcome).toMatchObject({ ok: false, failure: { kind: 'cancelled' } });
  });
});

describe('EnginePool and cancelled turns', () => {
  it('aborts at the engine by request id and hands over what came', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    engine.next(silent);
    const arrival = engine.arrival();
    const stop = new AbortController();
    const running = pool.generate(turn({ signal: stop.signal }));
    const call = await arrival;
    stop.abort();
    await expect.poll(() => engine.aborts).toEqual([`generate-tokens-${String(call.body?.request_id)}`]);
    answer(call, { ids: [5, 6], finish: 'abort' });
    expect(await running).toMatchObject({ ok: true, result: { finish: { kind: 'abort' } } });
  });

  it('aborts again when the first abort was there before its call', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    engine.next(silent);
    const arrival = engine.arrival();
    const stop = new AbortController();
    const running = pool.generate(turn({ signal: stop.signal }));
    const call = await arrival;
    stop.abort();
    await expect.poll(() => engine.aborts).toHaveLength(2);
    answer(call, { ids: [], finish: 'abort' });
    expect(await running).toMatchObject({ ok: true, result: { finish: { kind: 'abort' } } });
    expect(new Set(engine.aborts).size).toBe(1);
  });

  it('closes the socket of a call that does not answer after the abort', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    engine.next(silent);
    const arrival = engine.arrival();
    const stop = new AbortController();
    const running = pool.generate(turn({ signal: stop.signal }));
    const call = await arrival;
    stop.abort();
    await call.closed;
    expect(await running).toMatchObject({ ok: false, failure: { kind: 'cancelled' } });
  });

  it('closes the socket at once where the engine has no abort route', async () => {
    const engine = await startEngine();
    engine.abortRoute = false;
    const pool = openPool([engine]);
    engine.next(silent);
    const arrival = engine.arrival();
    const stop = new AbortController();
    const running = pool.generate(turn({ signal: stop.signal }));
    const call = await arrival;
    stop.abort();
    await call.closed;
    expect(await running).toMatchObject({ ok: false, failure: { kind: 'cancelled' } });
    expect(engine.aborts).toEqual([]);
  });

  it('does not begin a turn that was cancelled before', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    expect(await pool.generate(turn({ signal: AbortSignal.abort() }))).toMatchObject({
      ok: false,
      failure: { kind: 'cancelled' },
      attempts: 0,
    });
    expect(engine.calls).toHaveLength(0);
  });
});

describe('EnginePool and weight updates', () => {
  const span = (version: string, start: number, end: number) => ({ version, start, end });

  it('goes on from the tokens of an aborted sample and keeps their logprobs and versions', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    engine.next(
      (call) => answer(call, { ids: [11, 12], finish: 'abort', weightVersions: [span('v1', 0, 2)] }),
      (call) => answer(call, { ids: [], finish: 'abort', weightVersions: [] }),
      (call) => answer(call, { ids: [13, 14], finish: 'stop', weightVersions: [span('v1', 0, 1), span('v2', 1, 2)] }),
    );
    const outcome = await pool.generate(turn({ sampling: { ...SAMPLING, maxTokens: 10, minTokens: 3, seed: 5 } }));
    expect(ids(outcome)).toEqual([11, 12, 13, 14]);
    expect(outcome).toMatchObject({
      ok: true,
      attempts: 3,
      result: {
        logprobs: Float32Array.of(-1.1, -1.2, -1.3, -1.4),
        finish: { kind: 'stop' },
        promptTokens: 3,
        weightVersions: [span('v1', 0, 3), span('v2', 3, 4)],
        flags: ['resubmitted'],
      },
    });
    const last = engine.calls[2]?.body;
    expect(last?.token_ids).toEqual([1, 2, 3, 11, 12]);
    expect(last?.sampling_params).toMatchObject({ max_tokens: 8, min_tokens: 1, seed: 7 });
  });

  it('ends a sample by length when the tokens it has fill the context', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    engine.next((call) => answer(call, { ids: [11, 12], finish: 'abort' }));
    const outcome = await pool.generate(turn({ promptIds: new Int32Array(2046).fill(1) }));
    expect(outcome).toMatchObject({ ok: true, attempts: 1, result: { outputIds: Int32Array.of(11, 12), finish: { kind: 'length' } } });
  });

  it('tells the newest weight version that an answer named', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    engine.next((call) => answer(call, { ids: [1, 2], weightVersions: [span('v1', 0, 1), span('v2', 1, 2)] }));
    await pool.generate(turn());
    expect(pool.states()[0]?.weightVersion).toBe('v2');
  });

  it('stops going on after a bound when the engine keeps aborting', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    engine.otherwise = (call) => answer(call, { ids: [2], finish: 'abort' });
    const outcome = await pool.generate(turn());
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'transient', sampledTokens: 17 } });
    expect(outcome.ok ? '' : outcome.failure.message).toContain('aborted the request 17 times');
  });

  it('takes an abort that met the end token for the end', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    engine.next((call) => answer(call, { ids: [2, 50], finish: 'abort' }));
    const outcome = await pool.generate(turn({ sampling: { ...SAMPLING, stopTokenIds: [50] } }));
    expect(outcome).toMatchObject({ ok: true, attempts: 1, result: { finish: { kind: 'stop', matched: 50 } } });
  });

  it('pauses by abort, holds everything, and goes on after resume under the new version', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    engine.next(silent);
    const arrival = engine.arrival();
    const running = pool.generate(turn());
    const call = await arrival;
    const paused = pool.pause('abort');
    await expect.poll(() => engine.aborts).toHaveLength(1);
    answer(call, { ids: [21, 22], finish: 'abort' });
    await paused;
    const waiting = pool.generate(turn({ sessionId: 's2' }));
    await expect.poll(() => pool.states()[0]).toMatchObject({ inFlight: 0, queued: 2 });
    expect(engine.calls).toHaveLength(1);
    expect(pool.work()).toEqual({ calls: 0, waiting: 1, running: [{ weightVersion: null, turns: 1 }] });
    void pool.resume('step-2');
    expect(ids(await running)).toEqual([21, 22, 7, 8, 9]);
    expect(await waiting).toMatchObject({ ok: true, result: { weightVersions: [span('step-2', 0, 3)] } });
  });

  it('pauses by waiting until running samples have ended', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    engine.next(silent);
    const arrival = engine.arrival();
    const running = pool.generate(turn());
    const call = await arrival;
    const paused = pool.pause('wait');
    answer(call, { ids: [21] });
    await paused;
    expect(ids(await running)).toEqual([21]);
    await pool.resume();
  });

  it('sends nothing for a place that was given as the pause began', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    await allUp(pool);
    const sample = pool.generate(turn());
    await pool.pause('wait');
    expect(pool.work()).toEqual({ calls: 0, waiting: 1, running: [] });
    expect(engine.calls).toHaveLength(0);
    await pool.resume();
    expect(await sample).toMatchObject({ ok: true });
  });

  it('times out no call that an engine keeps during a pause, and measures its silence again afterwards', async () => {
    const engine = await startEngine();
    const silenceTimeoutMs = 1_000_000;
    let offsetMs = 0;
    let long: (() => void)[] = [];
    const clock: Clock = {
      ...systemClock,
      now: () => systemClock.now() + offsetMs,
      after: (ms, call) => {
        if (ms < silenceTimeoutMs / 20) return systemClock.after(ms, call);
        long.push(call);
        return () => {
          long = long.filter((other) => other !== call);
        };
      },
    };
    const pass = (ms: number): void => {
      offsetMs += ms;
      for (const call of long.splice(0)) call();
    };
    const pool = openPool([engine], { clock, settings: settingsWith({ backend: { silenceTimeoutMs, retries: 0 } }) });
    engine.next(silent);
    engine.next(silent);
    const arrivals = [engine.arrival(), engine.arrival()];
    const kept = pool.generate(turn());
    const lost = pool.generate(turn({ sessionId: 's2' }));
    const call = await arrivals[0]!;
    await arrivals[1];
    await pool.pause('keep');
    for (let times = 0; times < 3; times++) pass(silenceTimeoutMs * 2);
    expect(pool.work().calls).toBe(2);
    await pool.resume('v2');
    pass(silenceTimeoutMs * 0.9);
    answer(call, { ids: [21] });
    expect(ids(await kept)).toEqual([21]);
    pass(silenceTimeoutMs * 0.2);
    expect(await lost).toMatchObject({ ok: false, failure: { message: expect.stringContaining('sent no byte') } });
  });

  it('gives a sample the weights it was sent with, and says that they changed inside it', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    void pool.resume('v1');
    engine.next(silent);
    const arrival = engine.arrival();
    const running = pool.generate(turn());
    const call = await arrival;
    await pool.pause('keep');
    expect(pool.work()).toEqual({ calls: 1, waiting: 0, running: [{ weightVersion: 'v1', turns: 1 }] });
    void pool.resume('v2');
    answer(call, { ids: [21, 22, 23] });
    expect(await running).toMatchObject({
      ok: true,
      result: { weightVersions: [span('v1', 0, 3)], flags: expect.arrayContaining(['weights_changed']) },
    });
    const next = await pool.generate(turn());
    expect(next).toMatchObject({ ok: true, result: { weightVersions: [span('v2', 0, 3)] } });
    expect(next.ok && next.result.flags).not.toContain('weights_changed');
  });

  it('asks for the new version before it sends again, and a pause that came meanwhile stands', async () => {
    const engine = await startEngine();
    engine.weightVersion = 'w1';
    const pool = openPool([engine]);
    await allUp(pool);
    await pool.pause('wait');
    engine.weightVersion = 'w2';
    const resumed = pool.resume();
    const sample = pool.generate(turn());
    await pool.pause('keep');
    await resumed;
    expect(pool.paused).toBe(true);
    await pool.resume();
    expect(await sample).toMatchObject({ ok: true, result: { weightVersions: [span('w2', 0, 3)] } });
  });

  it('stamps samples with the version that the probe found where answers have none', async () => {
    const engine = await startEngine();
    engine.weightVersion = 'w7';
    const pool = openPool([engine]);
    expect(await pool.generate(turn())).toMatchObject({ ok: true, result: { weightVersions: [span('w7', 0, 3)] } });
  });
});
