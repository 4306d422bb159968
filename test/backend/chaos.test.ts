import { expect, it } from 'vitest';
import { SharedCounters } from '../../src/backend/shared-counters.js';
import { answer, type EngineCallSeen, end, json, type Script, type ScriptedEngine } from '../support/scripted-engine.js';
import { openPool, SAMPLING, settingsWith, startEngine, turn } from './pool-fixture.js';

/** Numbers from 0 to 1 by a seed (mulberry32). */
function randomBy(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const LENGTH = 12;
/** What the model "samples" after a prompt: the numbers that follow its last id, so that any mix-up or gap shows. */
const following = (prompt: readonly number[], count: number): number[] =>
  Array.from({ length: count }, (_, index) => 1 + (((prompt.at(-1) ?? 0) + index) % 900));

const mostTokens = (call: EngineCallSeen): number => (call.body as { sampling_params: { max_tokens: number } }).sampling_params.max_tokens;
const honest: Script = (call) => {
  const most = mostTokens(call);
  answer(call, { ids: following(call.body?.token_ids as number[], most) });
};
const partial =
  (tokens: number): Script =>
  (call) => {
    const most = mostTokens(call);
    answer(call, { ids: following(call.body?.token_ids as number[], Math.min(tokens, most)), finish: 'abort' });
  };
const FAULTS: readonly Script[] = [
  (call) => void call.socket.resetAndDestroy(),
  (call) => void call.response.writeHead(200, { 'content-length': '900' }).write('{"choices"', () => call.socket.destroy()),
  (call) => json(call.response, 500, { error: { message: 'boom' } }),
  (call) => json(call.response, 503, { error: { message: 'busy' } }, { 'retry-after-ms': '5' }),
  (call) => end(call.response, 200, '<html></html>'),
  (call) => answer(call, { ids: [1, 2], logprobs: [-1] }),
  partial(0),
  partial(1),
  partial(5),
];

it.each([1, 2, 3])('gives every turn its own whole sample or a definite end, whatever engines do (seed %i)', async (seed) => {
  const random = randomBy(seed);
  const engines: readonly ScriptedEngine[] = await Promise.all([startEngine(), startEngine(), startEngine()]);
  for (const engine of engines)
    engine.otherwise = async (call) => {
      await new Promise((resolve) => setTimeout(resolve, random() * 4));
      const fault = random() < 0.15 ? FAULTS[Math.floor(random() * FAULTS.length)]! : honest;
      await fault(call);
    };
  const sharedCounters = new SharedArrayBuffer(SharedCounters.bytes(2));
  const settings = settingsWith({ window: { initial: 6, max: 16 }, queue: 1000, backend: { retries: 8 } });
  const pools = [0, 1].map((index) => openPool(engines, { settings, sharedCounters, shard: { index, count: 2 } }));
  const restarts = (async () => {
    for (const engine of engines) {
      await new Promise((resolve) => setTimeout(resolve, 40));
      await engine.stop();
      await new Promise((resolve) => setTimeout(resolve, 40));
      await engine.listen();
    }
  })();
  const pauses = (async () => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    await Promise.all(pools.map((pool) => pool.pause('abort')));
    for (const pool of pools) void pool.resume('v2');
  })();
  let whole = 0;
  let cancelled = 0;
  const turns = Array.from({ length: 240 }, async (_, number) => {
    const prompt = [number, (number * 37) % 900];
    const cancel = number % 12 === 0 ? new AbortController() : null;
    if (cancel !== null) setTimeout(() => cancel.abort(), random() * 80);
    const outcome = await pools[number % 2]!.generate(
      turn({
        sessionId: `s${number % 40}`,
        promptIds: Int32Array.from(prompt),
        sampling: { ...SAMPLING, maxTokens: LENGTH },
        ...(cancel === null ? {} : { signal: cancel.signal }),
      }),
    );
    if (outcome.ok && outcome.result.finish.kind !== 'abort') {
      const { outputIds, logprobs, weightVersions } = outcome.result;
      expect([...outputIds]).toEqual(following(prompt, LENGTH));
      expect([...logprobs]).toEqual([...Float32Array.from(outputIds, (id) => -id / 10)]);
      if (weightVersions.length > 0) expect(weightVersions.at(-1)?.end).toBe(LENGTH);
      whole++;
    } else {
      if (!outcome.ok) expect(outcome.failure.kind).toBe(cancel === null ? 'invalid_answer' : 'cancelled');
      cancelled++;
    }
  });
  await Promise.all([...turns, restarts, pauses]);
  expect(whole + cancelled).toBe(240);
  // At most the cancelled turns, and the few that two lies in a row have met.
  expect(whole).toBeGreaterThan(200);
  for (const pool of pools) for (const state of pool.states()) expect(state).toMatchObject({ inFlight: 0, queued: 0 });
});
