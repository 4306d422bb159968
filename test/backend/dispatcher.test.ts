import { describe, expect, it } from 'vitest';
import { type Admission, Dispatcher, type Ticket } from '../../src/backend/dispatcher.js';
import type { Clock } from '../../src/backend/pool-settings.js';
import type { Replica } from '../../src/backend/replica.js';
import { SharedCounters } from '../../src/backend/shared-counters.js';
import { settingsWith } from './pool-fixture.js';

/** What a dispatcher sees of a replica. */
interface Seen {
  readonly url: string;
  readonly slot: number;
  isUp: boolean;
  restUntilMs: number;
  readonly window: { size: number; round: number };
}

interface Call {
  readonly ticket: Ticket;
  readonly admission: Promise<Admission>;
  replica: string | null;
}

/** Two replicas with so many places each, a clock that tests set, and the dispatcher of another shard. */
function start(places: number, shards = 1) {
  const replicas: Seen[] = [0, 1].map((slot) => ({
    url: `http://engine-${slot}:8000`,
    slot,
    isUp: true,
    restUntilMs: 0,
    window: { size: places, round: 0 },
  }));
  let nowMs = 0;
  const clock: Clock = { now: () => nowMs, random: () => 0.5, after: () => () => {} };
  const buffer = new SharedArrayBuffer(SharedCounters.bytes(shards));
  const counters = new SharedCounters(buffer, 0, shards);
  const known = replicas as unknown as readonly Replica[];
  const dispatcher = new Dispatcher(settingsWith({}), clock, counters, shards, () => known);
  let sessions = 0;
  const call = async (sessionId: string, avoid: readonly Seen[] = []): Promise<Call> => {
    const ticket: Ticket = { sessionId, sinceMs: sessions++, avoid: new Set(avoid as unknown as Replica[]), heldMs: 0 };
    const it: Call = { ticket, admission: dispatcher.admit(ticket, false, undefined), replica: null };
    void it.admission.then((admission) => {
      it.replica = admission.ok ? admission.replica.url : admission.failure.kind;
    });
    await Promise.resolve();
    return it;
  };
  const end = async (it: Call): Promise<void> => {
    const admission = await it.admission;
    if (!admission.ok) throw new Error('it was refused');
    dispatcher.release(it.ticket, admission.replica);
    await Promise.resolve();
  };
  /** Fills a replica with calls of new sessions, up to so many; they stay until they are ended. */
  const fill = async (replica: Seen, upTo: number): Promise<Call[]> => {
    const others = replicas.filter((other) => other !== replica);
    const calls = [];
    while (counters.total(replica.slot) < upTo) calls.push(await call(`filler ${sessions}`, others));
    return calls;
  };
  return { replicas, dispatcher, buffer, call, end, fill, wait: (ms: number) => (nowMs += ms) };
}

