import { describe, expect, it } from 'vitest';
import { EngineOrders } from '../../src/shard/engine-orders.js';

describe('EngineOrders', () => {
  it('gives a counter to every replica, and never the same again', () => {
    const orders = new EngineOrders(['http://a', 'http://b']);
    expect(orders.take({ kind: 'remove_replica', url: 'http://b/', waitMs: 0 })).toMatchObject({ order: { url: 'http://b' } });
    expect(orders.take({ kind: 'add_replica', url: 'http://b' })).toMatchObject({ slot: 2 });
    expect(orders.stand.replicas).toEqual([
      { url: 'http://a', slot: 0 },
      { url: 'http://b', slot: 2 },
    ]);
  });

  it('refuses what is there already and what is not', () => {
    const orders = new EngineOrders(['http://a']);
    expect(orders.take({ kind: 'add_replica', url: 'http://a/' })).toMatchObject({ code: 'replica_exists' });
    expect(orders.take({ kind: 'remove_replica', url: 'http://x', waitMs: 0 })).toMatchObject({
      code: 'replica_not_found',
      message: 'Cannot remove the replica http://x: there are http://a.',
    });
  });

  it('runs out of counters after 256 replicas', () => {
    const orders = new EngineOrders([]);
    for (let number = 0; number < 256; number++) orders.take({ kind: 'add_replica', url: `http://e${number}` });
    orders.take({ kind: 'remove_replica', url: 'http://e3', waitMs: 0 });
    expect(orders.take({ kind: 'add_replica', url: 'http://more' })).toMatchObject({ code: 'invalid_request' });
  });

  it('keeps pause and weights for shards that are born later', () => {
    const orders = new EngineOrders([]);
    orders.take({ kind: 'pause', mode: 'abort', waitMs: 0 });
    expect(orders.stand.pause).toBe('abort');
    orders.take({ kind: 'resume', weightVersion: '3' });
    orders.take({ kind: 'pause', mode: 'wait', waitMs: 0 });
    orders.take({ kind: 'resume', weightVersion: null });
    expect(orders.stand).toMatchObject({ pause: null, weightVersion: '3' });
  });
});
