import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomPolicy } from '../../src/sim/policy.js';
import { type Flow, startFlow, until } from '../support/flow.js';
import { balance } from './books.js';
import { expectQuiet, gauge } from './fleet.js';
import { BODIES, damagedText, type Json, mutated } from './mutations.js';
import { FUZZ, randomBy, report, SEEDS } from './options.js';

const AT_ONCE = 16;
const HANG_MS = 20_000;
const pick = <T>(random: () => number, all: readonly T[]): T => all[Math.floor(random() * all.length)]!;

interface Mutant {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
}

const TRAINER_BODIES: readonly Json[] = [
  {
    session_id: 'made',
    sampling: { temperature: 0.5, stop: ['x'] },
    history: 'auto',
    wire: { token_ids: true },
    metadata: { a: 1 },
    max_turns: 3,
  },
  {
    reward: 1,
    row_rewards: [1, null],
    turn_rewards: { t0: 1 },
    reward_components: { a: { value: 1, weight: 2 } },
    wait_ms: 0,
    include: ['messages', 'segments'],
  },
  { session_ids: ['made', 'nobody'] },
  { lease_id: 'nobody' },
  { weight_version: 'v' },
  { url: 'not a url' },
];
const TRAINER_PATHS = [
  ['POST', '/sessions'],
  ['GET', '/sessions?limit=LIMIT&cursor=CURSOR'],
  ['GET', '/sessions/ID'],
  ['GET', '/sessions/ID/tree?format=text'],
  ['GET', '/sessions/ID/tree?colour=CURSOR'],
  ['POST', '/sessions/ID/finish?include=messages,CURSOR'],
  ['POST', '/sessions/ID/finish'],
  ['DELETE', '/sessions/ID'],
  ['GET', '/traces?max=LIMIT&wait_ms=1'],
  ['POST', '/traces/ack'],
  ['POST', '/engines/resume'],
  ['DELETE', '/engines?url=CURSOR'],
] as const;
const IDS = [
  'fuzz-1',
  'fuzz-2',
  'made',
  'nobody',
  '%2e%2e',
  '..%2f..%2fetc',
  'a%00',
  '%ff',
  '%E2%80%8B',
  'x'.repeat(5000),
  '',
  '%25',
  "';--",
  '__proto__',
];
const LIMITS = ['1', '0', '-1', '1e9', 'NaN', '', '100000000000000000000', '3'];

function mutant(random: () => number, number: number): Mutant {
  const json = { 'content-type': 'application/json' };
  const spoil = (body: Json): string => {
    const text = JSON.stringify(random() < 0.8 ? mutated(body, random) : body);
    return random() < 0.15 ? damagedText(text, random) : text;
  };
  if (random() < 0.3) {
    const [method, template] = pick(random, TRAINER_PATHS);
    const path = template.replace('ID', pick(random, IDS)).replace('LIMIT', pick(random, LIMITS)).replace('CURSOR', pick(random, IDS));
    return {
      method,
      path,
      headers: { ...json, accept: pick(random, ['*/*', 'application/msgpack', 'x', '']) },
      body: method === 'POST' ? spoil(pick(random, TRAINER_BODIES)) : null,
    };
  }
  const key = `fuzz-${number % 23}`;
  const sent = pick(random, BODIES);
  const elsewhere = ['/v1/chat/completions', '/v1/messages', '/v1/messages/count_tokens', '/v1/models/x'];
  const path = random() < 0.85 ? sent.path : pick(random, elsewhere);
  const headers: Record<string, string> = { ...json, ...(random() < 0.5 ? { authorization: `Bearer ${key}` } : { 'x-api-key': key }) };
  if (random() < 0.2) headers['x-stainless-retry-count'] = pick(random, ['1', '-1', 'x', '99999999999']);
  if (random() < 0.05) headers['content-encoding'] = pick(random, ['gzip', 'br', 'identity', 'x']);
  return { method: 'POST', path, headers, body: spoil(sent.body) };
}

describe.each(SEEDS)('seed %i', (seed) => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlow({
      sim: { seed, policy: randomPolicy(4) },
      settings: { limits: { bodyBytes: 1_000_000 }, sampling: { maxTokens: 12 } },
    });
  });
  afterAll(() => flow.close());

  test(`${FUZZ} mutated requests: no 500, no hang, no crash, and a neighbour is what it was`, async () => {
    const neighbour = async (turn: number): Promise<Response> =>
      flow.post('/v1/chat/completions', 'neighbour', { model: 'm', messages: [{ role: 'user', content: `turn ${turn}` }] });
    for (let turn = 0; turn < 3; turn++) expect((await neighbour(turn)).status).toBe(200);
    // The end of a call is noted a moment after its answer has been read.
    let noted: unknown = null;
    await until(async () => {
      const before = noted;
      noted = (await flow.gateway.sessions.get('neighbour')).last_used_at;
      return before === noted;
    }, 'the last call is noted');
    const ledger = [...flow.sim.ledger()];
    const [state, tree] = [await flow.gateway.sessions.get('neighbour'), await flow.gateway.sessions.tree('neighbour')];
    const random = randomBy(seed);
    const mutants = Array.from({ length: FUZZ }, (_, number) => mutant(random, number));
    const statuses: Record<number, number> = {};
    const wrong: object[] = [];
    let next = 0;
    const send = async (): Promise<void> => {
      for (let at = next++; at < mutants.length; at = next++) {
        const { method, path, headers, body } = mutants[at]!;
        const ended = await fetch(`${flow.url}${path}`, { method, headers, body, signal: AbortSignal.timeout(HANG_MS) }).then(
          async (reply) => ({ status: reply.status, text: await reply.text() }),
          (error: unknown) => ({ status: 0, text: String(error) }),
        );
        statuses[ended.status] = (statuses[ended.status] ?? 0) + 1;
        if (ended.status === 0 || ended.status >= 500)
          wrong.push({ at, ...ended, text: ended.text.slice(0, 300), method, path, body: body?.slice(0, 600) });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, send));
    report({ seed, fuzz: FUZZ, statuses });
    expect(wrong.slice(0, 10)).toEqual([]);
    expect(await gauge(flow, 'shard_restarts_total')).toBe(0);
    expect({ ...(await flow.gateway.sessions.get('neighbour')) }).toEqual(state);
    expect(await flow.gateway.sessions.tree('neighbour')).toEqual(tree);
    const { traces, summary } = await flow.gateway.sessions.finish('neighbour', { ack: true });
    expect(balance(ledger, traces)).toMatchObject({ discarded: 0, unanswered: 0 });
    expect(summary).toMatchObject({ turns: 3, capture_yield: 1, capture_error: null });
    const listed = (await (await fetch(`${flow.url}/sessions?limit=1000`)).json()) as {
      readonly sessions: { readonly session_id: string }[];
    };
    for (const { session_id } of listed.sessions) {
      const finished = await flow.gateway.sessions.finish(session_id, { ack: true });
      expect([session_id, finished.summary.capture_error]).toEqual([session_id, null]);
    }
    await until(async () => (await gauge(flow, 'replica_in_flight')) === 0, 'the engine is free');
    await expectQuiet(flow);
  });
});
