import { describe, expect, it } from 'vitest';
import { writeJson } from '../../src/canonical/json-write.js';
import { locatePythonCall, readNumber, readPythonLiteral } from '../../src/families/python-literal.js';

const json = (text: string): string | undefined => {
  const value = readPythonLiteral(text);
  return value === undefined ? undefined : writeJson(value);
};

describe('Python literals', () => {
  it.each([
    ["'a'", '"a"'],
    ['"it\'s"', '"it\'s"'],
    [String.raw`'\'\"\\\n\t\x41\u00e9\U0001F600\q'`, String.raw`"'\"\\\n\tAé😀\\q"`],
    [String.raw`r'\n'`, String.raw`"\\n"`],
    ["'''a\n'b'''", '"a\\n\'b"'],
    ['True', 'true'],
    ['None', 'null'],
    ['false', 'false'],
    ['7', '7'],
    ['-7', '-7'],
    ['+7', '7'],
    ['1_000', '1000'],
    ['1.0', '1.0'],
    ['.5', '0.5'],
    ['5.', '5.0'],
    ['1e3', '1000.0'],
    ['12345678901234567890', '12345678901234567890'],
    ['[]', '[]'],
    ["[1, 'a', None,]", '[1, "a", null]'],
    ['(1, 2)', '[1, 2]'],
    ['(1,)', '[1]'],
    ['(1)', '1'],
    ['()', '[]'],
    ['{}', '{}'],
    ["{'a': {'b': [True]}, 'c': 1.5}", '{"a": {"b": [true]}, "c": 1.5}'],
    ['{1: 2}', '{"1": 2}'],
    ['{1, 2}', '[1, 2]'],
    [' 1 ', '1'],
  ])('%s is %s', (text, expected) => {
    expect(json(text)).toBe(expected);
  });

  it.each(['', 'foo', '1+1', "'a", '[1', '{1: }', '[1 2]', 'Truex', '{1, 2: 3}', '1 2', '--1'])('%j is none', (text) => {
    expect(json(text)).toBeUndefined();
  });

  it('does not go deeper than it can', () => {
    expect(json('['.repeat(5000) + ']'.repeat(5000))).toBeUndefined();
  });
});

describe('numbers as Python spells them', () => {
  it.each(['', '.', '-', '1.2.3', '0x10', 'e5', 'inf', '1e'])('%j is none', (text) => {
    expect(readNumber(text)).toBeUndefined();
  });

  it('takes leading zeros, which JSON does not', () => {
    expect(readNumber('007')).toBe(7);
  });
});

describe('Python calls', () => {
  it.each([
    ['f()', 'f {}'],
    ["f(a=1, b='x')", 'f {"a": 1, "b": "x"}'],
    ['mod.f( a = [1, 2] , )', 'mod.f {"a": [1, 2]}'],
    ["f(s='it's', n=1)", 'f {"s": "it\'s", "n": 1}'],
    ["f(s='say 'hi'')", 'f {"s": "say \'hi\'"}'],
  ])('%s is %s', (text, expected) => {
    const call = locatePythonCall(text, 0);
    expect(call && `${call.name} ${writeJson(call.value)}`).toBe(expected);
    expect(call?.end).toBe(text.length);
  });

  it.each(['f', 'f(', 'f(1)', 'f(a)', 'f(a=)', 'f(a=b)', 'f(a=1', '(a=1)', 'f(a=1 b=2)'])('%j is none', (text) => {
    expect(locatePythonCall(text, 0)).toBeNull();
  });
});
