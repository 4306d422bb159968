import { describe, expect, it } from 'vitest';
import { SharedCounters } from '../../src/backend/shared-counters.js';

describe('SharedCounters', () => {
  it('adds up the calls of all shards and clears those of a shard that begins anew', () => {
    const buffer = new SharedArrayBuffer(SharedCounters.bytes(2));
    const first = new SharedCounters(buffer, 0, 2);
    const second = new SharedCounters(buffer, 1, 2);
    for (let number = 0; number < 3; number++) first.take(5);
    second.take(5);
    second.take(6);
    expect(first.total(5)).toBe(4);
    expect(second.own(5)).toBe(1);
    second.release(5);
    expect(first.total(5)).toBe(3);
    new SharedCounters(buffer, 0, 2);
    expect(second.total(5)).toBe(0);
    expect(second.total(6)).toBe(1);
  });

  it('tells a shard which replicas another one is hungry for, not that it is itself', () => {
    const buffer = new SharedArrayBuffer(SharedCounters.bytes(3));
    const [first, second] = [0, 1].map((shard) => new SharedCounters(buffer, shard, 3));
    first!.setHungry(5, true);
    expect(first!.othersHungry(5)).toBe(false);
    expect([second!.othersHungry(5), second!.othersHungry(4)]).toEqual([true, false]);
    expect(second!.total(5)).toBe(0);
    first!.setHungry(5, false);
    expect(second!.othersHungry(5)).toBe(false);
    first!.setHungry(5, true);
    new SharedCounters(buffer, 0, 3);
    expect(second!.othersHungry(5)).toBe(false);
  });
});
