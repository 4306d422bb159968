import { describe, expect, test } from 'vitest';
import type { ProtocolName } from '../../src/canonical/turn.js';
import { createProtocols } from '../../src/protocols/registry.js';
import { parseBody } from '../../src/protocols/request-body.js';
import { TrajectoryTree } from '../../src/trajectory/tree.js';
import { assistant, begin, call, commit, fresh } from '../support/trajectory-fixtures.js';

/**
 * How real clients send a sampled turn back (wire.md §7 and §8), as bodies through the protocols' own parsers: each keeps the splice,
 * or forks for the stated reason.
 */
const protocols = createProtocols({ reasoning: 'reasoning_content' });

const ARGS = '{ "city":"Z\\u00fcrich0" ,  "days":1.0 }';
const ANEW = '{"city":"Zürich0","days":1}';
const REASONING = 'I should look. ';
const TEXT = 'Let me look.';

const withText = assistant(TEXT, { reasoning: REASONING, toolCalls: [call('weather', ARGS, 'call_aaaaaaaa')] });
const callsOnly = assistant(null, {
  reasoning: REASONING,
  toolCalls: [call('weather', ARGS, 'call_aaaaaaaa'), call('time', '{}', 'call_bbbbbbbb')],
});
const broken = assistant(null, { toolCalls: [call('weather', '{"city": "Zü', 'call_aaaaaaaa')] });

const parse = (protocol: ProtocolName, body: object, turnId: string) =>
  protocols[protocol].parseRequest(parseBody(new TextEncoder().encode(JSON.stringify(body)), 64), {
    verifySignature: (signature) => (signature === 'signed' ? turnId : null),
  });

/** Whether the sampled turn is found again in what the client sends. */
function keeps(protocol: ProtocolName, reply: typeof withText, body: (start: object[]) => object): boolean {
  const start = [{ role: 'user', content: 'How is it there?' }];
  const tree = new TrajectoryTree();
  const shared = protocol === 'openai-chat' ? {} : { max_tokens: 9 };
  const asked = parse(protocol, { model: 'm', messages: start, ...shared }, '');
  const key = { model: 'm', tools: asked.tools, templateKwargs: asked.templateKwargs };
  const script = { key, messages: asked.messages, prompt: fresh(3), output: fresh(3), reply };
  const first = commit(begin(tree, script), script);
  const sent = parse(protocol, { model: 'm', ...shared, ...body(start) }, first.turnId);
  const located = tree.locate({ ...key, tools: sent.tools }, sent.messages);
  expect(located.messages).toHaveLength(sent.messages.length);
  if (located.reached.length > 1) {
    expect(located.reached[1]).toBe(first.node);
    expect(located.messages[1]).toBe(reply);
    const results = located.messages.slice(2).flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : []));
    expect(results).toEqual(reply.toolCalls.map(({ id }) => id));
    return true;
  }
  return false;
}

interface ChatCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}
const chatCall = (id: string, name: string, args: string): ChatCall => ({ id, type: 'function', function: { name, arguments: args } });
const result = (id: string, more: object = {}) => ({ role: 'tool', tool_call_id: id, content: 'sunny', ...more });

const chat = (message: object, results: object[]) => (start: object[]) => ({
  messages: [...start, { role: 'assistant', ...message }, ...results],
});

describe('Chat Completions', () => {
  const one = (args: string) => ({ tool_calls: [chatCall('call_aaaaaaaa', 'weather', args)] });
  const two = (args: string) => ({ tool_calls: [chatCall('call_aaaaaaaa', 'weather', args), chatCall('call_bbbbbbbb', 'time', '{}')] });
  const oneResult = [result('call_aaaaaaaa')];
  const twoResults = [result('call_aaaaaaaa'), result('call_bbbbbbbb')];

  test.each<[client: string, reply: typeof withText, body: (start: object[]) => object, kept: boolean | string]>([
    ['Qwen Code', withText, chat({ content: TEXT, reasoning_content: REASONING.trim(), ...one(ANEW) }, oneResult), true],
    ['Qwen Code, calls only', callsOnly, chat({ content: null, ...two(ANEW), reasoning_content: REASONING.trim() }, twoResults), true],
    ['opencode', withText, chat({ content: TEXT, reasoning_content: REASONING, ...one(ANEW) }, oneResult), true],
    ['opencode, calls only', callsOnly, chat({ content: '', reasoning_content: REASONING, ...two(ANEW) }, twoResults), true],
    ['ai, openai-compatible', callsOnly, chat({ content: null, reasoning_content: REASONING, ...two(ANEW) }, twoResults), true],
    ['ai, openai: reasoning dropped', withText, chat({ content: TEXT, ...one(ANEW) }, oneResult), true],
    [
      'LangChain: a name, results with names',
      withText,
      chat({ content: TEXT, name: 'model', ...one(ANEW) }, [result('call_aaaaaaaa', { name: 'weather' })]),
      true,
    ],
    ['LangChain, calls only', callsOnly, chat({ content: '', name: 'model', ...two(ANEW) }, twoResults), true],
    ['Agents JS: one text part', withText, chat({ content: [{ type: 'text', text: TEXT }], ...one(ARGS) }, oneResult), true],
    ['Agents JS, calls only', callsOnly, chat({ content: null, ...two(ARGS) }, twoResults), true],
    ['Strands: text lost beside one call', withText, chat({ content: '', ...one(ANEW) }, oneResult), true],
    [
      'Strands: of two calls one is left',
      callsOnly,
      chat({ content: '', tool_calls: [chatCall('call_bbbbbbbb', 'time', '{}')] }, [result('call_bbbbbbbb')]),
      'a call is missing',
    ],
    ['openai SDK, streamed', callsOnly, chat({ content: '', refusal: null, annotations: [], ...two(ARGS) }, twoResults), true],
    ['no content member', callsOnly, chat(two(ARGS), twoResults), true],
    [
      'an id lost on the way',
      withText,
      chat({ content: TEXT, tool_calls: [chatCall('call_1', 'weather', ANEW)] }, [result('call_1')]),
      true,
    ],
    ['an agent that edits text', withText, chat({ content: `${TEXT} (verified)`, ...one(ANEW) }, oneResult), 'other text'],
    ['not JSON: Codex style, verbatim', broken, chat({ content: null, ...one('{"city": "Zü') }, oneResult), true],
    ['not JSON: ai, Qwen Code: {}', broken, chat({ content: null, ...one('{}') }, oneResult), true],
    ['not JSON: repaired', broken, chat({ content: null, ...one('{"city":"Zü"}') }, oneResult), true],
    [
      'not JSON: opencode renames it',
      broken,
      chat({ content: null, tool_calls: [chatCall('call_aaaaaaaa', 'invalid', '{"tool":"weather","error":"…"}')] }, oneResult),
      true,
    ],
    [
      'an unknown tool that opencode renames',
      withText,
      chat({ content: TEXT, tool_calls: [chatCall('call_aaaaaaaa', 'invalid', ANEW)] }, oneResult),
      'a call is renamed',
    ],
  ])('%s', (_, reply, body, kept) => {
    expect(keeps('openai-chat', reply, body)).toBe(kept === true);
  });
});

