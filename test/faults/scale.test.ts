import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { ALL_FAULTS, type FaultKind } from '../../src/sim/faults.js';
import { randomPolicy } from '../../src/sim/policy.js';
import { startFlow, until } from '../support/flow.js';
import { countEnds, expectQuiet, gauge, runFleet } from './fleet.js';
import { HASTY, report, SCALE, SCALE_TURNS, SEEDS } from './options.js';
import { closeSockets } from './sdk-call.js';

const APART: readonly FaultKind[] = ['die', 'context_overflow'];
const KINDS = ALL_FAULTS.filter((kind) => !APART.includes(kind));
const ROUNDS = 3;
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
    const flow = await startFlow({
      sim: { seed, policy: randomPolicy(8), latency: LATENCY, window: 256, faults, ledgerLimit: 1_000_000 },
      settings: { ...HASTY, backend: { ...HASTY.backend, silenceTimeoutMs: 120_000 } },
    });
    cleanups.push(() => flow.close());
    for (let round = 0; round < ROUNDS; round++) {
      const healthMs: number[] = [];
      const startedMs = performance.now();
      const { ends, balance, discarded, unheard } = await runFleet(flow, [flow.sim], {
        name: `round-${round}`,
        seed: seed + round,
        sessions: SCALE,
        turns: SCALE_TURNS,
        leaves: 0.01,
        leaveMs: 200,
        meanwhile: async (ended) => {
          while (!ended.aborted) {
            const askedMs = performance.now();
            expect((await fetch(`${flow.url}/healthz`)).status).toBe(200);
            healthMs.push(performance.now() - askedMs);
            await sleep(50);
          }
        },
      });
      const seconds = (performance.now() - startedMs) / 1000;
      expect(ends.filter(({ state }) => state !== 'done')).toEqual([]);
      healthMs.sort((a, b) => a - b);
      globalThis.gc?.();
      report({
        seed,
        round,
        sessions: SCALE,
        turns: SCALE * SCALE_TURNS,
        seconds: Math.round(seconds),
        healthP50Ms: Math.round(healthMs[Math.floor(healthMs.length / 2)] ?? 0),
        healthP99Ms: Math.round(healthMs[Math.floor(healthMs.length * 0.99)] ?? 0),
        shardHeapMb: Math.round((await gauge(flow, 'heap_used_bytes')) / 2 ** 20),
        residentMb: Math.round(process.memoryUsage.rss() / 2 ** 20),
        ...countEnds(ends),
        ...balance,
        unused: balance.unused.length,
        discarded,
        unheard,
      });
      flow.sim.core.ledger.clear();
      await until(() => flow.gateway.readiness.ready, 'the engine is found again');
      await expectQuiet(flow);
    }
  });
});
