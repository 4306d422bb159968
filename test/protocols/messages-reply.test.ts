import { describe, expect, it } from 'vitest';
import type { TurnReply } from '../../src/canonical/turn.js';
import { formatTokenCount } from '../../src/protocols/anthropic-messages.js';
import { toolCall } from '../../src/protocols/tool-arguments.js';
import { richReply, turnReply } from './replies.js';
import { messagesHi, protocols } from './requests.js';

const protocol = protocols['anthropic-messages'];
const text = (reply: TurnReply): string => protocol.formatReply(messagesHi(), reply);
const whole = (reply: TurnReply): Record<string, unknown> & { content: Record<string, unknown>[] } =>
  JSON.parse(text(reply)) as Record<string, unknown> & { content: Record<string, unknown>[] };

interface Event {
  readonly name: string;
  readonly data: Record<string, unknown>;
}

/** Events, each an `event:` and a `data:` line of the same type. */
const eventsOf = (stream: string): Event[] =>
  stream
    .slice(0, -2)
    .split('\n\n')
    .map((event) => {
      const [, name, json] = /^event: (\w+)\ndata: (\{[^\n]*\})$/.exec(event) ?? [];
      const data = JSON.parse(json!) as Record<string, unknown>;
      expect(data.type).toBe(name);
      return { name: name!, data };
    });

const usage = {
  input_tokens: 4,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 3,
  cache_creation: null,
  server_tool_use: null,
  service_tier: 'standard',
  inference_geo: null,
  output_tokens_details: { thinking_tokens: 2 },
};

describe('an answer', () => {
  it('has every member that clients read', () => {
    expect(whole(richReply())).toStrictEqual({
      id: 'msg_turn-1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      container: null,
      content: [
        { type: 'thinking', thinking: 'let me\n\nthink', signature: 'sig:turn-1' },
        { type: 'text', text: 'Zürich 😀\u2028\n\ndata: "x"', citations: null },
        {
          type: 'tool_use',
          id: 'call_aaaa1111',
          name: 'weather',
          caller: { type: 'direct' },
          input: { city: 'Zürich', '2': 1, '1': 12345678901234567000 },
        },
        { type: 'tool_use', id: 'call_bbbb2222', name: 'weather', caller: { type: 'direct' }, input: {} },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      stop_details: null,
      diagnostics: null,
      context_management: null,
      usage,
    });
  });

  it('keeps order and spelling of an input', () => {
    expect(text(richReply())).toContain('"input":{"city":"Zürich","2":1.0,"1":12345678901234567890}');
  });

  it('says how it ended', () => {
    const ends = (['stop', 'length', 'tool_calls'] as const).map((finishReason) => whole(turnReply({ finishReason })).stop_reason);
    expect(ends).toStrictEqual(['end_turn', 'max_tokens', 'tool_use']);
    expect(whole(turnReply({ finishReason: 'stop_sequence', stopString: 'END' }))).toMatchObject({
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
    });
  });

  it('has no block for what is empty', () => {
    expect(whole(turnReply({}, { content: '', reasoning: '' })).content).toStrictEqual([]);
    expect(whole(turnReply({}, { content: null })).content).toStrictEqual([]);
  });

  it.each([
    ['{"a":', { __unparsedToolInput: { raw: '{"a":', len: 5 } }],
    ['[1]', { __unparsedToolInput: { raw: '[1]', len: 3 } }],
    ['{"a": NaN}', { __unparsedToolInput: { raw: '{"a": NaN}', len: 10 } }],
    ['"{\\"a\\":1}"', { a: 1 }],
    ['{"a":1e400}', { a: Infinity }],
    [' ', {}],
  ])('gives the arguments %s a place', (args, input) => {
    expect(whole(turnReply({}, { toolCalls: [toolCall('c', 'f', args)] })).content[1]?.input).toStrictEqual(input);
  });
});

describe('a stream', () => {
  const { turnId, createdAtSeconds, promptTokens, promptIds } = richReply();
  const open = eventsOf(protocol.openStream(messagesHi(), { turnId, createdAtSeconds, promptTokens, promptIds }));
  const rest = eventsOf(protocol.finishStream(messagesHi(), richReply()));

  it('begins with the whole head of the message', () => {
    expect(open.map(({ name }) => name)).toStrictEqual(['message_start', 'ping']);
    const { content: _content, stop_reason: _stop, usage: _usage, ...head } = whole(richReply());
    expect(open[0]?.data.message).toStrictEqual({
      ...head,
      content: [],
      stop_reason: null,
      usage: { ...usage, output_tokens: 1, output_tokens_details: null },
    });
  });

  it('has its blocks one after the other', () => {
    expect(rest.map(({ name, data }) => (data.index === undefined ? name : `${name} ${String(data.index)}`))).toStrictEqual([
      'content_block_start 0',
      'content_block_delta 0',
      'content_block_delta 0',
      'content_block_stop 0',
      'content_block_start 1',
      'content_block_delta 1',
      'content_block_stop 1',
      ...[2, 3].flatMap((i) => [
        `content_block_start ${i}`,
        `content_block_delta ${i}`,
        `content_block_delta ${i}`,
        `content_block_stop ${i}`,
      ]),
      'message_delta',
      'message_stop',
    ]);
    expect(rest.map(({ data }) => data.delta ?? data.content_block).filter((part) => part !== undefined)).toStrictEqual([
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'let me\n\nthink' },
      { type: 'signature_delta', signature: 'sig:turn-1' },
      { type: 'text', text: '', citations: null },
      { type: 'text_delta', text: 'Zürich 😀\u2028\n\ndata: "x"' },
      { type: 'tool_use', id: 'call_aaaa1111', name: 'weather', input: {}, caller: { type: 'direct' } },
      { type: 'input_json_delta', partial_json: '' },
      { type: 'input_json_delta', partial_json: '{"city":"Zürich","2":1.0,"1":12345678901234567890}' },
      { type: 'tool_use', id: 'call_bbbb2222', name: 'weather', input: {}, caller: { type: 'direct' } },
      { type: 'input_json_delta', partial_json: '' },
      { type: 'input_json_delta', partial_json: '{}' },
      { stop_reason: 'tool_use', stop_sequence: null, stop_details: null, container: null },
    ]);
    expect(rest.at(-2)?.data.usage).toStrictEqual(usage);
  });

  it('fails by one event', () => {
    const [event] = eventsOf(protocol.failStream({ code: 'overloaded', message: 'full' }, 'req_1'));
    expect(event).toStrictEqual({
      name: 'error',
      data: {
        type: 'error',
        error: { type: 'overloaded_error', message: 'full', details: { error_code: 'overloaded' } },
        request_id: 'req_1',
      },
    });
  });

  it('has a ping for a heartbeat', () => {
    expect(eventsOf(protocol.heartbeat)).toStrictEqual([{ name: 'ping', data: { type: 'ping' } }]);
  });
});

it('counts tokens', () => {
  expect(formatTokenCount(12)).toBe('{"input_tokens":12}');
});
