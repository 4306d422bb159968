import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/canonical/message.js';
import { messageHash, sameMessage } from '../../src/trajectory/identity.js';
import { assistant, call, system, tool, user } from '../support/trajectory-fixtures.js';

const calls = (...args: string[]) => assistant(null, { toolCalls: args.map((text) => call('f', text)) });

/** One line per ignored difference, by the name that `identity.ts` gives it. */
const same: [rule: string, a: Message, b: Message][] = [
  ['empty_text: null and ""', assistant(null), assistant('')],
  ['empty_text: white space alone', assistant(' \n\t'), assistant(null)],
  ['empty_text: of a user', user(''), user('\n')],
  ['empty_reasoning: null and ""', assistant('a', { reasoning: '' }), assistant('a')],
  [
    'call_ids: renamed',
    assistant(null, { toolCalls: [call('f', '{}', 'call_1')] }),
    assistant(null, { toolCalls: [call('f', '{}', 'toolu_x')] }),
  ],
  ['call_ids: of a result', tool('r', 'call_1'), tool('r', 'toolu_x')],
  ['json_spelling: order of keys', calls('{"a":1,"b":2}'), calls('{"b":2,"a":1}')],
  ['json_spelling: spacing', calls('{"a": 1 }'), calls('{"a":1}')],
  ['json_spelling: escapes', calls('{"a":"\\u00e9\\/"}'), calls('{"a":"é/"}')],
  ['json_spelling: 1 and 1.0', calls('{"a":1.0,"b":1e3,"c":-0}'), calls('{"a":1,"b":1000,"c":0}')],
  ['json_spelling: large integers', calls('{"a":12345678901234567890}'), calls('{ "a":12345678901234567890 }')],
  ['json_spelling: nested', calls('{"a":[{"x":1,"y":[2.0]}]}'), calls('{"a":[{"y":[2],"x":1.0}]}')],
  ['blank_arguments: "" and {}', calls(''), calls('{}')],
  ['names: of a tool result', tool('r', null, { name: 'f' }), tool('r')],
  ['no JSON, same text', calls('{"a":'), calls('{"a":')],
];

const different: [what: string, a: Message, b: Message][] = [
  ['role', user('a'), system('a')],
  ['role of equal text', user('a'), assistant('a')],
  ['text', user('a'), user('b')],
  ['trailing space', user('a '), user('a')],
  ['text of an assistant, to the space', assistant('a\n'), assistant('a')],
  ['reasoning', assistant('a', { reasoning: 'x' }), assistant('a', { reasoning: 'y' })],
  ['reasoning, there and not', assistant('a', { reasoning: 'x' }), assistant('a')],
  ['text in reasoning instead', assistant('x', { reasoning: null }), assistant(null, { reasoning: 'x' })],
  ['a call missing', calls('{}', '{"a":1}'), calls('{}')],
  ['order of calls', calls('{"a":1}', '{"a":2}'), calls('{"a":2}', '{"a":1}')],
  ['name of a call', assistant(null, { toolCalls: [call('f', '{}')] }), assistant(null, { toolCalls: [call('g', '{}')] })],
  ['an argument', calls('{"a":1}'), calls('{"a":2}')],
  ['an argument more', calls('{"a":1}'), calls('{"a":1,"b":null}')],
  ['order in a list', calls('{"a":[1,2]}'), calls('{"a":[2,1]}')],
  ['number and string', calls('{"a":1}'), calls('{"a":"1"}')],
  ['integers that a double would join', calls('{"a":12345678901234567890}'), calls('{"a":12345678901234567891}')],
  ['no JSON, other text', calls('{"a":'), calls('{"b":')],
  ['no JSON and {}', calls('{oops}'), calls('{}')],
  ['error mark', tool('r', null, { isError: true }), tool('r')],
  ['text of a result', tool('r'), tool('s')],
];

describe('messages are the same', () => {
  test.each(same)('%s', (_, a, b) => {
    expect(sameMessage(a, -1, b, -1)).toBe(true);
    expect(sameMessage(b, -1, a, -1)).toBe(true);
    expect(messageHash(a, -1)).toBe(messageHash(b, -1));
  });
});

describe('messages differ', () => {
  test.each(different)('%s', (_, a, b) => {
    expect(sameMessage(a, -1, b, -1)).toBe(false);
    expect(sameMessage(b, -1, a, -1)).toBe(false);
  });

  test('and so do their hashes, but for integers that are one double', () => {
    const alike = different.filter(([, a, b]) => messageHash(a, -1) === messageHash(b, -1)).map(([what]) => what);
    expect(alike).toEqual(['integers that a double would join']);
  });

  test('a result of the first call and the same result of the second', () => {
    expect(sameMessage(tool('r'), 0, tool('r'), 1)).toBe(false);
    expect(messageHash(tool('r'), 0)).not.toBe(messageHash(tool('r'), 1));
    const result = tool('r');
    expect(sameMessage(result, 0, result, 1)).toBe(false);
  });
});
