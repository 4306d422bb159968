import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/canonical/json-value.js';
import { GatewayError } from '../../src/errors.js';
import { parseBody } from '../../src/protocols/request-body.js';
import { BodyMemory, BodyShelf } from '../../src/shard/body-memory.js';
import { below, bodyText, chatMessage, chatTool, oneOf, type Random, seeded, utf8 } from './bodies.js';

const DEPTH = 12;
const newMemory = (bytesMax = 1e9): BodyMemory => new BodyMemory(new BodyShelf(bytesMax), DEPTH);

const read = (memory: BodyMemory, body: string | Uint8Array): JsonObject => {
  const found = memory.read('p', typeof body === 'string' ? utf8(body) : body);
  memory.keep(found);
  return found.value;
};
const messagesOf = (body: JsonObject): readonly JsonValue[] => body.get('messages') as readonly JsonValue[];

/** What reading says: the value with the order of its members, or the refusal. */
const outcome = (run: () => JsonObject): unknown => {
  try {
    return [...run()];
  } catch (error) {
    if (error instanceof GatewayError) return { code: error.code, message: error.message };
    throw error;
  }
};

const say = (content: string): object => ({ role: 'user', content });
const body = (messages: readonly object[], members: object = {}): string =>
  JSON.stringify({ model: 'm', messages, tools: [chatTool(0), chatTool(1)], stream: true, ...members });

describe('what was read before is the same object', () => {
  test('in a history that grows', () => {
    const memory = newMemory();
    const first = read(memory, body([say('a'), say('b')]));
    const second = read(memory, body([say('a'), say('b'), say('c')]));
    expect(messagesOf(second).slice(0, 2)).toEqual(messagesOf(first));
    expect(messagesOf(second)[0]).toBe(messagesOf(first)[0]);
    expect(messagesOf(second)[1]).toBe(messagesOf(first)[1]);
    expect(second.get('tools')).toBe(first.get('tools'));
    expect(memory.size).toBe(1);
  });

  test('behind messages that changed, came or went', () => {
    const memory = newMemory();
    const first = messagesOf(read(memory, body([say('a'), say('b'), say('c'), say('d'), say('e')])));
    const changed = messagesOf(read(memory, body([say('changed'), say('b'), say('c'), say('new'), say('d'), say('e')])));
    expect(changed[1]).toBe(first[1]);
    expect(changed[2]).toBe(first[2]);
    expect(changed[4]).toBe(first[3]);
    expect(changed[5]).toBe(first[4]);
    const shorter = messagesOf(read(memory, body([say('c'), say('e')])));
    expect(shorter[0]).toBe(first[2]);
    expect(shorter[1]).toBe(first[4]);
  });

  test('for members in another order and with other spaces between them', () => {
    const memory = newMemory();
    const first = read(memory, '{"tools":[{"name":"a"}],"messages":[{"r":1},{"r":2}],"kwargs":{"x":[1]}}');
    const second = read(memory, ' { "kwargs" : {"x":[1]} ,\n"messages":[ {"r":1} ,{"r":2}, {"r":3}], "tools":[{"name":"a"} ] } ');
    expect([...second.keys()]).toEqual(['kwargs', 'messages', 'tools']);
    expect(second.get('kwargs')).toBe(first.get('kwargs'));
    expect(second.get('tools')).toBe(first.get('tools'));
    expect(messagesOf(second)[1]).toBe(messagesOf(first)[1]);
  });

  test('on branches that take turns', () => {
    const memory = newMemory();
    const main = Array.from({ length: 9 }, (_, i) => say(`main ${i}`));
    const agent = Array.from({ length: 9 }, (_, i) => say(`agent ${i}`));
    const firstMain = messagesOf(read(memory, body(main)));
    const firstAgent = messagesOf(read(memory, body(agent)));
    expect(memory.size).toBe(2);
    for (let turn = 0; turn < 5; turn++) {
      main.push(say(`main turn ${turn}`));
      agent.push(say(`agent turn ${turn}`));
      expect(messagesOf(read(memory, body(main)))[8]).toBe(firstMain[8]);
      expect(messagesOf(read(memory, body(agent)))[8]).toBe(firstAgent[8]);
    }
    expect(memory.size).toBe(2);
  });
});

