import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FaultKind, type FaultRule, faultGroup } from '../../src/sim/faults.js';
import { randomPolicy } from '../../src/sim/policy.js';
import { type Flow, startFlow, until } from '../support/flow.js';
import { countEnds, expectQuiet, runFleet } from './fleet.js';
import { ENGINES, HASTY, KINDS, report, SEEDS, SESSIONS, TURNS } from './options.js';
import { closeSockets } from './sdk-call.js';

const ruleOf = (kind: FaultKind): FaultRule => {
  const base = { kind, rate: 0.25 };
  switch (kind) {
    case 'die':
      return { ...base, rate: 0.04, ms: 100 };
    case 'stall':
      return { ...base, rate: 0.1, ms: 200 };
    case 'slow':
    case 'trickle':
      return { ...base, ms: 60 };
    case 'http_429':
    case 'http_503':
      return { ...base, retryAfterS: 0 };
    default:
      return base;
  }
};

/** What engines say that no retry mends. */
const FINAL: readonly FaultKind[] = ['context_overflow', 'bad_request'];

afterAll(closeSockets);

describe.each(SEEDS.flatMap((seed) => ENGINES.map((engine) => ({ seed, engine }) as const)))('seed $seed, $engine', ({ seed, engine }) => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlow({ sim: { engine, seed, policy: randomPolicy(8) }, settings: HASTY });
  });
  afterAll(() => flow.close());

  test.each(KINDS)('the books balance under %s', async (kind) => {
    flow.sim.setFaults([ruleOf(kind)]);
    const { ends, balance, discarded, unheard } = await runFleet(flow, [flow.sim], {
      name: `${engine}-${kind}`,
      seed,
      sessions: SESSIONS,
      turns: TURNS,
      ...(kind === 'die' ? { deaths: 'unknown' as const } : {}),
    });
    flow.sim.setFaults([]);
    report({
      engine,
      seed,
      kind,
      group: faultGroup(kind),
      ...countEnds(ends),
      ...balance,
      unused: balance.unused.length,
      discarded,
      unheard,
    });
    if (!FINAL.includes(kind)) expect(ends.filter(({ state }) => state !== 'done')).toEqual([]);
    await until(() => flow.gateway.readiness.ready, 'the engine is found again');
    await expectQuiet(flow);
  });
});
