import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commonLength, SpelledIds } from '../../src/engines/spelled-ids.js';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const spelled = (ids: Int32Array, by = new SpelledIds()): string => {
  by.become(ids);
  return text(by.body('')).slice(0, -1);
};

describe('SpelledIds', () => {
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
    expect(spelled(ids)).toBe(JSON.stringify([...ids]));
  });

  it('spells no ids and one id', () => {
    expect(spelled(new Int32Array(0))).toBe('[]');
    expect(spelled(Int32Array.of(5))).toBe('[5]');
  });

  it('grows beyond its estimate', () => {
    const ids = new Int32Array(5000).fill(2_147_483_647);
    expect(spelled(ids)).toBe(JSON.stringify([...ids]));
  });

  const ids = fc.array(fc.oneof(fc.nat(5), fc.nat(200_000), fc.integer()), { maxLength: 40 });

  it('equals JSON.stringify whatever it spelled before, in the array and in the body', () => {
    const step = fc.record({ keep: fc.nat(60), more: ids, head: fc.constantFrom('{"a":1,"b":', `{"é":"${'x'.repeat(3000)}","b":`) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        const it = new SpelledIds();
        let wanted: number[] = [];
        for (const { keep, more, head } of steps) {
          const before = wanted;
          wanted = [...wanted.slice(0, keep), ...more];
          const given = Int32Array.from(wanted);
          expect(it.become(given)).toBe(commonLength(Int32Array.from(before), given));
          expect([...it.ids]).toEqual(wanted);
          if (keep % 3 === 0) continue;
          expect(Buffer.from(it.body(head)).toString('utf8')).toBe(`${head}${JSON.stringify(wanted)}}`);
          expect(spelled(given, it)).toBe(JSON.stringify(wanted));
        }
      }),
    );
  });

  it('takes over a part of its own ids', () => {
    const it = new SpelledIds();
    it.become(Int32Array.of(1, 2, 3, 4));
    expect(spelled(it.ids.subarray(0, 2), it)).toBe('[1,2]');
    expect(spelled(it.ids, it)).toBe('[1,2]');
  });

  it('says the same in memory that held other prompts', () => {
    const free: ArrayBuffer[] = [];
    const memory = {
      take: (bytes: number) => {
        const at = free.findIndex((buffer) => buffer.byteLength >= bytes);
        return new Uint8Array(at < 0 ? new ArrayBuffer(bytes) : free.splice(at, 1)[0]!).fill(0x39);
      },
      give: (buffer: ArrayBuffer) => void free.push(buffer),
    };
    fc.assert(
      fc.property(fc.array(fc.tuple(ids, fc.nat(3)), { maxLength: 12 }), (steps) => {
        let it = new SpelledIds(memory);
        for (const [given, chance] of steps) {
          expect(spelled(Int32Array.from(given), it)).toBe(JSON.stringify(given));
          if (chance > 0) continue;
          it.release();
          expect(it.bytesHeld).toBe(0);
          if (given.length % 2 === 0) it = new SpelledIds(memory);
        }
        it.release();
        expect(new Set(free).size).toBe(free.length);
      }),
    );
  });

  it('spells a growing prompt in the memory it has', () => {
    const it = new SpelledIds();
    const prompt = new Int32Array(40_000).fill(151_643);
    it.become(prompt);
    it.body('{"ids":');
    const held = it.bytesHeld;
    const { buffer } = it.body('{"ids":');
    it.become(Int32Array.from([...prompt, ...new Int32Array(4000).fill(7)]));
    expect(it.body('{"ids":').buffer).toBe(buffer);
    expect(it.bytesHeld).toBe(held);
  });
});

it('commonLength counts the leading ids that two arrays share', () => {
  const ids = Int32Array.of(1, 2, 3, 4);
  expect(commonLength(ids, ids)).toBe(4);
  expect(commonLength(ids, Int32Array.of(1, 2, 9, 4))).toBe(2);
  expect(commonLength(ids, ids.subarray(0, 3))).toBe(3);
  expect(commonLength(ids, new Int32Array(0))).toBe(0);
});
