import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonSyntaxError, parseJson, parseJsonBytes } from '../../src/canonical/json-parse.js';
import { fromPlain } from '../../src/canonical/json-plain.js';
import { JsonFloat } from '../../src/canonical/json-value.js';
import { textOf, typedValue, vectors } from './json-vectors.js';

const failure = (run) => {
  try {
    run();
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};
describe('parseJson', () => {
  it('reads and refuses what Python reads and refuses', () => {
    expect(vectors.read.length).toBeGreaterThan(400);
    expect(vectors.read.filter((vector) => !vector.ok).length).toBeGreaterThan(70);
    for (const vector of vectors.read) {
      const text = textOf(vector.text);
      if (vector.ok) {
        const value = parseJson(text);
        expect(value, text).toStrictEqual(typedValue(vector.value));
        if (value instanceof Map) expect([...value.keys()]).toStrictEqual([...typedValue(vector.value).keys()]);
      } else expect(() => parseJson(text), text).toThrow(JsonSyntaxError);
    }
  });
  it('agrees with the built-in reader on random texts, however they are cut or damaged', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.constantFrom('', '"', '\\', '{', ']', ',', '0', '\n', 'é'), (text, at, insert) => {
        const cut = at % (text.length + 1);
        const damaged = text.slice(0, cut) + insert + text.slice(cut + (at % 2));
        let expected;
        try {
          expected = JSON.parse(damaged);
        } catch {
          expect(() => parseJson(damaged)).toThrow(JsonSyntaxError);
          return;
        }
        // 1e400 is a number to both; member order and `1.0` differ, which fromPlain of the built-in value cannot tell.
        expect(JSON.stringify(plain(parseJson(damaged)))).toBe(JSON.stringify(plain(fromPlain(expected))));
      }),
      { numRuns: 2000 },
    );
  });
  it('keeps the kinds of numbers apart', () => {
    const values = parseJson('[1, 1.0, -0, -0.0, 1e2, 9007199254740993, 1E400, 0.5]');
    expect(values).toStrictEqual([
      1,
      new JsonFloat(1),
      0,
      new JsonFloat(-0),
      new JsonFloat(100),
      9007199254740993n,
      Number.POSITIVE_INFINITY,
      0.5,
    ]);
    expect(Object.is(values[2], 0)).toBe(true);
  });
  it('keeps the order of members, and a repeated name keeps its first place and last value', () => {
    const members = parseJson('{"2":1,"1":2,"__proto__":3,"2":4}');
    expect([...members]).toStrictEqual([
      ['2', 4],
      ['1', 2],
      ['__proto__', 3],
    ]);
    expect({}.x).toBeUndefined();
  });
  it('takes numbers that are not finite only where asked to', () => {
    for (const word of ['NaN', 'Infinity', '-Infinity', '[NaN]']) expect(() => parseJson(word)).toThrow(/is not a JSON number/);
    expect(parseJson('[NaN,Infinity,-Infinity]', { allowNonFinite: true })).toStrictEqual([Number.NaN, Infinity, -Infinity]);
    expect(() => parseJson('-Inf', { allowNonFinite: true })).toThrow(JsonSyntaxError);
  });
  it('bounds the depth and says where it ended', () => {
    expect(parseJson('['.repeat(512) + ']'.repeat(512))).toHaveLength(1);
    expect(failure(() => parseJson('['.repeat(513) + ']'.repeat(513)))).toMatchObject({
      position: 512,
      reason: expect.stringContaining('512'),
    });
    expect(() => parseJson('{"a":'.repeat(100_000), { depth: 1e9 })).toThrow(/deeper than 2000/);
    expect(() => parseJson('[[1]]', { depth: 1 })).toThrow(JsonSyntaxError);
    expect(() => parseJson('[[],[],[{}]]', { depth: 3 })).not.toThrow();
  });
  it('bounds integers as Python does', () => {
    expect(parseJson('1'.repeat(4300))).toBe(BigInt('1'.repeat(4300)));
    expect(() => parseJson('1'.repeat(4301))).toThrow(/4301 digits/);
  });
  it.each([
    ['{"a":1,}', 7, /member name/],
    ['{"a" 1}', 5, /colon/],
    ['[1 2]', 3, /comma/],
    ['{"a":1 "b"}', 7, /comma/],
    ['[1, ', 4, /value is missing/],
    ['"abc', 0, /no end/],
    ['["x\\q"]', 3, /\\q/],
    ['["\\u12x4"]', 2, /four hexadecimal/],
    ['"a\tb"', 2, /control character/],
    ['1 2', 2, /follows/],
    ['\ufeff1', 0, /byte order mark/],
  ])('%j fails at %i', (text, position, reason) => {
    expect(failure(() => parseJson(text))).toMatchObject({ position, reason: expect.stringMatching(reason) });
  });
  it('is not misled by names that share a place in the cache of names', () => {
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 3000; i++) {
        const name = `n${i}${'x'.repeat(i % 45)}`;
        expect([...parseJson(`{"${name}":${i}}`)]).toStrictEqual([[name, i]]);
      }
    }
  });
});
describe('parseJsonBytes', () => {
  const bytes = (...values) => Uint8Array.from(values);
  it('reads UTF-8', () => {
    expect(parseJsonBytes(new TextEncoder().encode('["é😀\u2028","a"]'))).toStrictEqual(['é😀\u2028', 'a']);
  });
  it.each([
    ['a stray continuation', bytes(34, 0x80, 34), 1],
    ['an overlong form', bytes(34, 97, 0xc0, 0xaf, 34), 2],
    ['a cut character', bytes(34, 0xe2, 0x82, 34), 1],
    ['a surrogate', bytes(34, 0xed, 0xa0, 0x80, 34), 1],
    ['a character cut by the end', bytes(34, 97, 0xf0, 0x9f), 2],
  ])('refuses %s', (_, body, position) => {
    const error = failure(() => parseJsonBytes(body));
    expect(error.reason).toContain('UTF-8');
    expect(error.position).toBeGreaterThanOrEqual(position);
    expect(error.position).toBeLessThanOrEqual(position + 2);
  });
  it('refuses a byte order mark', () => {
    expect(() => parseJsonBytes(bytes(0xef, 0xbb, 0xbf, 49))).toThrow(/byte order mark/);
  });
});
const plain = (value) => {
  if (value instanceof JsonFloat) return value.value;
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  return value instanceof Map ? [...value].map(([name, item]) => [name, plain(item)]).sort() : value;
};
