/** Something is killed in mid run: a replica, the engine, clients, a shard, the trainer's connection. At the end stands a table of all tokens. */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { TraceRecord } from '../../src/canonical/trace.js';
import type { SimEngine } from '../../src/sim/engine-server.js';
import type { LedgerEntry } from '../../src/sim/ledger.js';
import { randomPolicy } from '../../src/sim/policy.js';
import { type Flow, startFlow, startSim, until } from '../support/flow.js';
import { type AgentEnd, type AgentPlan, runAgent } from './agent.js';
import { balance } from './books.js';
import { countEnds, expectQuiet, type FleetPlan, gauge, runFleet } from './fleet.js';
import { ENGINES, HASTY, randomBy, report, SEEDS, SESSIONS, TURNS } from './options.js';
import { closeSockets, sdkCall } from './sdk-call.js';
import { fateOf, type TokenFate, tokenTable, totalOf, unexplained } from './token-table.js';
import { ClumsyTrainer } from './trainer-connection.js';

const LATENCY = { prefillTokensPerS: 1e6, decodeStepMs: 3, decodeStepPerSequenceMs: 0, prefillChunkTokens: 8192 };
const AGENTS = SESSIONS * 3;
const table: TokenFate[] = [];
const told = (ends: readonly AgentEnd[]): string => {
  const { done, refused, gave_up } = countEnds(ends);
  return `${done} done, ${refused} refused, ${gave_up} left`;
};

afterAll(() => {
  closeSockets();
  process.stdout.write(`${tokenTable(table)}\n`);
});

