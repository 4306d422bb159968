import { expect, test } from 'vitest';
import { parseJson } from '../../src/canonical/json-parse.js';
import type { JsonObject } from '../../src/canonical/json-value.js';
import { type RootKey, rootHash, sameRoot } from '../../src/trajectory/root.js';

const json = (text: string) => parseJson(text) as JsonObject;
const key = (more: Partial<RootKey> = {}): RootKey => ({
  model: 'policy',
  tools: [
    { name: 'a', description: 'does a', parameters: json('{"type":"object","properties":{"x":{"type":"number","default":1}}}') },
    { name: 'b' },
  ],
  templateKwargs: json('{"enable_thinking":true,"depth":2}'),
  ...more,
});

test('equal roots are equal, whatever objects hold them', () => {
  expect(sameRoot(key(), key())).toBe(true);
  expect(rootHash(key())).toBe(rootHash(key()));
  const reordered = key({ templateKwargs: json('{"depth":2,"enable_thinking":true}') });
  expect(sameRoot(key(), reordered)).toBe(true);
  expect(rootHash(key())).toBe(rootHash(reordered));
});

test.each<[string, Partial<RootKey>]>([
  ['model', { model: 'adapter' }],
  ['a tool less', { tools: key().tools.slice(0, 1) }],
  ['order of tools', { tools: key().tools.toReversed() }],
  ['description', { tools: [{ ...key().tools[0]!, description: 'does A' }, key().tools[1]!] }],
  ['description gone', { tools: [{ name: 'a', parameters: key().tools[0]!.parameters! }, key().tools[1]!] }],
  [
    'order in a schema, which templates print',
    {
      tools: [
        { ...key().tools[0]!, parameters: json('{"properties":{"x":{"type":"number","default":1}},"type":"object"}') },
        key().tools[1]!,
      ],
    },
  ],
  [
    'spelling of a number, which templates print',
    {
      tools: [
        { ...key().tools[0]!, parameters: json('{"type":"object","properties":{"x":{"type":"number","default":1.0}}}') },
        key().tools[1]!,
      ],
    },
  ],
  ['a variable', { templateKwargs: json('{"enable_thinking":false,"depth":2}') }],
  ['a variable less', { templateKwargs: json('{"enable_thinking":true}') }],
])('another root: %s', (_, more) => {
  expect(sameRoot(key(), key(more))).toBe(false);
  expect(sameRoot(key(more), key())).toBe(false);
});
