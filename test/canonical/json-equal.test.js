import { describe, expect, it } from 'vitest';
import { jsonEquals } from '../../src/canonical/json-equal.js';
import { parseJson } from '../../src/canonical/json-parse.js';

const equal = (a, b) => jsonEquals(parseJson(a, { allowNonFinite: true }), parseJson(b, { allowNonFinite: true }));
describe('jsonEquals', () => {
  it.each([
    ['{"a":1,"b":[1,2]}', '{ "b": [1.0, 2e0], "a": 1 }'],
    ['12345678901234567890', '12345678901234567890'],
    ['1e20', '100000000000000000000'],
    ['-0.0', '0'],
    ['"\\u00e9"', '"é"'],
    ['NaN', 'NaN'],
    ['1e400', 'Infinity'],
  ])('%s equals %s', (a, b) => {
    expect(equal(a, b)).toBe(true);
    expect(equal(b, a)).toBe(true);
  });
  it.each([
    ['12345678901234567890', '12345678901234567891'],
    ['12345678901234567891', '12345678901234567890.0'],
    ['9007199254740993', '9007199254740992.0'],
    ['1', 'true'],
    ['0', 'false'],
    ['1', '"1"'],
    ['null', '0'],
    ['null', '{}'],
    ['[]', '{}'],
    ['[1,2]', '[2,1]'],
    ['[1]', '[1,1]'],
    ['{"a":1}', '{"b":1}'],
    ['{"a":null}', '{}'],
    ['{"a":1}', '{"a":1,"b":null}'],
  ])('%s differs from %s', (a, b) => {
    expect(equal(a, b)).toBe(false);
    expect(equal(b, a)).toBe(false);
  });
});
