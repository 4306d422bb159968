import { describe, expect, onTestFailed, test } from 'vitest';
import type { TraceRecord } from '../../src/gateway.js';
import { until } from '../support/flow.js';
import { expectRowsHoldAnswers, sampledOf } from '../support/live-books.js';
import { type LiveEngine, otherWeightsDir } from '../support/live-engine.js';
import { type LiveSuite, sampledSince, tell, untilIdle } from '../support/live-flow.js';

/** What a trainer asks of the engine itself, by its own routes. */
interface WeightRoutes {
  /** Freezes running calls with their tokens. */
  freeze(): Promise<void>;
  /** Ends running calls with the tokens that they have; new ones wait. */
  cut(): Promise<void>;
  load(directory: string, version: string): Promise<void>;
  goOn(): Promise<void>;
}

/** Pauses by the trainer and by the engine, and weights that change under sessions and turns. */
export function pauseTests(live: LiveSuite): void {
  const { name } = live;
  const load = () => live.engine.load();

  /** Turns of exactly so many tokens, begun at once; resolves when the engine samples all of them and has tokens of each. */
  async function begin(keys: readonly string[], tokens: number): Promise<{ readonly replies: Promise<number[]> }> {
    const replies = Promise.all(keys.map(async (key) => (await live.flow.chat(key, `${key}, talk.`, tokens)).status));
    await until(async () => (await load()).running === keys.length, 'all turns are sampled');
    await new Promise((done) => setTimeout(done, 300));
    return { replies };
  }
  async function finish(keys: readonly string[]): Promise<TraceRecord[]> {
    const rows: TraceRecord[] = [];
    for (const key of keys) {
      const { traces, summary } = await live.flow.gateway.sessions.finish(key);
      expect(summary).toMatchObject({ capture_yield: 1, capture_error: null });
      rows.push(...traces);
    }
    return rows;
  }
  const answersSince = (before: number) => sampledSince(live.flow, before).map((exchange) => sampledOf(name, exchange));
  const keysOf = (what: string): string[] => [0, 1, 2].map((n) => `${what}-${n}`);
  const versionsOf = (row: TraceRecord): string[][] => row.turns.map((turn) => turn.weight_versions.map(({ version }) => version));

  // A test that failed in mid pause must not hold up the others.
  const goOnAfterFailure = (): void => {
    onTestFailed(async () => {
      await weightRoutes(live.engine).goOn();
      await live.flow.order('/resume', {});
    });
  };

  describe('pause by the trainer', () => {
    test('mode wait lets the running turns end and holds new ones', async () => {
      goOnAfterFailure();
      const before = live.flow.proxy.exchanges.length;
      const keys = keysOf('wait');
      const { replies } = await begin(keys, 80);
      expect(await live.flow.order('/pause', { mode: 'wait' })).toMatchObject({ paused: 'wait', calls: 0, running_turns: [] });
      expect(await replies).toEqual([200, 200, 200]);
      const late = live.flow.chat('wait-late', 'And I?', 20);
      await until(async () => (await live.flow.order('')).waiting_turns === 1, 'the new turn waits');
      await untilIdle(live.engine);
      await live.flow.order('/resume', {});
      expect((await late).status).toBe(200);
      const answers = answersSince(before);
      expect(answers.map(({ finish: reason }) => reason)).toEqual(['length', 'length', 'length', 'length']);
      expect(expectRowsHoldAnswers(await finish([...keys, 'wait-late']), answers)).toBe(260);
    });

    test('mode abort stops the running turns, which are resubmitted with the tokens they have', async () => {
      goOnAfterFailure();
      const before = live.flow.proxy.exchanges.length;
      const keys = keysOf('abort');
      const { replies } = await begin(keys, 120);
      const startMs = performance.now();
      const paused = await live.flow.order('/pause', { mode: 'abort' });
      const ms = Math.round(performance.now() - startMs);
      expect(paused).toMatchObject({ paused: 'abort', calls: 0, running_turns: [{ turns: 3 }] });
      await untilIdle(live.engine);
      const parts = answersSince(before);
      expect(parts.map(({ finish: reason }) => reason)).toEqual(['abort', 'abort', 'abort']);
      for (const { ids } of parts) expect(ids.length).toBeGreaterThan(0);
      await live.flow.order('/resume', {});
      expect(await replies).toEqual([200, 200, 200]);
      const rows = await finish(keys);
      expect(expectRowsHoldAnswers(rows, answersSince(before))).toBe(360);
      for (const row of rows) expect(row.quality.flags).toContain('resubmitted');
      tell(name, `pause abort: quiet after ${ms} ms, resubmitted from ${parts.map(({ ids }) => ids.length).join(', ')} of 120 tokens`);
    });

    test('mode keep leaves the running turns in the engine and holds new ones', async () => {
      goOnAfterFailure();
      const before = live.flow.proxy.exchanges.length;
      const keys = keysOf('keep');
      const { replies } = await begin(keys, 120);
      expect(await live.flow.order('/pause', { mode: 'keep' })).toMatchObject({ paused: 'keep', calls: 3, running_turns: [{ turns: 3 }] });
      const late = live.flow.chat('keep-late', 'And I?', 20);
      await until(async () => (await live.flow.order('')).waiting_turns === 1, 'the new turn waits');
      expect(await replies).toEqual([200, 200, 200]);
      await untilIdle(live.engine);
      await live.flow.order('/resume', {});
      expect((await late).status).toBe(200);
      expect(expectRowsHoldAnswers(await finish([...keys, 'keep-late']), answersSince(before))).toBe(380);
    });
  });

  test('pause by the engine: turns that it aborts unasked go on from their tokens', async () => {
    goOnAfterFailure();
    const before = live.flow.proxy.exchanges.length;
    const engine = weightRoutes(live.engine);
    const keys = keysOf('unasked');
    const { replies } = await begin(keys, 120);
    await engine.cut();
    await until(() => answersSince(before).length === 3, 'the engine has answered what it had');
    await engine.goOn();
    expect(await replies).toEqual([200, 200, 200]);
    const answers = answersSince(before);
    expect(answers.map(({ finish: reason }) => reason)).toEqual(['abort', 'abort', 'abort', 'length', 'length', 'length']);
    live.recordings.keep('cut by a pause of the engine', sampledSince(live.flow, before)[0]);
    live.recordings.keep('gone on from the tokens of before', sampledSince(live.flow, before)[3]);
    expect(expectRowsHoldAnswers(await finish(keys), answers)).toBe(360);
  });

  test('reload of weights under frozen turns: two versions in one turn, the new one in the next', async () => {
    goOnAfterFailure();
    const before = live.flow.proxy.exchanges.length;
    const engine = weightRoutes(live.engine);
    const keys = keysOf('reload-keep');
    const { replies } = await begin(keys, 120);
    const [old] = (await live.flow.order('')).engines;
    await live.flow.order('/pause', { mode: 'keep' });
    await engine.freeze();
    await engine.load(await otherWeightsDir(), 'step-1');
    expect((await live.flow.order('')).running_turns).toEqual([{ weight_version: old!.weight_version, turns: 3 }]);
    await engine.goOn();
    await live.flow.order('/resume', { weight_version: 'step-1' });
    expect(await replies).toEqual([200, 200, 200]);
    live.recordings.keep('weights changed under a frozen call', sampledSince(live.flow, before)[0]);
    for (const key of keys) expect((await live.flow.chat(key, `${key}, again.`, 10)).status).toBe(200);
    expect(await live.flow.order('')).toMatchObject({ engines: [{ weight_version: 'step-1' }], running_turns: [] });
    const rows = await finish(keys);
    expect(expectRowsHoldAnswers(rows, answersSince(before))).toBe(390);
    const versions = keys.map((key) => rows.filter((row) => row.session_id === key).flatMap(versionsOf));
    expect(versions).toEqual(keys.map(() => [[old!.weight_version, 'step-1'], ['step-1']]));
    tell(name, `reload under keep: spans ${JSON.stringify(rows[0]!.turns[0]!.weight_versions)}`);
  });

  test('reload of weights between abort and resubmission: each part has its own version', async () => {
    goOnAfterFailure();
    const before = live.flow.proxy.exchanges.length;
    const engine = weightRoutes(live.engine);
    const [old] = (await live.flow.order('')).engines;
    const keys = keysOf('reload-abort');
    const { replies } = await begin(keys, 120);
    await live.flow.order('/pause', { mode: 'abort' });
    await engine.load(live.engine.modelDir, 'step-2');
    // Without a name from the trainer the gateway asks the engine for it.
    const resumed = await live.flow.order('/resume', {});
    expect(resumed.engines).toMatchObject([{ state: 'up', weight_version: 'step-2' }]);
    expect(await replies).toEqual([200, 200, 200]);
    const rows = await finish(keys);
    expect(expectRowsHoldAnswers(rows, answersSince(before))).toBe(360);
    expect(rows.flatMap(versionsOf)).toEqual(keys.map(() => [old!.weight_version, 'step-2']));
    tell(name, `reload between abort and resubmission: spans ${JSON.stringify(rows[0]!.turns[0]!.weight_versions)}`);
  });
}

function weightRoutes(engine: LiveEngine): WeightRoutes {
  const ask = async (path: string, body?: object): Promise<void> => {
    const response = await engine.control(path, body);
    const text = await response.text();
    expect(response.status, `${path}: ${text}`).toBe(200);
    if (text.startsWith('{')) expect(JSON.parse(text), path).not.toMatchObject({ success: false });
  };
  if (engine.name === 'vllm')
    return {
      freeze: () => ask('/pause?mode=keep'),
      cut: () => ask('/pause?mode=abort'),
      load: async (directory, version) => {
        await ask('/collective_rpc', { method: 'reload_weights', kwargs: { weights_path: directory }, timeout: 60 });
        await ask('/update_weight_version', { new_version: version });
      },
      goOn: () => ask('/resume'),
    };
  return {
    freeze: () => ask('/pause_generation', { mode: 'in_place' }),
    cut: () => ask('/pause_generation', { mode: 'abort' }),
    load: (directory, version) =>
      ask('/update_weights_from_disk', { model_path: directory, weight_version: version, flush_cache: false, keep_pause: true }),
    goOn: () => ask('/continue_generation', {}),
  };
}
