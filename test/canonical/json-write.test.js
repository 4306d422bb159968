import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/canonical/json-parse.js';
import { compactJson, compareCodePoints, formatFloat, quoteJson, writeJson } from '../../src/canonical/json-write.js';
import { textOf, typedValue, vectors } from './json-vectors.js';

describe('writeJson', () => {
  it('writes what Python writes in every style', () => {
    expect(vectors.written.length).toBe(200);
    for (const { value, style, text } of vectors.written) {
      const written = writeJson(typedValue(value), {
        ensureAscii: style.ensure_ascii ?? true,
        indent: style.indent ?? null,
        sortKeys: style.sort_keys ?? false,
        ...(style.separators ? { separators: style.separators } : {}),
      });
      expect(written).toBe(textOf(text));
    }
  });
  it('returns what was read, spelled as Python would', () => {
    const text = '{"b": [1, 1.0, 12345678901234567890, -0.0, 1e+16], "1": "é\\n", "0": null}';
    expect(writeJson(parseJson(text))).toBe(text);
    expect(compactJson(parseJson(text))).toBe('{"b":[1,1.0,12345678901234567890,-0.0,1e+16],"1":"é\\n","0":null}');
  });
});
describe('formatFloat', () => {
  it('is the repr of Python', () => {
    for (const { bytes, repr } of vectors.floats) expect(formatFloat(Buffer.from(bytes, 'hex').readDoubleBE())).toBe(repr);
    expect([Number.NaN, Infinity, -Infinity].map(formatFloat)).toStrictEqual(['NaN', 'Infinity', '-Infinity']);
  });
});
describe('quoteJson', () => {
  it('keeps lone surrogates unless everything becomes ASCII', () => {
    expect(quoteJson('a\ud800"\n')).toBe('"a\ud800\\"\\n"');
    expect(quoteJson('a\ud800é\x7f', true)).toBe('"a\\ud800\\u00e9\\u007f"');
  });
});
describe('compareCodePoints', () => {
  it('orders by code points, lone halves before whole characters', () => {
    const sorted = ['', 'a', 'ab', 'b', '\ud83d', '\ud83d\u{10000}', '\ud83da', '\uffff', '\u{1f600}', '\u{1f600}a', '\u{1f601}'];
    const byPoints = (text) => [...text].map((letter) => letter.codePointAt(0));
    const expected = [...sorted].sort((a, b) => {
      const [x, y] = [byPoints(a), byPoints(b)];
      for (let i = 0; i < Math.min(x.length, y.length); i++) if (x[i] !== y[i]) return x[i] - y[i];
      return x.length - y.length;
    });
    expect([...sorted].reverse().sort(compareCodePoints)).toStrictEqual(expected);
  });
});
