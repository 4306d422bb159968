import { describe, expect, it } from 'vitest';
import type { TrainerAnswer, TrainerCall } from '../../src/trainer/calls.js';
import { ackAll, type LeaseCall, leaseFromAll, listAll, type SessionHolders, type WideCall } from '../../src/trainer/fan-out.js';
import { scrape } from '../../src/trainer/scrape.js';

type Answers = (call: TrainerCall) => TrainerAnswer;

const holders = (shards: readonly Answers[], lost: (call: WideCall) => TrainerAnswer): SessionHolders => ({
  shardCount: shards.length,
  trainer: async (shard, call) => shards[shard]!(call),
  lost,
});
const replaced: Answers = () => ({ kind: 'error', error: { code: 'overloaded', message: 'it is loading the model' } });
const died: Answers = () => ({ kind: 'error', error: { code: 'session_lost', message: 'crashed' } });
const broken: Answers = () => ({ kind: 'error', error: { code: 'internal_error', message: 'broken' } });

describe('listAll', () => {
  const page = (...ids: string[]): Answers => {
    const text = JSON.stringify(ids.map((session_id) => ({ session_id, turns: 1 })));
    return () => ({ kind: 'text', status: 200, text });
  };
  const list = async (limit: number, ...answers: readonly Answers[]): Promise<unknown> =>
    JSON.parse(await listAll(holders(answers.slice(1), answers[0]!), { kind: 'list', after: null, limit }));

  it('merges the pages of all in order and says where the next one begins', async () => {
    expect(await list(2, page('aa'), page('a', 'd'), page('b', 'c'))).toMatchObject({
      sessions: [{ session_id: 'a' }, { session_id: 'aa' }],
      next_cursor: 'aa',
    });
    expect(await list(2, page(), page('c'), page())).toStrictEqual({ sessions: [{ session_id: 'c', turns: 1 }], next_cursor: null });
  });

  it('goes without a shard that is being replaced, and fails with one that is broken', async () => {
    expect(await list(9, page('lost'), replaced, died, page('a'))).toMatchObject({
      sessions: [{ session_id: 'a' }, { session_id: 'lost' }],
    });
    await expect(list(9, page(), broken, page('a'))).rejects.toMatchObject({ code: 'internal_error' });
  });
});

describe('ackAll', () => {
  const acked = (count: number, ...unknown: string[]): Answers => {
    return () => ({ kind: 'acked', acked: count, unknown });
  };
  const call = { kind: 'ack', leaseId: null, sessionIds: ['a', 'b', 'c'] } as const;

  it('counts a name as unknown only where nobody knew it', async () => {
    const all = holders([acked(1, 'b', 'c'), acked(1, 'a', 'c')], acked(0, 'a', 'b', 'c'));
    expect(await ackAll(all, call)).toStrictEqual({ acked: 2, unknown: 1 });
    const withLost = holders([acked(0, 'a', 'b', 'c')], acked(1, 'a', 'b'));
    expect(await ackAll(withLost, call)).toStrictEqual({ acked: 1, unknown: 2 });
  });

  it('acknowledges what is there while a shard is being replaced', async () => {
    expect(await ackAll(holders([replaced, acked(2, 'c')], acked(0, 'a', 'b', 'c')), call)).toStrictEqual({ acked: 2, unknown: 1 });
    const lease = { kind: 'ack', leaseId: 'l', sessionIds: [] } as const;
    expect(await ackAll(holders([replaced], acked(0, 'l')), lease)).toStrictEqual({ acked: 0, unknown: 1 });
  });

  it('fails with a shard that is broken', async () => {
    await expect(ackAll(holders([broken, acked(1)], acked(0)), call)).rejects.toMatchObject({ code: 'internal_error' });
  });
});

/** Gives these, once. */
const stock = (...names: string[]): Answers => {
  const left = [...names];
  return (call) => ({
    kind: 'traces',
    status: 200,
    sessions: left.splice(0, (call as LeaseCall).max).map((name) => new TextEncoder().encode(name)),
  });
};
const lease: LeaseCall = { kind: 'lease', leaseId: 'l', expiresAtMs: 0, max: 3, include: [], encoding: 'json' };
const namesOf = (sessions: readonly Uint8Array[] | null): string[] => (sessions ?? []).map((bytes) => new TextDecoder().decode(bytes));

describe('leaseFromAll', () => {
  it('fills a lease up to its size, with those that were lost too, and lets shards take turns', async () => {
    const all = holders([stock('a1', 'a2', 'a3', 'a4'), stock('b1', 'b2', 'b3', 'b4')], stock('x'));
    const leases = [];
    for (let times = 0; times < 4; times++) leases.push(namesOf(await leaseFromAll(all, lease)));
    expect(leases.map(({ length }) => length)).toEqual([3, 3, 3, 0]);
    expect(leases.flat().sort()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'b4', 'x']);
    const firsts = leases.slice(1, 3).map((names) => names[0]![0]);
    expect(new Set(firsts).size).toBe(2);
  });

  it('goes without shards that hold nothing, and fails with one that is broken', async () => {
    expect(namesOf(await leaseFromAll(holders([replaced, stock('b'), died], stock()), lease))).toEqual(['b']);
    await expect(leaseFromAll(holders([broken], stock()), lease)).rejects.toMatchObject({ code: 'internal_error' });
  });

  it('leases nothing more for a trainer that has left', async () => {
    let asked = 0;
    const counted: Answers = (call) => {
      asked++;
      return stock('a')(call);
    };
    expect(await leaseFromAll(holders([counted, counted], stock()), lease, () => asked < 1)).toBeNull();
    expect(asked).toBe(1);
  });
});

describe('scrape', () => {
  it('sees what is finished while it looks', async () => {
    let listener = (): void => undefined;
    let looks = 0;
    const all = {
      ...holders([], stock()),
      shardCount: 1,
      // The session is finished after the shard has looked, and before it is heard.
      trainer: async (): Promise<TrainerAnswer> => {
        looks++;
        if (looks === 1) listener();
        return stock(...(looks === 1 ? [] : ['a']))(lease);
      },
      onFinished: (listen: () => void) => {
        listener = listen;
        return () => undefined;
      },
    };
    const scraped = await scrape(all, lease, { waitMs: 3_600_000, leaseMs: 1000 });
    expect([namesOf(scraped!.sessions), scraped!.lease?.leaseId]).toEqual([['a'], 'l']);
  });
});
