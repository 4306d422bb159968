import { expect, test } from 'vitest';
import { endOfJsonString, endOfJsonValue, isDelimiter, showsItsEnd, skipJsonSpace } from '../../src/canonical/json-bytes.js';
import { JsonSyntaxError, parseJsonPart } from '../../src/canonical/json-parse.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test.each([
  ['"a"', ',1'],
  ['"a\\"]}"', ']'],
  ['"→\\\\"', '"x"'],
  ['{"a":"}","b":[{"c":[]}]}', '}'],
  ['[[],"]",{"a":[1]}]', ' ]'],
  ['-1.5e3', ','],
  ['true', '\n'],
  ['null', ''],
])('%s ends before "%s"', (value, rest) => {
  expect(endOfJsonValue(bytes(value + rest), 0)).toBe(bytes(value).length);
  expect(endOfJsonValue(bytes(`  ${value}${rest}`), 2)).toBe(bytes(value).length + 2);
  expect(parseJsonPart(`  ${value}${rest}`, 2).end).toBe(value.length + 2);
});

test.each(['"a', '"a\\', '"a\\"', '{"a":1', '["]"', '[{]'])('%s has no end', (text) => {
  expect(endOfJsonValue(bytes(text), 0)).toBe(text.length);
  expect(() => parseJsonPart(text, 0)).toThrow(JsonSyntaxError);
});

test('white space is what JSON has', () => {
  expect(skipJsonSpace(bytes(' \t\r\n\f1'), 0)).toBe(4);
  expect(skipJsonSpace(bytes('  '), 0)).toBe(2);
});

test('only strings, lists and objects show their end; the others end at a delimiter', () => {
  expect(['"', '[', '{', '1', 't', '-'].map((it) => showsItsEnd(bytes(it), 0))).toEqual([true, true, true, false, false, false]);
  expect([...',]} \t\n\r'].every((it) => isDelimiter(it.charCodeAt(0)))).toBe(true);
  expect([...'0e."x{['].some((it) => isDelimiter(it.charCodeAt(0)))).toBe(false);
  expect(isDelimiter(undefined)).toBe(true);
  expect(endOfJsonString(bytes('"ab"c'), 0)).toBe(4);
});

test('a part keeps the limits of a whole text', () => {
  expect(parseJsonPart('x[[1]]x', 1, { depth: 2 })).toEqual({ value: [[1]], end: 6 });
  expect(() => parseJsonPart('x[[1]]x', 1, { depth: 1 })).toThrow(JsonSyntaxError);
  expect(() => parseJsonPart('x', 1)).toThrow(JsonSyntaxError);
});
