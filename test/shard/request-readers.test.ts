import { describe, expect, test } from 'vitest';
import type { ProtocolName, TurnRequest } from '../../src/canonical/turn.js';
import { resolveSettings } from '../../src/config-load.js';
import { GatewayError } from '../../src/errors.js';
import { createProtocols } from '../../src/protocols/registry.js';
import type { AgentCall } from '../../src/shard/messages.js';
import { RequestReaders } from '../../src/shard/request-readers.js';
import { TurnSignatures } from '../../src/shard/turn-signature.js';
import { below, bodyText, chatMessage, chatTool, messagesEntry, messagesTool, oneOf, type Random, seeded, utf8 } from './bodies.js';

const protocols = createProtocols({ reasoning: 'reasoning_content' });
const signatures = new TurnSignatures(new Uint8Array(32));
/** Freed memory is written over, as the front does with the next body. */
const readers = (shortcuts: boolean, freed: ArrayBuffer[] = []): RequestReaders =>
  new RequestReaders(resolveSettings({ shortcuts }), signatures, (buffer) => {
    new Uint8Array(buffer).fill(0x21);
    freed.push(buffer);
  });

const callOf = (protocol: ProtocolName, body: string, sessionKey = 's'): AgentCall => ({
  kind: 'agent',
  id: 1,
  operation: 'turn',
  protocol,
  sessionKey,
  requestId: 'r',
  retryCount: 0,
  receivedAtMs: 0,
  body: utf8(body),
});

function read(from: RequestReaders, protocol: ProtocolName, body: string | object, sessionKey?: string): TurnRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { request, keep } = from.read(callOf(protocol, text, sessionKey), protocols[protocol]);
  keep();
  return request;
}

const outcome = (run: () => TurnRequest): unknown => {
  try {
    return run();
  } catch (error) {
    if (error instanceof GatewayError) return { code: error.code, message: error.message };
    throw error;
  }
};

test('what is unknown of a body is what it has beyond the longest that its session said', () => {
  const body = (count: number): string => JSON.stringify({ model: 'm', messages: Array(count).fill({ role: 'user', content: 'hello' }) });
  const shortcuts = readers(true);
  const unknown = (count: number, key = 's'): number => shortcuts.unknownBytes(callOf('openai-chat', body(count), key));
  const [two, five] = [body(2).length, body(5).length];
  expect(unknown(5)).toBe(five);
  read(shortcuts, 'openai-chat', body(2));
  expect([unknown(5), unknown(2), unknown(5, 'another')]).toEqual([five - two, 0, five]);
  shortcuts.forget('s');
  expect(unknown(5)).toBe(five);
  const plain = readers(false);
  read(plain, 'openai-chat', body(2));
  expect(plain.unknownBytes(callOf('openai-chat', body(5)))).toBe(five);
});

test('the memory of a body is free, once, when a later one has its place and when the session is over', () => {
  const freed: ArrayBuffer[] = [];
  const shortcuts = readers(true, freed);
  const bodies = [1, 2, 3].map((count) =>
    callOf('openai-chat', JSON.stringify({ model: 'm', messages: Array(count).fill({ role: 'user', content: 'hello' }) })),
  );
  for (const call of bodies) shortcuts.read(call, protocols['openai-chat']).keep();
  expect(freed).toEqual(bodies.slice(0, 2).map(({ body }) => body.buffer));
  shortcuts.forget('s');
  shortcuts.forget('s');
  expect(freed).toEqual(bodies.map(({ body }) => body.buffer));
});

const NAMES: readonly ProtocolName[] = ['openai-chat', 'anthropic-messages'];