describe('Dispatcher', () => {
  it('sends a session where its last call was, also when that was not its first choice', async () => {
    const { replicas, call, end, fill } = start(16);
    const { replica } = await call('a');
    const [own, other] = replicas[0]!.url === replica ? [replicas[0]!, replicas[1]!] : [replicas[1]!, replicas[0]!];
    const fillers = await fill(own, 16);
    const away = await call('a');
    expect(away.replica).toBe(other.url);
    for (const filler of fillers) await end(filler);
    expect((await call('a')).replica).toBe(other.url);
  });

  it('lets a call wait for its own replica rather than leave it for one that is nearly full', async () => {
    const { replicas, call, end, fill } = start(16);
    const { replica } = await call('a');
    const [own, other] = replicas[0]!.url === replica ? [replicas[0]!, replicas[1]!] : [replicas[1]!, replicas[0]!];
    const fillers = await fill(own, 16);
    await fill(other, 15);
    const waiting = await call('a');
    expect(waiting.replica).toBeNull();
    await end(fillers[0]!);
    expect(waiting.replica).toBe(own.url);
  });

  it('lets a call that has waited for long go where nobody else wants the place', async () => {
    const { replicas, call, end, fill, wait } = start(16);
    const { replica } = await call('a');
    const [own, other] = replicas[0]!.url === replica ? [replicas[0]!, replicas[1]!] : [replicas[1]!, replicas[0]!];
    await fill(own, 16);
    const [filler] = await fill(other, 16);
    const waiting = await call('a');
    wait(4999);
    const { sessionId } = filler!.ticket;
    const next = await call(sessionId);
    await end(filler!);
    expect([waiting.replica, next.replica]).toEqual([null, other.url]);
    wait(1);
    await end(next);
    expect(waiting.replica).toBe(other.url);
  });

  it('gives a free place to a call of that replica’s own before an older one of another', async () => {
    const { replicas, call, end, fill } = start(16);
    const [first, second] = [replicas[0]!, replicas[1]!];
    const [one] = await fill(first, 16);
    const [two] = await fill(second, 16);
    const ofFirst = await call(one!.ticket.sessionId);
    const ofSecond = await call(two!.ticket.sessionId);
    await end(two!);
    expect([ofFirst.replica, ofSecond.replica]).toEqual([null, second.url]);
    await end(one!);
    expect(ofFirst.replica).toBe(first.url);
  });

  it.each([
    ['is down', { isUp: false }],
    ['asked for a rest', { restUntilMs: 60_000 }],
  ])('sends a session elsewhere when its replica %s', async (_, change) => {
    const { replicas, call, end } = start(16);
    const it = await call('a');
    await end(it);
    const own = replicas.find(({ url }) => url === it.replica)!;
    Object.assign(own, change);
    expect((await call('a')).replica).not.toBe(own.url);
  });

  it('does not send a call back to its own replica that just failed it', async () => {
    const { replicas, call, end } = start(16);
    const it = await call('a');
    await end(it);
    const own = replicas.find(({ url }) => url === it.replica)!;
    expect((await call('a', [own])).replica).not.toBe(own.url);
    expect((await call('b', replicas)).replica).not.toBeNull();
  });

  it('spreads the first calls of sessions evenly', async () => {
    const { replicas, call } = start(500);
    const counts = new Map(replicas.map(({ url }) => [url, 0]));
    for (let session = 0; session < 900; session++) {
      const { replica } = await call(`s${session}`);
      counts.set(replica!, counts.get(replica!)! + 1);
    }
    const [low, high] = [...counts.values()].sort((a, b) => a - b);
    expect(high! - low!).toBeLessThanOrEqual(low! * 0.05 + 5);
  });

  it('forgets where a session was when it is over', async () => {
    const { replicas, call, end, fill, dispatcher } = start(16);
    const { replica } = await call('a');
    const own = replicas.find(({ url }) => url === replica)!;
    const fillers = await fill(own, 16);
    await end(await call('a'));
    for (const filler of fillers) await end(filler);
    const away = await call('a');
    expect(away.replica).not.toBe(own.url);
    await end(away);
    dispatcher.forget('a');
    expect((await call('a')).replica).toBe(own.url);
  });

  it('asks other shards only for places at the replica that its calls wait for', async () => {
    const { replicas, buffer, call, fill } = start(16, 2);
    const [first, second] = [replicas[0]!, replicas[1]!];
    const other = new SharedCounters(buffer, 1, 2);
    const [one] = await fill(first, 4);
    for (let calls = 0; calls < 12; calls++) other.take(first.slot);
    for (let calls = 0; calls < 16; calls++) other.take(second.slot);
    await call(one!.ticket.sessionId);
    expect([other.othersHungry(first.slot), other.othersHungry(second.slot)]).toEqual([true, false]);
    await call('new');
    expect([other.othersHungry(first.slot), other.othersHungry(second.slot)]).toEqual([true, true]);
  });
});
