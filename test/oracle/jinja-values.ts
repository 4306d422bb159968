import type { Random } from './random.js';

const TEXTS = [
  '',
  ' ',
  'a',
  'ab',
  'abc',
  'Hello World',
  '  pad  ',
  '\n line\n',
  'a,b,c',
  'x\ty',
  'é',
  'ß',
  'İstanbul',
  'ΑΣ',
  'ŉ',
  'ǆ',
  '日本',
  '😀',
  'a😀b',
  'e\u0301',
  '<b>&"\'</b>',
  "it's",
  'say "hi"',
  'both \' and "',
  'back\\slash',
  '\u0085\u2028x',
  '\ufeffbom',
  '\x1cfs\x1f',
  '\u00a0nbsp',
  '12',
  '-7',
  '3.5',
  '1e3',
  '0x1f',
  'True',
  'none',
  'a-b_c',
  'foo bar baz qux',
  'UPPER',
  'MiXeD cAsE',
  'one\r\ntwo\rthree\n',
  '{0}',
  '%s',
  '%d%%',
  'http://a.com',
  '\u0000nul',
  '\x7f',
  '\u{10ffff}',
  'zzzz',
] as const;
const KEYS = ['a', 'b', 'c', 'items', 'keys', 'get', 'pop', 'role', 'content', '10', '2', 'name', 'type', 'x y', 'é', '_p'] as const;
const NUMBERS = [
  '0',
  '1',
  '2',
  '3',
  '-1',
  '-7',
  '10',
  '255',
  '1.0',
  '0.5',
  '-0.0',
  '2.5',
  '-3.7',
  '1e16',
  '1e-7',
  '123456789012345678901234567890',
  '0.1',
  '1e22',
  '3.14159',
  '9007199254740993',
  '1E3',
  '99.995',
];

/** JSON text of a random value. */
export function randomJson(random: Random, depth = 3): string {
  const kind = random.int(depth > 0 ? 10 : 6);
  if (kind <= 2) return JSON.stringify(random.pick(TEXTS));
  if (kind <= 4) return random.pick(NUMBERS);
  if (kind === 5) return random.pick(['null', 'true', 'false']);
  return kind <= 7 ? randomList(random, depth) : randomDict(random, depth);
}

function randomList(random: Random, depth: number): string {
  const count = random.int(5);
  const uniform = random.chance(0.6) ? random.int(4) : -1;
  const item = (): string => {
    if (uniform === 0) return JSON.stringify(random.pick(TEXTS));
    if (uniform === 1) return random.pick(NUMBERS);
    if (uniform === 2) return randomDict(random, depth - 1);
    return randomJson(random, depth - 1);
  };
  return `[${Array.from({ length: count }, item).join(',')}]`;
}

function randomDict(random: Random, depth: number): string {
  const count = random.int(5);
  return `{${Array.from({ length: count }, () => `${JSON.stringify(random.pick(KEYS))}:${randomJson(random, depth - 1)}`).join(',')}}`;
}

/** JSON text of the variables of a template: names by the kind of value that they usually hold. */
export function randomContext(random: Random): string {
  const members = [
    `"s":${JSON.stringify(random.pick(TEXTS))}`,
    `"t":${JSON.stringify(random.pick(TEXTS))}`,
    `"n":${random.pick(NUMBERS)}`,
    `"m":${random.pick(NUMBERS)}`,
    `"l":${randomList(random, 2)}`,
    `"k":${randomList(random, 3)}`,
    `"d":${randomDict(random, 2)}`,
    `"e":${randomDict(random, 3)}`,
    `"v":${randomJson(random)}`,
    `"w":${randomJson(random)}`,
    `"yes":true`,
    `"no":false`,
    `"nil":null`,
  ];
  return `{${members.filter(() => random.chance(0.985)).join(',')}}`;
}

export const literalTexts: readonly string[] = TEXTS;
export const keyNames: readonly string[] = KEYS;
