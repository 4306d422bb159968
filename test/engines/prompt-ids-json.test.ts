import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commonLength, promptIdsJson } from '../../src/engines/prompt-ids-json.js';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

describe('promptIdsJson', () => {
  it('spells every length of number', () => {
    const ids = Int32Array.of(
      0,
      9,
      10,
      99,
      100,
      999,
      1000,
      9999,
      10_000,
      99_999,
      100_000,
      999_999,
      1e6,
      9_999_999,
      1e7,
      99_999_999,
      1e8,
      1e9,
      2_147_483_647,
      -1,
      -2_147_483_648,
    );
    expect(text(promptIdsJson(ids).bytes)).toBe(JSON.stringify([...ids]));
  });

  it('spells no ids and one id', () => {
    expect(text(promptIdsJson(new Int32Array(0)).bytes)).toBe('[]');
    expect(text(promptIdsJson(Int32Array.of(5)).bytes)).toBe('[5]');
  });

  it('grows beyond its estimate', () => {
    const ids = new Int32Array(5000).fill(2_147_483_647);
    expect(text(promptIdsJson(ids).bytes)).toBe(JSON.stringify([...ids]));
  });

  it('equals JSON.stringify whatever was written before', () => {
    const ids = fc.array(fc.oneof(fc.nat(5), fc.nat(200_000), fc.integer()), { maxLength: 40 });
    fc.assert(
      fc.property(ids, ids, ids, (common, before, after) => {
        const from = promptIdsJson(Int32Array.from([...common, ...before]));
        const wanted = Int32Array.from([...common, ...after]);
        expect(text(promptIdsJson(wanted, from).bytes)).toBe(JSON.stringify([...wanted]));
      }),
    );
  });
});

it('commonLength counts the leading ids that two arrays share', () => {
  const ids = Int32Array.of(1, 2, 3, 4);
  expect(commonLength(ids, ids)).toBe(4);
  expect(commonLength(ids, Int32Array.of(1, 2, 9, 4))).toBe(2);
  expect(commonLength(ids, ids.subarray(0, 3))).toBe(3);
  expect(commonLength(ids, new Int32Array(0))).toBe(0);
});