test('each of many branches from one beginning is read against its own last body', () => {
  const memory = newMemory();
  const start = Array.from({ length: 5 }, (_, i) => say(`start ${i}`));
  const branches = Array.from({ length: 9 }, (_, b) => [
    ...start,
    ...Array.from({ length: 5 }, (_, i) => say(`${b} goes its own way ${i}`)),
  ]);
  const before = branches.map((branch) => messagesOf(read(memory, body(branch))));
  for (let turn = 0; turn < 3; turn++) {
    for (const [b, branch] of branches.entries()) {
      branch.push(say(`${b} turn ${turn}`));
      const found = messagesOf(read(memory, body(branch)));
      expect(found.slice(0, -1).every((message, i) => message === before[b]![i])).toBe(true);
      before[b] = found;
    }
  }
  expect(memory.size).toBe(9);
});

describe('the plain reader has the say', () => {
  test.each([
    ['a number that goes on', '{"messages":[1,2],"n":1}', '{"messages":[1,23],"n":12}'],
    ['a number that ends the shared bytes', '{"messages":[1],"n":1}', '{"messages":[1.5],"n":1e3}'],
    ['a word that goes on', '{"messages":[true]}', '{"messages":[truex]}'],
    ['a member twice', '{"messages":[{"a":1}],"n":1}', '{"messages":[{"a":1}],"n":1,"n":2}'],
    ['a member twice, spelled differently', '{"messages":[{"a":1}]}', '{"messages":[{"a":1}],"m\\u0065ssages":[{"a":2}]}'],
    ['a comma too many', '{"messages":[{"a":1}]}', '{"messages":[{"a":1},]}'],
    ['an end too early', '{"messages":[{"a":1}]}', '{"messages":[{"a":1}'],
    ['something behind', '{"messages":[{"a":1}]}', '{"messages":[{"a":1}]}x'],
    ['a list that became an object', '{"messages":[{"a":1}]}', '{"messages":{"a":1}}'],
    ['an empty list', '{"messages":[{"a":1}],"tools":[]}', '{"messages":[],"tools":[ ]}'],
    ['an empty object', '{"messages":[{"a":1}]}', '{}'],
    ['no object', '{"messages":[{"a":1}]}', '[{"a":1}]'],
    ['nothing', '{"messages":[{"a":1}]}', ''],
    ['a byte order mark', '{"messages":[{"a":1}]}', '\ufeff{"messages":[{"a":1}]}'],
    ['nesting beyond the limit', '{"messages":[{"a":1}]}', `{"messages":[{"a":1},${'['.repeat(DEPTH - 1)}${']'.repeat(DEPTH - 1)}]}`],
    ['nesting at the limit', '{"messages":[{"a":1}]}', `{"messages":[{"a":1},${'['.repeat(DEPTH - 2)}${']'.repeat(DEPTH - 2)}]}`],
    ['a lone surrogate', '{"messages":[{"a":1}]}', '{"messages":[{"a":1},{"a":"\\ud800"}]}'],
    ['an escape cut in two', '{"messages":["a\\\\"]}', '{"messages":["a\\\\","b"]}'],
  ])('%s', (_, first, second) => {
    const memory = newMemory();
    read(memory, first);
    const plain = outcome(() => parseBody(utf8(second), DEPTH));
    expect(outcome(() => read(memory, second))).toEqual(plain);
    expect(outcome(() => read(memory, first))).toEqual(outcome(() => parseBody(utf8(first), DEPTH)));
  });

  test('bytes that are no UTF-8, wherever they stand', () => {
    const memory = newMemory();
    const good = utf8(body([say('→ ü'), say('值')]));
    read(memory, good);
    for (let at = 0; at < good.length; at++) {
      const bad = good.slice();
      bad[at] = 0xff;
      expect(outcome(() => read(memory, bad))).toEqual(outcome(() => parseBody(bad, DEPTH)));
      expect(outcome(() => read(memory, good.subarray(0, at)))).toEqual(outcome(() => parseBody(good.subarray(0, at), DEPTH)));
    }
    expect(memory.size).toBe(1);
  });
});

test('reading with a memory says what reading without one says, over random edits of bodies', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = seeded(seed);
    const memory = newMemory();
    let messages: object[] = [chatMessage(random)];
    const tools = Array.from({ length: below(random, 4) }, (_, i) => chatTool(i));
    const isSpaced = random() < 0.3;
    for (let turn = 0; turn < 30; turn++) {
      messages = edited(messages, random);
      const members: [string, unknown][] = [
        ['model', 'm'],
        ['messages', messages],
        ['tools', random() < 0.9 ? tools : tools.slice(1)],
        ['seed', below(random, 200)],
        ['stream', random() < 0.5],
      ];
      if (random() < 0.2) members.sort(() => random() - 0.5);
      const whole = utf8(bodyText(members, isSpaced));
      const bytes = damaged(whole, random);
      const seen = `seed ${seed}, turn ${turn}`;
      expect(
        outcome(() => read(memory, bytes)),
        seen,
      ).toEqual(outcome(() => parseBody(bytes, DEPTH)));
    }
  }
});

