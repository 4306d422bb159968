import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BufferPool } from '../../src/memory/buffer-pool.js';

describe('BufferPool', () => {
  test('a buffer has the room that was asked for, and at most a fifth more', () => {
    const pool = new BufferPool(0);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 * 1024 * 1024 }), (bytes) => {
        const size = pool.sizeFor(bytes);
        expect(size).toBeGreaterThanOrEqual(bytes);
        expect(size).toBeLessThanOrEqual(Math.ceil(bytes * 1.2) + 1);
        expect(pool.sizeFor(size)).toBe(size);
      }),
    );
  });

  test('what came back is given again, to one at a time', () => {
    const pool = new BufferPool(1e6);
    const { buffer } = pool.take(100_000);
    pool.give(buffer);
    expect(pool.freeBytes).toBe(buffer.byteLength);
    expect(pool.take(100_000).buffer).toBe(buffer);
    expect(pool.freeBytes).toBe(0);
    expect(pool.take(100_000).buffer).not.toBe(buffer);
  });

  test('nothing is kept beyond its bytes, nor what is small, foreign or was transferred', () => {
    const pool = new BufferPool(150_000);
    const [first, second] = [pool.take(100_000), pool.take(100_000)];
    pool.give(first.buffer);
    pool.give(second.buffer);
    expect(pool.freeBytes).toBe(first.byteLength);
    pool.give(new ArrayBuffer(33_000));
    pool.give(pool.take(10).buffer);
    structuredClone(second, { transfer: [second.buffer] });
    pool.give(second.buffer);
    expect(pool.freeBytes).toBe(first.byteLength);
  });
});