describe('with shortcuts a request says what it says without', () => {
  test.each(NAMES)('over branches of %s that grow, change, shrink and alternate', (protocol) => {
    for (let seed = 1; seed <= 25; seed++) {
      const random = seeded(seed);
      const [short, plain] = [readers(true), readers(false)];
      const branches: object[][] = [[entry(protocol, random)], [entry(protocol, random)]];
      let refused = 0;
      for (let turn = 0; turn < 40; turn++) {
        const at = below(random, branches.length);
        branches[at] = nextHistory(branches[at]!, protocol, random);
        if (random() < 0.05) branches.push([...branches[at]!]);
        const body = bodyText(membersOf(protocol, branches[at]!, random), random() < 0.1);
        const found = outcome(() => read(short, protocol, body));
        const expected = outcome(() => read(plain, protocol, body));
        expect(found, `seed ${seed}, turn ${turn}`).toEqual(expected);
        if (expected !== null && typeof expected === 'object' && 'code' in expected) refused++;
      }
      expect(refused).toBeLessThan(30);
    }
  });

  test('in a session that speaks both protocols', () => {
    const [short, plain] = [readers(true), readers(false)];
    const shared = { model: 'm', messages: [{ role: 'user', content: 'hi' }], max_tokens: 9 };
    for (let round = 0; round < 3; round++) {
      for (const protocol of NAMES) expect(read(short, protocol, shared)).toEqual(read(plain, protocol, shared));
    }
  });
});

function entry(protocol: ProtocolName, random: Random): object {
  return protocol === 'openai-chat' ? chatMessage(random) : messagesEntry(random, signatures.sign('s', `turn${below(random, 5)}`));
}

function nextHistory(history: readonly object[], protocol: ProtocolName, random: Random): object[] {
  const at = below(random, history.length + 1);
  switch (below(random, 10)) {
    case 0:
      return history.toSpliced(at, 1, entry(protocol, random));
    case 1:
      return history.toSpliced(at, below(random, 3));
    case 2:
      return [entry(protocol, random), ...history.slice(-3)];
    default:
      // A Messages history that ends with the assistant is refused.
      return [...history, entry(protocol, random), { role: 'user', content: `go on ${below(random, 9)}` }];
  }
}

function membersOf(protocol: ProtocolName, messages: readonly object[], random: Random): [string, unknown][] {
  const isChat = protocol === 'openai-chat';
  const tools = Array.from({ length: random() < 0.95 ? 3 : 2 }, (_, i) => (isChat ? chatTool(i) : messagesTool(i)));
  const members: [string, unknown][] = [
    ['model', 'm'],
    ['messages', messages],
    ['tools', tools],
    ['max_tokens', 1 + below(random, 3)],
    ['stream', random() < 0.5],
  ];
  if (!isChat) {
    const billing = { type: 'text', text: `x-anthropic-billing-header: v=${below(random, 3)};` };
    members.push(['system', oneOf(random, ['You are careful.', [billing, { type: 'text', text: 'You are careful.' }]])]);
  }
  if (random() < 0.2) members.sort(() => random() - 0.5);
  return members;
}

const chatSay = (content: string): object => ({ role: 'user', content });
const blockSay = (content: string): object => ({ role: 'user', content: [{ type: 'text', text: content }] });