describe.each(SEEDS.flatMap((seed) => ENGINES.map((engine) => ({ seed, engine }) as const)))('seed $seed, $engine', ({ seed, engine }) => {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  const sim = { engine, seed, policy: randomPolicy(16), latency: LATENCY };
  const start = async (settings: object = {}): Promise<Flow> => {
    const flow = await startFlow({ sim, settings: { ...HASTY, ...settings } });
    cleanups.push(() => flow.close());
    return flow;
  };
  /** Half of the first turns are sampled, and more are on their way. */
  const inMidRun = (...sims: readonly SimEngine[]): Promise<void> =>
    until(
      () => sims.reduce((sum, { ledger }) => sum + ledger().length, 0) > AGENTS && sims.some(({ core }) => core.scheduler.running > 1),
      'the run is under way',
    );
  const run = async (killed: string, flow: Flow, sims: readonly SimEngine[], plan: Partial<FleetPlan>): Promise<readonly AgentEnd[]> => {
    const { ends, balance, discarded, unheard } = await runFleet(flow, sims, {
      name: killed.replaceAll(' ', '-'),
      seed,
      sessions: AGENTS,
      turns: TURNS * 2,
      ...plan,
    });
    note(fateOf(`${killed} (${engine}, seed ${seed})`, balance, { discarded, unheard, agents: told(ends) }));
    return ends;
  };
  const note = (fate: TokenFate): void => {
    table.push(fate);
    report(fate);
    expect([fate.killed, unexplained(fate)]).toEqual([fate.killed, 0]);
    expect(fate.trained).toBeGreaterThan(0);
  };

  test('a replica: its turns go on at the other, nobody notices', async () => {
    const flow = await start();
    const second = await startSim({ ...sim, seed: seed + 1 });
    cleanups.push(() => second.close());
    await flow.gateway.engines.add(second.url);
    await until(async () => (await flow.gateway.engines.state()).replicas.every(({ state }) => state === 'up'), 'both are up');
    const deaths: { readonly sim: SimEngine; readonly serial: number }[] = [];
    const meanwhile = async (): Promise<void> => {
      await inMidRun(flow.sim, second);
      await second.die(0);
      deaths.push({ sim: second, serial: second.ledger().at(-1)?.serial ?? 0 });
    };
    const ends = await run('a replica', flow, [flow.sim, second], { deaths, meanwhile });
    expect(ends.filter(({ state }) => state !== 'done')).toEqual([]);
    await expectQuiet(flow);
  });

  test('the engine: turns wait until it is back, nobody notices', async () => {
    const flow = await start();
    const deaths: { readonly sim: SimEngine; readonly serial: number }[] = [];
    const meanwhile = async (): Promise<void> => {
      await inMidRun(flow.sim);
      await flow.sim.die(700);
      deaths.push({ sim: flow.sim, serial: flow.sim.ledger().at(-1)?.serial ?? 0 });
    };
    const ends = await run('the engine', flow, [flow.sim], { deaths, meanwhile });
    expect(ends.filter(({ state }) => state !== 'done')).toEqual([]);
    await until(() => flow.gateway.readiness.ready, 'it is found again');
    await expectQuiet(flow);
  });

  test('clients: the engine is freed, what they had is trained', async () => {
    const flow = await start();
    /** Every second agent is killed in its third turn. */
    const lead = async (plan: AgentPlan): Promise<AgentEnd> => {
      if (plan.random() < 0.5) return runAgent(plan);
      const begun = await runAgent({ ...plan, turns: 2 });
      const killed = new AbortController();
      const body = { model: 'm', max_tokens: 40, messages: [{ role: 'user', content: `${plan.key} begins anew` }] };
      setTimeout(() => killed.abort(), plan.random() * 40);
      const call = { url: plan.url, path: '/v1/messages', key: plan.key, body, stream: plan.random() < 0.5 } as const;
      const last = await sdkCall({ ...call, retries: 0, mark: 0, signal: killed.signal });
      return { ...begun, state: last.kind === 'left' ? 'gave_up' : 'done', last };
    };
    const ends = await run('clients', flow, [flow.sim], { lead });
    expect(countEnds(ends)).toMatchObject({ refused: 0, gave_up: expect.any(Number) });
    expect(countEnds(ends).gave_up).toBeGreaterThan(0);
    await expectQuiet(flow);
  });

  test('a shard: its sessions are told as lost, the others lose nothing', async () => {
    const flow = await start({ test: { faults: true } });
    const plans = Array.from({ length: AGENTS }, (_, number) => agentPlan(flow, `shard-${seed}-${number}`, seed * 31 + number));
    const runs = plans.map(runAgent);
    await inMidRun(flow.sim);
    flow.gateway.crashShard(0, 'exit');
    const ends = await Promise.all(runs);
    await flow.gateway.ready(20_000);
    await until(() => flow.sim.core.scheduler.running === 0, 'the engine is free');
    const { sessions } = flow.gateway;
    const failed = (await sessions.lease({ max: 10_000 })).sessions.flatMap((session) => (session.failed ? [session] : []));
    const lost = new Set(failed.map(({ session_id }) => session_id));
    expect(lost.size).toBeGreaterThan(0);
    for (const { key, state, turns, last } of ends) {
      const isEarly = turns === TURNS * 2;
      // A call that no shard had begun may be tried again, for longer than an agent here has patience.
      if (!lost.has(key) && turns === 0 && last.kind === 'refused') expect([key, last.status]).toEqual([key, 503]);
      else expect([key, state]).toEqual([key, lost.has(key) && !isEarly ? 'refused' : 'done']);
      if (!lost.has(key)) continue;
      if (!isEarly) expect(last).toMatchObject({ kind: 'refused', status: 403 });
      // The crash may come between a reply's last byte and its record.
      const known = failed.find(({ session_id }) => session_id === key)!.failed!.turns;
      expect(known === turns || known === turns - 1, `${key}: ${known} of ${turns} turns are known`).toBe(true);
    }
    const rows: TraceRecord[] = [];
    const discarded: Record<string, number> = {};
    for (const { key } of ends.filter((end) => !lost.has(end.key) && end.turns > 0)) {
      const { traces, summary } = await sessions.finish(key, { ack: true });
      expect([key, summary.capture_error, summary.capture_yield]).toEqual([key, null, 1]);
      rows.push(...traces);
      for (const [reason, tokens] of Object.entries(summary.tokens.discarded)) discarded[reason] = (discarded[reason] ?? 0) + tokens;
    }
    const { vocabulary } = flow.sim.core.options;
    const isLost = ({ promptIds }: LedgerEntry): boolean => lost.has(/shard-\d+-\d+/.exec(vocabulary.decode(promptIds))?.[0] ?? '');
    const books = balance(
      flow.sim.ledger().filter((entry) => !isLost(entry)),
      rows,
    );
    const gone = flow.sim.ledger().filter(isLost);
    const tokens = gone.reduce((sum, { outputIds }) => sum + outputIds.length, 0);
    const known = failed.reduce((sum, session) => sum + session.failed!.tokens.committed, 0);
    expect(known).toBeLessThanOrEqual(tokens);
    const fate = fateOf(`a shard (${engine}, seed ${seed})`, books, { discarded, unheard: 0, agents: told(ends) });
    note({ ...fate, killed: `${fate.killed}; ${known} of the lost were known`, sampled: books.sampled + tokens, lost: tokens });
  });

  test('the trainer’s connection: rows come again until they are acknowledged, none is missing', async () => {
    const flow = await start({ traces: { leaseMs: 300 } });
    const clumsy = new ClumsyTrainer(flow.url, randomBy(seed));
    const trainer = clumsy.work();
    const ends = await Promise.all(
      Array.from({ length: AGENTS }, async (_, number) => {
        const end = await runAgent(agentPlan(flow, `trainer-${seed}-${number}`, seed * 37 + number));
        await fetch(`${flow.url}/sessions/${end.key}/finish`, { method: 'POST', body: '{}' });
        return end;
      }),
    );
    await until(() => clumsy.kept.size === AGENTS, 'the trainer has all sessions', 120_000);
    clumsy.stop();
    await trainer;
    expect(ends.filter(({ state }) => state !== 'done')).toEqual([]);
    expect(clumsy.killed).toBeGreaterThan(0);
    const sessions = [...clumsy.kept.values()];
    const books = balance(
      flow.sim.ledger(),
      sessions.flatMap(({ traces }) => [...traces]),
    );
    const discarded: Record<string, number> = {};
    for (const { summary } of sessions)
      for (const [reason, tokens] of Object.entries(summary.tokens.discarded)) discarded[reason] = (discarded[reason] ?? 0) + tokens;
    expect(totalOf(discarded)).toBe(books.discarded);
    const killed = `the trainer’s connection, ${clumsy.killed} times (${engine}, seed ${seed}); ${clumsy.again} sessions came again`;
    note(fateOf(killed, books, { discarded, unheard: 0, agents: told(ends) }));
    await until(async () => {
      const { lease_id } = await flow.gateway.sessions.lease({ max: 1000 });
      if (lease_id !== null) await flow.gateway.sessions.ack({ leaseId: lease_id });
      return (await gauge(flow, 'sessions')) === 0;
    }, 'all is acknowledged');
    await expectQuiet(flow);
  });
});

const agentPlan = (flow: Flow, key: string, number: number): AgentPlan => ({
  url: flow.url,
  key,
  turns: TURNS * 2,
  random: randomBy(number),
  leaves: 0,
  leaveMs: 0,
});
