import { expect } from 'vitest';
import type { TraceRecord } from '../../src/canonical/trace.js';
import type { SimEngine } from '../../src/sim/engine-server.js';
import type { LedgerEntry } from '../../src/sim/ledger.js';
import type { FinishedSession } from '../../src/trainer/trace-encoding.js';
import { until } from '../support/flow.js';
import { type AgentEnd, type AgentPlan, runAgent } from './agent.js';
import { type Balance, balance } from './books.js';
import { randomBy } from './options.js';

/** A gateway as a fleet needs it. */
export interface FleetFlow {
  readonly url: string;
  readonly gateway: {
    readonly sessions: {
      finish(id: string, body?: Readonly<Record<string, unknown>>): Promise<FinishedSession>;
      delete(id: string): Promise<void>;
    };
  };
}

export interface FleetPlan {
  readonly name: string;
  readonly seed: number;
  readonly sessions: number;
  readonly turns: number;
  /** Share of the calls that their client leaves. */
  readonly leaves?: number;
  readonly leaveMs?: number;
  /** Leads an agent's session; by default a light client with the SDKs' rules. */
  readonly lead?: (plan: AgentPlan) => Promise<AgentEnd>;
  /** Shares of the sessions that a trainer finishes or deletes while their agents work. */
  readonly finishes?: number;
  readonly deletes?: number;
  readonly trainerMs?: number;
  /** Filled by `meanwhile`: which engine died after which entry of its ledger; `unknown` = any may have, at any time. */
  readonly deaths?: 'unknown' | readonly { readonly sim: SimEngine; readonly serial: number }[];
  /** Runs beside the agents; its signal says that they have ended. */
  readonly meanwhile?: (ended: AbortSignal) => Promise<void>;
}

export interface FleetReport {
  readonly ends: readonly AgentEnd[];
  readonly rows: readonly TraceRecord[];
  readonly balance: Balance;
  readonly discarded: Readonly<Record<string, number>>;
  /** Tokens in answers to calls that the gateway had just closed. */
  readonly unheard: number;
}

/**
 * Lets a fleet of agents run, finishes all their sessions, and balances the books of the gateway with those of its engines.
 * @throws the first thing that does not add up
 */
export async function runFleet(flow: FleetFlow, sims: readonly SimEngine[], plan: FleetPlan): Promise<FleetReport> {
  const before = await tokenMetrics(flow);
  const serials = sims.map((sim) => sim.ledger().at(-1)?.serial ?? 0);
  const keys = Array.from({ length: plan.sessions }, (_, number) => `${plan.name}-${plan.seed}-${number}`);
  const over = new AbortController();
  const beside = plan.meanwhile?.(over.signal);
  const trainers = keys.map((key, number) => interfere(flow, plan, key, randomBy(plan.seed * 104_729 + number)));
  const ends = await Promise.all(
    keys.map((key, number) =>
      (plan.lead ?? runAgent)({
        url: flow.url,
        key,
        turns: plan.turns,
        random: randomBy(plan.seed * 7919 + number),
        leaves: plan.leaves ?? 0,
        leaveMs: plan.leaveMs ?? 50,
      }),
    ),
  );
  over.abort();
  await beside;
  await Promise.all(trainers);
  await until(async () => (await gauge(flow, 'open_calls')) === 0, 'all calls have ended');
  await until(() => sims.every(({ core }) => core.scheduler.running === 0), 'the engines are free');
  const rows: TraceRecord[] = [];
  for (const key of keys) {
    const finished = await flow.gateway.sessions.finish(key, { ack: true }).catch((error: unknown) => error);
    if (finished instanceof Error) {
      expect(finished, `only a session that nobody opened is not found: ${key}`).toMatchObject({ code: 'session_not_found' });
      continue;
    }
    const { summary, traces } = finished as FinishedSession;
    expect([key, summary.capture_error, summary.capture_yield]).toEqual([key, null, 1]);
    rows.push(...traces);
  }
  const ledger: LedgerEntry[] = [];
  const atDeath = new Set<LedgerEntry>();
  for (const [at, sim] of sims.entries()) {
    const { deaths = [] } = plan;
    const ofSim = deaths === 'unknown' ? null : deaths.filter((death) => death.sim === sim);
    for (const entry of sim.ledger(serials[at])) {
      ledger.push(entry);
      if (ofSim === null || ofSim.some(({ serial }) => entry.serial > serial - LAST_WORDS && entry.serial <= serial)) atDeath.add(entry);
    }
  }
  const books = balance(ledger, rows);
  await until(async () => (await gauge(flow, 'replica_in_flight')) === 0, 'no call is counted as running');
  const after = await tokenMetrics(flow);
  const discarded = differences(after.reasons, before.reasons);
  const kinds = differences(after.kinds, before.kinds);
  const claimed = Object.values(discarded).reduce((sum, tokens) => sum + tokens, 0);
  const deaf = differences(after.failures, before.failures);
  const unheardMost = mostUnheard(books, (deaf.cut ?? 0) + (deaf.silent ?? 0), atDeath);
  const what = JSON.stringify({ ...books, unused: books.unused.length, discarded, kinds, deaf });
  expect(kinds.trained ?? 0, `trained, by the gateway and by the ledger: ${what}`).toBe(books.trained);
  const dropped = discarded.session_deleted ?? 0;
  expect((kinds.committed ?? 0) - dropped, `all that was committed and not deleted is trained: ${what}`).toBe(books.trained);
  const unheard = books.discarded - claimed;
  expect(
    unheard >= 0 && unheard <= unheardMost,
    `discarded, by the gateway and by the ledger: ${unheard} of ${unheardMost} in ${what}`,
  ).toBe(true);
  expect(kinds.sampled ?? 0, `the gateway's own books: ${what}`).toBe(books.trained + claimed);
  return { ends, rows, balance: books, discarded, unheard };
}

