import { describe, expect, it } from 'vitest';
import type { EnginePool } from '../../src/backend/engine-pool.js';
import { answer, end, json, type Script } from '../support/scripted-engine.js';
import { allUp, openPool, settingsWith, startEngine, stateOf, turn } from './pool-fixture.js';

const ANSWER: Script = (call) => answer(call, { ids: [7, 8, 9] });
const reset: Script = (call) => void call.socket.resetAndDestroy();

describe('a replica that is in doubt', () => {
  it('is checked although it has just sampled, so that turns wait for it instead of using up their retries', async () => {
    const engine = await startEngine();
    // Checks of their own accord are a long way off; a probe while it is down is not.
    const pool = openPool([engine], { settings: settingsWith({ backend: { probeIntervalMs: 600_000 } }) });
    expect(await pool.generate(turn())).toMatchObject({ ok: true });
    engine.otherwise = reset;
    engine.healthResets = Number.POSITIVE_INFINITY;
    const held = Array.from({ length: 5 }, (_, n) => pool.generate(turn({ sessionId: `s${n}` })));
    await stateOf(pool, ([state]) => state?.state === 'down');
    engine.otherwise = (call) => json(call.response, 503, { error: { message: 'loading' } });
    const asked = engine.calls.length;
    await expect.poll(() => pool.states()[0]?.queued).toBe(5);
    expect(engine.calls.length).toBe(asked);
    engine.otherwise = ANSWER;
    engine.healthResets = 0;
    for (const outcome of await Promise.all(held)) expect(outcome).toMatchObject({ ok: true });
  });

  it('is not checked again when a sample has come since', async () => {
    const engine = await startEngine();
    const pool = openPool([engine], { settings: settingsWith({ backend: { probeIntervalMs: 600_000 } }) });
    await allUp(pool);
    engine.next((call) => end(call.response, 500, 'boom'));
    expect(await pool.generate(turn())).toMatchObject({ ok: true, attempts: 2 });
    expect(pool.states()[0]?.state).toBe('up');
  });
});

describe('a replica that was given another key', () => {
  it('is out until it takes ours again, and its turns wait', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    expect(await pool.generate(turn())).toMatchObject({ ok: true });
    engine.locked = true;
    const held = pool.generate(turn());
    await stateOf(pool, ([state]) => state?.state === 'down' && /API key/.test(state.problem ?? ''));
    engine.locked = false;
    expect(await held).toMatchObject({ ok: true });
  });

  it('draws no turns from its neighbours', async () => {
    const engines = await Promise.all([startEngine(), startEngine()]);
    const pool = openPool(engines);
    await allUp(pool);
    engines[0]!.locked = true;
    const outcomes = await Promise.all(Array.from({ length: 12 }, (_, n) => pool.generate(turn({ sessionId: `s${n}` }))));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ ok: true, replica: engines[1]!.url });
  });

  it('is told from one that forbids a single call', async () => {
    const engine = await startEngine();
    const pool = openPool([engine]);
    engine.next((call) => json(call.response, 403, { error: { message: 'not this prompt' } }));
    expect(await pool.generate(turn())).toMatchObject({ ok: false, failure: { kind: 'unauthorized' }, attempts: 1 });
    expect(pool.states()[0]?.state).toBe('up');
  });
});

describe('the version of a replica’s weights', () => {
  const versionsOf = async (pool: EnginePool): Promise<unknown> => {
    const outcome = await pool.generate(turn());
    return outcome.ok ? outcome.result.weightVersions.map(({ version }) => version) : outcome.failure;
  };

  it('is the trainer’s name until the engine tells of other weights than before', async () => {
    const engine = await startEngine();
    engine.weightVersion = 'default';
    const pool = openPool([engine]);
    await allUp(pool);
    expect(await versionsOf(pool)).toEqual(['default']);
    await pool.resume('step-1');
    expect(await versionsOf(pool)).toEqual(['step-1']);
    await pool.pause('wait');
    await pool.resume();
    expect(await versionsOf(pool)).toEqual(['step-1']);
    await pool.pause('wait');
    engine.weightVersion = 'step-2';
    await pool.resume();
    expect(pool.states()[0]?.weightVersion).toBe('step-2');
    expect(await versionsOf(pool)).toEqual(['step-2']);
  });

  it('is the trainer’s name where the engine has its own word for the same weights', async () => {
    const engine = await startEngine();
    engine.weightVersion = 'v1';
    const pool = openPool([engine]);
    await allUp(pool);
    await pool.pause('wait');
    engine.weightVersion = 'v2';
    await pool.resume('step-2');
    await pool.resume();
    expect(await versionsOf(pool)).toEqual(['step-2']);
  });

  it('is the engine’s again after a restart with the first weights', async () => {
    const engine = await startEngine();
    engine.weightVersion = 'step-1';
    const pool = openPool([engine]);
    await pool.resume('step-1');
    await pool.resume();
    expect(await versionsOf(pool)).toEqual(['step-1']);
    await engine.stop();
    await stateOf(pool, ([state]) => state?.state === 'down');
    engine.weightVersion = 'default';
    await engine.listen();
    expect(await versionsOf(pool)).toEqual(['default']);
  });

  it.each(['wait', 'keep', 'abort'] as const)(
    'is told of the weights of before a pause (%s), not of those that come in it',
    async (mode) => {
      const engine = await startEngine();
      engine.weightVersion = 'default';
      const pool = openPool([engine]);
      await allUp(pool);
      let tell = (): void => {};
      const asked = new Promise<void>((isAsked) => {
        engine.beforeWeightInfo = () => {
          isAsked();
          return new Promise((resolve) => {
            tell = resolve;
          });
        };
      });
      await pool.resume('step-1');
      await asked;
      const pausing = pool.pause(mode).then(() => {
        engine.weightVersion = 'step-2';
      });
      setTimeout(() => {
        engine.beforeWeightInfo = async () => {};
        tell();
      }, 20);
      await pausing;
      await pool.resume();
      expect(await versionsOf(pool)).toEqual(['step-2']);
    },
  );

  it('is the trainer’s name for a replica that comes later', async () => {
    const [first, second] = await Promise.all([startEngine(), startEngine()]);
    second!.weightVersion = 'default';
    const pool = openPool([first!]);
    await pool.resume('step-1');
    pool.addReplica(second!.url);
    await allUp(pool);
    expect(pool.states().map(({ weightVersion }) => weightVersion)).toEqual(['step-1', 'step-1']);
  });
});
