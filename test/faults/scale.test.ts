import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { ALL_FAULTS, type FaultKind } from '../../src/sim/faults.js';
import { randomPolicy } from '../../src/sim/policy.js';
import { startSim, until } from '../support/flow.js';
import { countEnds, expectQuiet, gauge, runFleet } from './fleet.js';
import { ROUNDS, report, SCALE, SCALE_TURNS, SEEDS } from './options.js';
import { closeSockets } from './sdk-call.js';
import { serve } from './served.js';

const APART: readonly FaultKind[] = ['die', 'context_overflow'];
const KINDS = ALL_FAULTS.filter((kind) => !APART.includes(kind));
/** Steps as on a large GPU, so that calls overlap. */
const LATENCY = { prefillTokensPerS: 40_000, decodeStepMs: 9, decodeStepPerSequenceMs: 0.064, prefillChunkTokens: 4096 };

afterAll(closeSockets);

describe.each(SEEDS)('seed %i', (seed) => {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  test(`${SCALE} sessions at once with 2 % faults, again and again: nothing lost, nothing left`, async () => {
    const faults = KINDS.map((kind) => ({
      kind,
      rate: 0.02 / KINDS.length,
      ...(['slow', 'trickle', 'stall'].includes(kind) ? { ms: 60 } : {}),
    }));
    const sim = await startSim({
      seed,
      policy: randomPolicy(8),
      latency: LATENCY,
      window: 256,
      faults,
      ledgerLimit: 1_000_000,
    });
    cleanups.push(() => sim.close());
    const flow = await serve(sim.url, ['--shards', '2', '--backend-probe-down-ms', '50', '--backend-retries', '4']);
    cleanups.push(() => flow.close());
    for (let round = 0; round < ROUNDS; round++) {
      await flow.health();
      const startedMs = performance.now();
      const { ends, balance, discarded, unheard } = await runFleet(flow, [sim], {
        name: `round-${round}`,
        seed: seed + round,
        sessions: SCALE,
        turns: SCALE_TURNS,
        leaves: 0.01,
        leaveMs: 200,
      });
      const seconds = (performance.now() - startedMs) / 1000;
      expect(ends.filter(({ state }) => state !== 'done')).toEqual([]);
      const healthMs = [...(await flow.health())].sort((a, b) => a - b);
      report({
        seed,
        round,
        sessions: SCALE,
        turns: SCALE * SCALE_TURNS,
        seconds: Math.round(seconds),
        healthP50Ms: Math.round(healthMs[Math.floor(healthMs.length / 2)] ?? 0),
        healthP99Ms: Math.round(healthMs[Math.floor(healthMs.length * 0.99)] ?? 0),
        shardHeapMb: Math.round((await gauge(flow, 'heap_used_bytes')) / 2 ** 20),
        residentMb: Math.round(await flow.residentMb()),
        healthMaxMs: Math.round(healthMs.at(-1) ?? 0),
        ...countEnds(ends),
        ...balance,
        unused: balance.unused.length,
        discarded,
        unheard,
      });
      sim.core.ledger.clear();
      await until(async () => (await fetch(`${flow.url}/readyz`)).status === 200, 'the engine is found again');
      await expectQuiet(flow);
    }
  });
});