/** So many answers before a death may still have been on their way. */
const LAST_WORDS = 30;

/**
 * An answer that the engine has written and nobody can have read: the gateway closed the call in that moment, or the engine's process
 * died and its last packets with it. Neither side can tell these; their number is known.
 */
function mostUnheard({ unused }: Balance, closedCalls: number, atDeath: ReadonlySet<LedgerEntry>): number {
  const dying = unused.filter(({ entry }) => atDeath.has(entry));
  const closed = unused.filter(({ entry }) => !atDeath.has(entry)).slice(0, closedCalls);
  return [...dying, ...closed].reduce((sum, { tokens }) => sum + tokens, 0);
}

/** A trainer that ends a session whose agent still works. */
async function interfere(flow: FleetFlow, plan: FleetPlan, key: string, random: () => number): Promise<void> {
  const share = random();
  const { finishes = 0, deletes = 0, trainerMs = 100 } = plan;
  if (share >= finishes + deletes) return;
  await new Promise((resolve) => setTimeout(resolve, random() * trainerMs));
  const done =
    share < finishes ? flow.gateway.sessions.finish(key, { wait_ms: Math.floor(random() * 40) }) : flow.gateway.sessions.delete(key);
  await done.catch((error: unknown) => expect(error, key).toMatchObject({ code: 'session_not_found' }));
}

export function countEnds(ends: readonly AgentEnd[]): Record<AgentEnd['state'], number> {
  const counts = { done: 0, refused: 0, gave_up: 0 };
  for (const { state } of ends) counts[state]++;
  return counts;
}

/** Nothing is left of the sessions. */
export async function expectQuiet(flow: FleetFlow): Promise<void> {
  for (const name of ['open_calls', 'bodies_in_flight_bytes', 'tree_nodes', 'sessions', 'replica_queue', 'replica_in_flight']) {
    expect([name, await gauge(flow, name)]).toEqual([name, 0]);
  }
}

/** A metric, summed over its labels and shards. */
export async function gauge(flow: FleetFlow, name: string): Promise<number> {
  const text = await (await fetch(`${flow.url}/metrics`)).text();
  let sum = 0;
  for (const [, value] of text.matchAll(new RegExp(`^rollout_gateway_${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))) sum += Number(value);
  return sum;
}

interface TokenMetrics {
  readonly kinds: Readonly<Record<string, number>>;
  readonly reasons: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
}

async function tokenMetrics(flow: FleetFlow): Promise<TokenMetrics> {
  const text = await (await fetch(`${flow.url}/metrics`)).text();
  const read = (name: string, label: string): Record<string, number> => {
    const found: Record<string, number> = {};
    const lines = new RegExp(`^rollout_gateway_${name}\\{${label}="(\\w+)"\\} (\\S+)$`, 'gm');
    for (const [, value, count] of text.matchAll(lines)) found[value!] = Number(count);
    return found;
  };
  return {
    kinds: read('tokens_total', 'kind'),
    reasons: read('discarded_tokens_total', 'reason'),
    failures: read('engine_failures_total', 'kind'),
  };
}

function differences(after: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>): Record<string, number> {
  const more = Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)] as const);
  return Object.fromEntries(more.filter(([, count]) => count !== 0));
}