function edited(messages: readonly object[], random: Random): object[] {
  const at = below(random, messages.length + 1);
  switch (below(random, 8)) {
    case 0:
      return messages.toSpliced(at, 1, chatMessage(random));
    case 1:
      return messages.toSpliced(at, below(random, 4));
    case 2:
      return messages.toSpliced(at, 0, chatMessage(random), chatMessage(random));
    case 3:
      return [chatMessage(random), ...messages.slice(-2)];
    default:
      return [...messages, chatMessage(random)];
  }
}

/** Often the bytes as they are, else cut, or with one byte of them other, gone or doubled. */
function damaged(bytes: Uint8Array, random: Random): Uint8Array {
  if (random() < 0.6 || bytes.length === 0) return bytes;
  const at = below(random, bytes.length);
  const copy = [...bytes];
  switch (below(random, 4)) {
    case 0:
      return bytes.slice(0, at);
    case 1:
      copy[at] = oneOf(random, [...utf8('"\\{}[],:0 1x-\n'), 0xff, 0xc3, 0]);
      break;
    case 2:
      copy.splice(at, 1);
      break;
    default:
      copy.splice(at, 0, copy[at]!);
  }
  return Uint8Array.from(copy);
}

describe('digests', () => {
  test('are equal for equal bodies, whatever they were read against', () => {
    for (let seed = 1; seed <= 10; seed++) {
      const random = seeded(seed);
      const memory = newMemory();
      let messages: object[] = [chatMessage(random)];
      for (let turn = 0; turn < 10; turn++) {
        messages = edited(messages, random);
        const bytes = utf8(body(messages));
        const fresh = newMemory().read('p', bytes.slice()).digest;
        const found = memory.read('p', bytes);
        memory.keep(found);
        expect(found.digest).toBe(fresh);
        expect(memory.read('p', bytes.slice()).digest).toBe(fresh);
        expect(memory.read('q', bytes.slice()).digest).not.toBe(fresh);
      }
    }
  });

  test('differ where bodies differ', () => {
    const memory = newMemory();
    const texts = [
      body([say('a'), say('b')]),
      body([say('b'), say('a')]),
      body([say('a'), say('c')]),
      body([say('a'), say('b')], { stream: null }),
      body([say('a'), say('b')], { seed: 1 }),
      body([say('a'), say('b')], { sood: 1 }),
      '{"broken":1,"broken":2}',
      '{"broken":1,"broken":3}',
    ];
    const digests = texts.map((it) => memory.read('p', utf8(it)).digest);
    expect(new Set(digests).size).toBe(texts.length);
  });
});

describe('bounds', () => {
  test('a session remembers sixteen branches, the oldest goes', () => {
    const memory = newMemory();
    for (let i = 0; i < 30; i++) read(memory, body(Array.from({ length: 6 }, (_, k) => say(`${i} ${k}`))));
    expect(memory.size).toBe(16);
  });

  test('a shard forgets the oldest body of any session beyond its size', () => {
    const shelf = new BodyShelf(1000);
    const memories = [1, 2, 3].map(() => new BodyMemory(shelf, DEPTH));
    for (const memory of memories) read(memory, JSON.stringify({ messages: ['x'.repeat(400)] }));
    expect(memories.map(({ size }) => size)).toEqual([0, 1, 1]);
    expect(shelf.usedBytes).toBeLessThanOrEqual(1000);
    for (const memory of memories) memory.clear();
    expect(shelf.usedBytes).toBe(0);
    expect(memories[1]!.size).toBe(0);
  });

  test('a body larger than the shard’s size is read and not kept', () => {
    const shelf = new BodyShelf(100);
    const memory = new BodyMemory(shelf, DEPTH);
    expect(read(memory, JSON.stringify({ messages: ['x'.repeat(400)] })).size).toBe(1);
    expect([memory.size, shelf.usedBytes]).toEqual([0, 0]);
  });

  test('a buffer with much unused room is not kept', () => {
    const shelf = new BodyShelf(1e9);
    const memory = new BodyMemory(shelf, DEPTH);
    const bytes = new Uint8Array(4096);
    const { written } = new TextEncoder().encodeInto(body([say('a')]), bytes);
    read(memory, bytes.subarray(0, written));
    expect(shelf.usedBytes).toBe(written);
  });
});
