import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MergeTable } from '../../src/rendering/bpe-merges.js';
import { LongWord, mergeShortWord, SHORT_WORD_MAX } from '../../src/rendering/bpe-word.js';
import { IdBuffer } from '../../src/rendering/encoder-buffers.js';

/** Byte-pair encoding as its definition says: merge the first pair of the lowest rank until there is none. */
function byDefinition(symbols: readonly number[], merges: ReadonlyMap<string, readonly [number, number]>): readonly number[] {
  const word = [...symbols];
  for (;;) {
    let best = -1;
    let rank = Number.POSITIVE_INFINITY;
    for (let i = 0; i + 1 < word.length; i++) {
      const found = merges.get(`${word[i]} ${word[i + 1]}`);
      if (found !== undefined && found[0] < rank) [rank, best] = [found[0], i];
    }
    if (best < 0) return word;
    word.splice(best, 2, merges.get(`${word[best]} ${word[best + 1]}`)![1]);
  }
}

/** Merges over the symbols 0 to 3, each new token named by its letters, as training makes them. */
const vocabulary = fc.array(fc.tuple(fc.nat(30), fc.nat(30)), { minLength: 1, maxLength: 40 }).map((pairs) => {
  const names = ['a', 'b', 'c', 'd'];
  const merges = new Map<string, readonly [number, number]>();
  for (const [l, r] of pairs) {
    const [left, right] = [l % names.length, r % names.length];
    const name = names[left]! + names[right]!;
    if (!names.includes(name)) names.push(name);
    if (!merges.has(`${left} ${right}`)) merges.set(`${left} ${right}`, [merges.size, names.indexOf(name)]);
  }
  return merges;
});

describe('byte-pair encoding of a word', () => {
  it('property: short and long words merge as the definition says, in steps of any size', () => {
    fc.assert(
      fc.property(
        vocabulary,
        fc.array(fc.nat(3), { minLength: 1, maxLength: SHORT_WORD_MAX }),
        fc.integer({ min: 1, max: 50 }),
        (merges, word, work) => {
          const table = new MergeTable(merges.size);
          for (const [pair, [rank, whole]] of merges) table.add(Number(pair.split(' ')[0]), Number(pair.split(' ')[1]), rank, whole);
          const expected = byDefinition(word, merges);
          const short = new IdBuffer();
          mergeShortWord(Int32Array.from([...word, 0]), word.length, table, short);
          expect([...short.take()]).toEqual(expected);
          const long = new LongWord(Int32Array.from(word), table);
          while (!long.step(work));
          const out = new IdBuffer();
          long.append(out);
          expect([...out.take()]).toEqual(expected);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('takes the later rank of a pair that is listed twice', () => {
    const table = new MergeTable(4);
    table.add(0, 1, 0, 2);
    table.add(1, 0, 1, 3);
    table.add(0, 1, 2, 2);
    const out = new IdBuffer();
    mergeShortWord(Int32Array.from([0, 1, 0]), 3, table, out);
    expect([...out.take()]).toEqual([0, 3]);
    expect(table.find(5, 5)).toBe(-1);
  });
});
