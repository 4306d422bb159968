import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LeaseBook } from '../../src/trainer/lease-book.js';

const book = (...ids: string[]): LeaseBook<string> => {
  const lives = new LeaseBook<string>();
  ids.forEach((id, at) => {
    lives.add(`${id}@${at}`, id, `${id}@${at}`, at);
  });
  return lives;
};

describe('LeaseBook', () => {
  it('hands out the oldest first, each to one lease at a time', () => {
    const lives = book('a', 'b', 'c');
    expect(lives.lease('l1', 2, 100, 0)).toStrictEqual(['a@0', 'b@1']);
    expect(lives.lease('l2', 2, 100, 0)).toStrictEqual(['c@2']);
    expect(lives.lease('l3', 2, 100, 0)).toStrictEqual([]);
    expect(lives.hasReady(99)).toBe(false);
    expect(lives.ackLease('l3')).toStrictEqual({ acked: 0, unknown: ['l3'], gone: [] });
    expect(lives.size).toBe(3);
  });

  it('forgets what was acknowledged, once', () => {
    const lives = book('a', 'b');
    lives.lease('l', 5, 100, 0);
    expect(lives.ackLease('l')).toStrictEqual({ acked: 2, unknown: [], gone: ['a@0', 'b@1'] });
    expect(lives.ackLease('l')).toStrictEqual({ acked: 0, unknown: ['l'], gone: [] });
    expect(lives.size).toBe(0);
    expect(lives.lease('l2', 5, 300, 200)).toStrictEqual([]);
  });

  it('gives the lives of a lease that ran out again, before fresh ones', () => {
    const lives = book('a', 'b');
    lives.lease('l1', 1, 100, 0);
    expect(lives.lease('l2', 1, 300, 100)).toStrictEqual(['a@0']);
    expect(lives.ackLease('l1')).toStrictEqual({ acked: 0, unknown: ['l1'], gone: [] });
    expect(lives.ackLease('l2')).toStrictEqual({ acked: 1, unknown: [], gone: ['a@0'] });
    expect(lives.lease('l3', 9, 400, 200)).toStrictEqual(['b@1']);
  });

  it('takes a late acknowledgement for what nobody leased since', () => {
    const lives = book('a', 'b');
    lives.lease('l1', 2, 100, 0);
    expect(lives.hasReady(150)).toBe(true);
    expect(lives.lease('l2', 1, 300, 150)).toStrictEqual(['a@0']);
    expect(lives.ackLease('l1')).toStrictEqual({ acked: 1, unknown: [], gone: ['b@1'] });
    expect(lives.hasReady(150)).toBe(false);
    expect(lives.get('a@0')).toBe('a@0');
  });

  it('acknowledges all lives of an id, and counts sessions', () => {
    const lives = book('a', 'a', 'b');
    lives.lease('l', 1, 100, 0);
    expect(lives.ackSessions(['a', 'a', 'x'])).toStrictEqual({ acked: 1, unknown: ['x'], gone: ['a@0', 'a@1'] });
    expect(lives.ackLease('l')).toStrictEqual({ acked: 0, unknown: ['l'], gone: [] });
    const twice = book('a', 'a');
    twice.lease('l', 2, 100, 0);
    expect(twice.ackLease('l')).toStrictEqual({ acked: 1, unknown: [], gone: ['a@0', 'a@1'] });
  });

  it('removes one life and keeps its siblings', () => {
    const lives = book('a', 'a');
    expect(lives.remove('a@0')).toBe('a@0');
    expect(lives.remove('a@0')).toBeUndefined();
    expect(lives.lease('l', 9, 100, 0)).toStrictEqual(['a@1']);
  });

  it('forgets by age and by number, oldest first', () => {
    const lives = book('a', 'b', 'c', 'd');
    expect(lives.expire(2, 100)).toStrictEqual(['a@0', 'b@1']);
    expect(lives.expire(0, 1)).toStrictEqual(['c@2']);
    expect(lives.size).toBe(1);
  });

  it('loses nothing: every life is acknowledged, expired or can be leased after all leases have run out', () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), id: fc.integer({ min: 0, max: 4 }) }),
      fc.record({ kind: fc.constant('lease' as const), max: fc.integer({ min: 1, max: 3 }), forMs: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ kind: fc.constant('ack' as const), lease: fc.nat(20) }),
      fc.record({ kind: fc.constant('ackSession' as const), id: fc.integer({ min: 0, max: 4 }) }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const lives = new LeaseBook<string>();
        const held = new Map<string, number>();
        let leases = 0;
        actions.forEach((step, nowMs) => {
          if (step.kind === 'add') lives.add(`n${nowMs}`, `s${step.id}`, `n${nowMs}`, nowMs);
          if (step.kind === 'ack') lives.ackLease(`l${step.lease}`);
          if (step.kind === 'ackSession') lives.ackSessions([`s${step.id}`]);
          if (step.kind === 'lease') {
            for (const life of lives.lease(`l${leases++}`, step.max, nowMs + step.forMs, nowMs)) {
              expect(held.get(life) ?? 0).toBeLessThanOrEqual(nowMs);
              held.set(life, nowMs + step.forMs);
            }
          }
        });
        const known = lives.size;
        expect(lives.lease('last', 1000, 2000, 1000)).toHaveLength(known);
      }),
    );
  });
});
