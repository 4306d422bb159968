import { expect, it } from 'vitest';
import { SharedCounters } from '../../src/backend/shared-counters.js';
import { answer } from '../support/scripted-engine.js';
import { allUp, openPool, settingsWith, startEngine, turn } from './pool-fixture.js';

it('keeps one window over all shards and lets no shard starve another', async () => {
  const engine = await startEngine();
  let most = 0;
  let now = 0;
  engine.otherwise = async (call) => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setTimeout(resolve, 2));
    now--;
    answer(call, { ids: [1] });
  };
  const sharedCounters = new SharedArrayBuffer(SharedCounters.bytes(2));
  const settings = settingsWith({ window: { initial: 4, max: 4 } });
  const pools = [0, 1].map((index) => openPool([engine], { sharedCounters, settings, shard: { index, count: 2 } }));
  await Promise.all(pools.map(allUp));
  const done: number[] = [];
  const turns = pools.flatMap((pool, index) =>
    Array.from({ length: index === 0 ? 60 : 12 }, (_, number) =>
      pool.generate(turn({ sessionId: `${index}-${number}` })).then((outcome) => {
        expect(outcome.ok).toBe(true);
        done.push(index);
      }),
    ),
  );
  await Promise.all(turns);
  expect(most).toBeLessThanOrEqual(4);
  // The small shard had its share: it was done well before the large one.
  expect(done.lastIndexOf(1)).toBeLessThan(done.lastIndexOf(0) - 12);
});
