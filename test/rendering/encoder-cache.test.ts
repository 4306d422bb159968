import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { IdBuffer, unitsOf } from '../../src/rendering/encoder-buffers.js';
import { PieceCache } from '../../src/rendering/encoder-cache.js';

function cacheOf(key = 'fixedkey'): {
  readonly put: (piece: string, ids: readonly number[], hash?: number) => void;
  readonly get: (piece: string, hash?: number) => readonly number[] | null;
  readonly hash: (piece: string) => number;
} {
  const cache = new PieceCache(Buffer.from(key));
  const hash = (piece: string): number => cache.hash(unitsOf(piece), 0, piece.length);
  return {
    hash,
    put: (piece, ids, given) => {
      const out = new IdBuffer();
      for (const id of [7, ...ids]) out.push(id);
      cache.add(unitsOf(piece), 0, piece.length, given ?? hash(piece), out, 1);
    },
    get: (piece, given) => {
      const out = new IdBuffer();
      out.push(1);
      if (!cache.find(unitsOf(piece), 0, piece.length, given ?? hash(piece), out)) return null;
      return [...out.take()].slice(1);
    },
  };
}

describe('PieceCache', () => {
  it('gives back what it was given', () => {
    const { put, get } = cacheOf();
    const pieces = Array.from(
      { length: 500 },
      (_, i) => [`p${i}é漢`.repeat(1 + (i % 5)), Array.from({ length: i % 7 }, (_, k) => i * k)] as const,
    );
    for (const [piece, ids] of pieces) put(piece, ids);
    for (const [piece, ids] of pieces) expect(get(piece)).toEqual(ids);
    expect(get('unknown')).toBeNull();
  });

  it('tells pieces of one hash apart and looks at a bounded number of them', () => {
    const { put, get } = cacheOf();
    for (let i = 0; i < 1000; i++) put(`piece ${i}`, [i], 42);
    const found = Array.from({ length: 1000 }, (_, i) => get(`piece ${i}`, 42));
    expect(found.slice(0, 16)).toEqual(Array.from({ length: 16 }, (_, i) => [i]));
    expect(found.slice(16).every((ids) => ids === null)).toBe(true);
  });

  it('hashes by a key of the process', () => {
    expect(cacheOf('fixedkey').hash('a piece')).not.toBe(cacheOf('otherkey').hash('a piece'));
  });

  it('stays bounded, keeps what is in use and never gives wrong ids', () => {
    const { put, get } = cacheOf();
    put('in use', [1, 2, 3]);
    let kept = 0;
    for (let i = 0; i < 400_000; i++) {
      put(`${i}`, i % 2 === 0 ? [i] : [i, i]);
      if (i % 20_000 === 0) expect(get('in use')).toEqual([1, 2, 3]);
    }
    for (let i = 0; i < 400_000; i += 50) {
      const ids = get(`${i}`);
      if (ids === null) continue;
      kept++;
      expect(ids).toEqual([i]);
    }
    expect(kept).toBeGreaterThan(500);
    expect(kept).toBeLessThan(400_000 / 50 / 2);
  });

  it('is bounded by the letters and ids of its pieces as well', () => {
    const { put, get } = cacheOf();
    for (let i = 0; i < 40_000; i++) put(`${i}`.padEnd(128, 'x'), new Array(100).fill(i));
    expect(get('0'.padEnd(128, 'x'))).toBeNull();
    expect(get('39999'.padEnd(128, 'x'))).toEqual(new Array(100).fill(39_999));
  });
});