describe('what was read before is the same object', () => {
  test.each(NAMES)('messages and tools of %s', (protocol) => {
    const [say, tool] = protocol === 'openai-chat' ? [chatSay, chatTool] : [blockSay, messagesTool];
    const short = readers(true);
    const body = (...texts: string[]): object => ({ model: 'm', max_tokens: 9, messages: texts.map(say), tools: [tool(0), tool(1)] });
    const first = read(short, protocol, body('a', 'b'));
    const second = read(short, protocol, body('a', 'b', 'c'));
    expect(second.messages.slice(0, 2).every((message, i) => message === first.messages[i])).toBe(true);
    expect(second.tools).toBe(first.tools);
  });

  test('a system text whose billing line changes, given in parts or whole', () => {
    const short = readers(true);
    const system = (line: string): object => [
      { type: 'text', text: `x-anthropic-billing-header: ${line}` },
      { type: 'text', text: 'You are careful.' },
    ];
    const body = (it: unknown): object => ({ model: 'm', max_tokens: 9, messages: [blockSay('a')], system: it });
    const [first, ...others] = [system('1'), system('2'), 'You are careful.', system('1')].map((it) =>
      read(short, 'anthropic-messages', body(it)),
    );
    expect(others.map(({ messages }) => messages[0] === first!.messages[0])).toEqual([true, true, true]);
    expect(read(short, 'anthropic-messages', body('You are bold.')).messages[0]).toEqual({ role: 'system', content: 'You are bold.' });
  });

  test('results of several calls, unless the calls changed their order', () => {
    const short = readers(true);
    const uses = (...ids: string[]): object => ({
      role: 'assistant',
      content: ids.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })),
    });
    const results = { role: 'user', content: ['a', 'b'].map((id) => ({ type: 'tool_result', tool_use_id: id, content: id })) };
    const body = (...messages: object[]): object => ({ model: 'm', max_tokens: 9, messages: [blockSay('go'), ...messages] });
    const texts = (request: TurnRequest): unknown[] => request.messages.slice(2, 4).map(({ content }) => content);
    const first = read(short, 'anthropic-messages', body(uses('a', 'b'), results));
    const same = read(short, 'anthropic-messages', body(uses('a', 'b'), results, blockSay('on')));
    expect(same.messages[2]).toBe(first.messages[2]);
    expect(texts(first)).toEqual(['a', 'b']);
    expect(texts(read(short, 'anthropic-messages', body(uses('b', 'a'), results)))).toEqual(['b', 'a']);
  });

  test('a result that refers to a tool, unless the tools changed', () => {
    const short = readers(true);
    const history = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'find', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'tool_reference', tool_name: 'tool_2' }] }] },
    ];
    const body = (tools: object[]): object => ({ model: 'm', max_tokens: 9, messages: [blockSay('go'), ...history], tools });
    const first = read(short, 'anthropic-messages', body([messagesTool(0), messagesTool(2)]));
    const again = read(short, 'anthropic-messages', body([messagesTool(0), messagesTool(2)]));
    expect(again.messages[2]).toBe(first.messages[2]);
    expect([again.tools, again.deferredTools]).toEqual([first.tools, first.deferredTools]);
    expect(again.tools).toBe(first.tools);
    const changed = read(short, 'anthropic-messages', body([messagesTool(0), { ...messagesTool(2), description: 'Other.' }]));
    expect(changed.messages[2]!.content).toContain('Other.');
    expect(outcome(() => read(short, 'anthropic-messages', body([messagesTool(0)])))).toMatchObject({ code: 'invalid_request' });
  });

  test('a thinking signature is believed by its own session only', () => {
    const short = readers(true);
    const thought = { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: signatures.sign('s', 'turn1') }] };
    const body = { model: 'm', max_tokens: 9, messages: [blockSay('go'), thought, blockSay('on')] };
    expect(read(short, 'anthropic-messages', body, 's').messages[1]).toHaveProperty('turnHint', 'turn1');
    expect(read(short, 'anthropic-messages', body, 'other').messages[1]).not.toHaveProperty('turnHint');
  });
});

describe('the memory', () => {
  const body = { model: 'm', messages: [chatSay('a')] };

  test('ends with its session', () => {
    const short = readers(true);
    const first = read(short, 'openai-chat', body);
    expect(short.rememberedBytes).toBeGreaterThan(0);
    short.forget('s');
    expect(short.rememberedBytes).toBe(0);
    expect(read(short, 'openai-chat', body).messages[0]).not.toBe(first.messages[0]);
  });

  test('holds nothing of calls that were not kept or were refused, or without shortcuts', () => {
    const short = readers(true);
    short.read(callOf('openai-chat', JSON.stringify(body)), protocols['openai-chat']);
    expect(() => read(short, 'openai-chat', { model: 'm', messages: [{ role: 'nobody' }] })).toThrow(GatewayError);
    expect(() => read(short, 'openai-chat', '{"model":')).toThrow(GatewayError);
    expect(short.rememberedBytes).toBe(0);
    const plain = readers(false);
    read(plain, 'openai-chat', body);
    expect(plain.rememberedBytes).toBe(0);
  });

  test('gives a marked retry the digest of its call', () => {
    for (const it of [readers(true), readers(false)]) {
      const digest = (text: string): string => it.read(callOf('openai-chat', text), protocols['openai-chat']).digest;
      const first = digest(JSON.stringify(body));
      read(it, 'openai-chat', body);
      expect(digest(JSON.stringify(body))).toBe(first);
      expect(digest(JSON.stringify({ ...body, messages: [chatSay('b')] }))).not.toBe(first);
    }
  });
});
