/** Several trainers at once, with dying connections, beside finishes, deletions, expiry and pauses: each session's rows arrive, and are one. */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { randomPolicy } from '../../src/sim/policy.js';
import type { FinishedSession } from '../../src/trainer/trace-encoding.js';
import { type Flow, startFlow, until } from '../support/flow.js';
import { type AgentEnd, runAgent } from './agent.js';
import { balance } from './books.js';
import { expectQuiet, gauge } from './fleet.js';
import { HASTY, randomBy, report, SEEDS, SESSIONS, TURNS } from './options.js';
import { closeSockets } from './sdk-call.js';
import { ClumsyTrainer } from './trainer-connection.js';

const LATENCY = { prefillTokensPerS: 1e6, decodeStepMs: 3, decodeStepPerSequenceMs: 0, prefillChunkTokens: 8192 };
const AGENTS = SESSIONS * 6;
const TRAINERS = 4;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** How a session ends. */
type Ending = 'finish' | 'two finishes' | 'finish with ack' | 'expiry' | 'delete' | 'finish, delete';
const ENDINGS: readonly Ending[] = ['finish', 'two finishes', 'finish with ack', 'expiry', 'delete', 'finish, delete'];

afterAll(closeSockets);

describe.each(SEEDS)('seed %i', (seed) => {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  test('trainers that race each other, agents, deletions, expiry and pauses get every session’s rows', async () => {
    const sim = { seed, policy: randomPolicy(12), latency: LATENCY };
    const flow: Flow = await startFlow({ sim, settings: { ...HASTY, traces: { leaseMs: 150 }, sessions: { idleTtlMs: 3000 } } });
    cleanups.push(() => flow.close());
    const { sessions, engines } = flow.gateway;
    const kept = new Map<string, FinishedSession>();
    const dropped = new Set<string>();
    const trainers = Array.from({ length: TRAINERS }, (_, at) => new ClumsyTrainer(flow.url, randomBy(seed * 7 + at), kept));
    const work = trainers.map((trainer) => trainer.work());
    const end = async (key: string, ending: Ending): Promise<void> => {
      switch (ending) {
        case 'finish':
          await fetch(`${flow.url}/sessions/${key}/finish`, { method: 'POST', body: '{"reward":1}' });
          return;
        case 'two finishes':
          await Promise.all([
            sessions.finish(key, { reward: 1 }).catch(isGone),
            sessions.finish(key, { metadata: { b: 1 } }).catch(isGone),
          ]);
          return;
        case 'finish with ack': {
          const finished = await sessions.finish(key, { ack: true });
          kept.set(key, finished);
          return;
        }
        case 'expiry':
          return;
        case 'delete':
        case 'finish, delete':
          dropped.add(key);
          if (ending !== 'delete') await sessions.finish(key);
          await sessions.delete(key).catch(isGone);
      }
    };
    const counts: Record<string, number> = {};
    const ends: AgentEnd[] = [];
    const agents = Array.from({ length: AGENTS }, async (_, number) => {
      const key = `race-${seed}-${number}`;
      const random = randomBy(seed * 1009 + number);
      ends.push(await runAgent({ url: flow.url, key, turns: TURNS, random, leaves: 0, leaveMs: 0 }));
      const ending = ENDINGS[Math.floor(random() * ENDINGS.length)]!;
      counts[ending] = (counts[ending] ?? 0) + 1;
      await end(key, ending);
    });
    let isOver = false;
    const pauses = (async () => {
      const random = randomBy(seed);
      while (!isOver) {
        await sleep(30 + random() * 100);
        await engines.pause({ mode: (['abort', 'wait', 'keep'] as const)[Math.floor(random() * 3)]!, waitMs: 500 });
        await sleep(random() * 30);
        await engines.resume(1);
      }
    })();
    await Promise.all(agents);
    isOver = true;
    await pauses;
    const missing = (): string[] => ends.map(({ key }) => key).filter((key) => !kept.has(key) && !dropped.has(key));
    await until(() => missing().length === 0, 'all rows have arrived', 120_000).catch((error: unknown) => {
      throw new Error(`${String(error)}; missing are ${missing().join(', ')}`);
    });
    for (const trainer of trainers) trainer.stop();
    await Promise.all(work);
    expect(ends.filter(({ state }) => state !== 'done')).toEqual([]);
    const rows = [...kept].filter(([key]) => !dropped.has(key)).map(([, session]) => session);
    for (const { session_id, summary } of rows)
      expect([session_id, summary.turns, summary.capture_yield, summary.capture_error]).toEqual([session_id, TURNS, 1, null]);
    const { vocabulary } = flow.sim.core.options;
    const keyOf = (ids: Int32Array): string => /race-\d+-\d+/.exec(vocabulary.decode(ids))?.[0] ?? '';
    const ledger = flow.sim.ledger().filter(({ promptIds }) => !dropped.has(keyOf(promptIds)));
    const books = balance(
      ledger,
      rows.flatMap(({ traces }) => [...traces]),
    );
    const again = trainers.reduce((sum, trainer) => sum + trainer.again, 0);
    report({ trainers: TRAINERS, seed, sessions: AGENTS, endings: counts, again, ...books, unused: books.unused.length });
    expect(books.discarded).toBe(0);
    // Whatever a trainer could not acknowledge comes once more, when its lease has run out.
    await until(async () => {
      const { lease_id } = await sessions.lease({ max: 1000 });
      if (lease_id !== null) await sessions.ack({ leaseId: lease_id });
      return (await gauge(flow, 'sessions')) === 0;
    }, 'all is acknowledged');
    await expectQuiet(flow);
  });
});

const isGone = (error: unknown): void => expect(error).toMatchObject({ code: 'session_not_found' });
