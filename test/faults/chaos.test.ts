import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { SimEngine } from '../../src/sim/engine-server.js';
import { ALL_FAULTS, type FaultKind, type FaultRule } from '../../src/sim/faults.js';
import { randomPolicy } from '../../src/sim/policy.js';
import { startFlow, startSim, until } from '../support/flow.js';
import { countEnds, expectQuiet, runFleet } from './fleet.js';
import { ENGINES, HASTY, randomBy, report, SEEDS, SESSIONS, TURNS } from './options.js';
import { closeSockets } from './sdk-call.js';

/** Whole processes die in a part of their own. */
const APART: readonly FaultKind[] = ['die', 'context_overflow'];
const share = Number(process.env.FAULT_SHARE ?? 0.15);
const RULES: readonly FaultRule[] = ALL_FAULTS.filter((kind) => !APART.includes(kind)).map((kind) => ({
  kind,
  rate: share / ALL_FAULTS.length,
  ...(['slow', 'trickle', 'stall'].includes(kind) ? { ms: 60 } : {}),
}));
const LATENCY = { prefillTokensPerS: 1e6, decodeStepMs: 2, decodeStepPerSequenceMs: 0, prefillChunkTokens: 8192 };
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

afterAll(closeSockets);

describe.each(SEEDS.flatMap((seed) => ENGINES.map((engine) => ({ seed, engine }) as const)))('seed $seed, $engine', ({ seed, engine }) => {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  test('the books balance while clients leave, trainers finish and delete, replicas die, come and go, and weights change', async () => {
    const options = { engine, seed, policy: randomPolicy(12), latency: LATENCY, faults: RULES };
    const flow = await startFlow({ sim: options, settings: HASTY });
    cleanups.push(() => flow.close());
    const second: SimEngine = await startSim({ ...options, seed: seed + 1 });
    cleanups.push(() => second.close());
    const order = async (method: string, path: string, body?: object): Promise<void> => {
      const response = await fetch(`${flow.url}/engines${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
      expect(response.ok, await response.text()).toBe(true);
    };
    const random = randomBy(seed);
    const deaths: { readonly sim: SimEngine; readonly serial: number }[] = [];
    const die = async (sim: SimEngine): Promise<void> => {
      const died = sim.die(60);
      deaths.push({ sim, serial: sim.ledger().at(-1)?.serial ?? 0 });
      await died;
    };
    let version = 0;
    const steps = [
      () => die(flow.sim),
      async () => {
        await order('POST', '/pause', { mode: (['abort', 'wait', 'keep'] as const)[version % 3], wait_ms: 2000 });
        version++;
        for (const sim of [flow.sim, second]) sim.core.setWeightVersion(`v${version}`);
        await order('POST', '/resume', { weight_version: `v${version}` });
      },
      () => die(second),
      async () => {
        await order('DELETE', `?url=${second.url}&wait_ms=500`);
        await sleep(20);
        await order('POST', '', { url: second.url });
      },
    ];
    await order('POST', '', { url: second.url });
    const { ends, balance, discarded, unheard } = await runFleet(flow, [flow.sim, second], {
      name: 'chaos',
      seed,
      sessions: SESSIONS * 3,
      turns: TURNS * 2,
      leaves: 0.15,
      leaveMs: 80,
      finishes: 0.1,
      deletes: 0.05,
      trainerMs: 600,
      deaths,
      meanwhile: async (ended) => {
        for (let step = 0; !ended.aborted; step++) {
          await sleep(40 + random() * 120);
          await steps[step % steps.length]!();
        }
      },
    });
    report({
      engine,
      seed,
      chaos: true,
      versions: version,
      ...countEnds(ends),
      ...balance,
      unused: balance.unused.length,
      discarded,
      unheard,
    });
    await until(() => flow.gateway.readiness.ready, 'an engine is found again');
    await expectQuiet(flow);
  });
});