describe('Messages', () => {
  const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input });
  const weather = use('call_aaaaaaaa', 'weather', { city: 'Zürich0', days: 1 });
  const time = use('call_bbbbbbbb', 'time', {});
  const text = { type: 'text', text: TEXT };
  const thinking = { type: 'thinking', thinking: REASONING, signature: 'signed' };
  const answered = (id: string, more: object = {}) => ({ type: 'tool_result', tool_use_id: id, content: 'sunny', ...more });
  const messages = (blocks: object[], results: object[]) => (start: object[]) => ({
    messages: [...start, { role: 'assistant', content: blocks }, { role: 'user', content: results }],
  });

  test.each<[client: string, reply: typeof withText, body: (start: object[]) => object, kept: boolean | string]>([
    ['Claude Code', withText, messages([thinking, text, weather], [answered('call_aaaaaaaa')]), true],
    [
      'Claude Code, calls only, results as parts',
      callsOnly,
      messages(
        [thinking, weather, time],
        [answered('call_aaaaaaaa', { content: [{ type: 'text', text: 'sunny' }] }), answered('call_bbbbbbbb')],
      ),
      true,
    ],
    [
      'opencode: cache markers on blocks',
      withText,
      messages(
        [thinking, text, { ...weather, cache_control: { type: 'ephemeral' } }],
        [answered('call_aaaaaaaa', { cache_control: { type: 'ephemeral' } })],
      ),
      true,
    ],
    ['ai: thinking dropped where it had no signature', withText, messages([text, weather], [answered('call_aaaaaaaa')]), true],
    ['LangChain', callsOnly, messages([thinking, weather, time], [answered('call_aaaaaaaa'), answered('call_bbbbbbbb')]), true],
    ['Strands: is_error false', withText, messages([text, weather], [answered('call_aaaaaaaa', { is_error: false })]), true],
    ['unsigned thinking', withText, messages([{ ...thinking, signature: '' }, text, weather], [answered('call_aaaaaaaa')]), true],
    [
      'not JSON: Claude Code’s note',
      broken,
      messages([use('call_aaaaaaaa', 'weather', { __unparsedToolInput: { raw: '{"city": "Zü', len: 12 } })], [answered('call_aaaaaaaa')]),
      true,
    ],
    [
      'other arguments',
      withText,
      messages([thinking, text, use('call_aaaaaaaa', 'weather', { city: 'Bern', days: 1 })], [answered('call_aaaaaaaa')]),
      'other arguments',
    ],
    [
      'other thinking under our signature',
      withText,
      messages([{ ...thinking, thinking: 'I know.' }, text, weather], [answered('call_aaaaaaaa')]),
      'other reasoning',
    ],
  ])('%s', (_, reply, body, kept) => {
    expect(keeps('anthropic-messages', reply, body)).toBe(kept === true);
  });
});

test('one turn by Chat, the next by Messages: one tree', () => {
  const tree = new TrajectoryTree();
  const tools = [{ name: 'weather', description: 'tells', schema: { type: 'object', properties: { city: { type: 'string' } } } }];
  const chatTools = tools.map(({ schema, ...tool }) => ({ type: 'function', function: { ...tool, parameters: schema } }));
  const messagesTools = tools.map(({ schema, ...tool }) => ({ ...tool, input_schema: schema }));
  const asked = parse(
    'openai-chat',
    {
      model: 'm',
      tools: chatTools,
      messages: [
        { role: 'system', content: 's' },
        { role: 'user', content: 'q' },
      ],
    },
    '',
  );
  const key = { model: 'm', tools: asked.tools, templateKwargs: asked.templateKwargs };
  const script = { key, messages: asked.messages, prompt: fresh(3), output: fresh(3), reply: withText };
  const first = commit(begin(tree, script), script);
  const sent = parse(
    'anthropic-messages',
    {
      model: 'm',
      max_tokens: 9,
      system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }],
      tools: messagesTools,
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'q' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: TEXT },
            { type: 'tool_use', id: 'call_aaaaaaaa', name: 'weather', input: { days: 1, city: 'Zürich0' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_aaaaaaaa', content: 'sunny' }] },
      ],
    },
    '',
  );
  const located = tree.locate({ model: 'm', tools: sent.tools, templateKwargs: sent.templateKwargs }, sent.messages);
  expect(located.end).toBe(first.node);
});
