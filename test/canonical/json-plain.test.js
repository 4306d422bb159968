import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/canonical/json-parse.js';
import { fromPlain, toPlain } from '../../src/canonical/json-plain.js';
import { JsonFloat } from '../../src/canonical/json-value.js';

describe('fromPlain', () => {
  it('makes whole numbers integers and leaves undefined members out', () => {
    expect(fromPlain({ a: 1, b: 0.5, c: undefined, d: [null, 'x', 2n], e: 1e300, f: -0 })).toStrictEqual(
      new Map([
        ['a', 1],
        ['b', 0.5],
        ['d', [null, 'x', 2n]],
        ['e', new JsonFloat(1e300)],
        ['f', new JsonFloat(-0)],
      ]),
    );
  });
  it('refuses what JSON has no word for', () => {
    expect(() => fromPlain({ f: () => 1 })).toThrow(TypeError);
    expect(() => fromPlain([undefined])).toThrow(TypeError);
  });
});
describe('toPlain', () => {
  it('gives objects that no member name can poison', () => {
    const plain = toPlain(parseJson('{"__proto__":{"polluted":1},"n":1.0,"big":12345678901234567890}'));
    expect(Object.getPrototypeOf(plain)).toBe(null);
    expect(Object.keys(plain)).toStrictEqual(['__proto__', 'n', 'big']);
    expect(plain.n).toBe(1);
    expect(plain.big).toBe(12345678901234567000);
    expect({}.polluted).toBeUndefined();
  });
});
