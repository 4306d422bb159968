import { describe, expect, it } from 'vitest';
import type { AssistantMessage } from '../../src/canonical/message.js';
import { expandToolReferences, splitTools } from '../../src/protocols/deferred-tools.js';
import { chat, chatHi, messages, messagesHi } from './requests.js';

const lastAssistant = (request: ReturnType<typeof chat>): AssistantMessage =>
  request.messages.findLast((message): message is AssistantMessage => message.role === 'assistant')!;

describe('sampling', () => {
  const fields = {
    temperature: 0,
    top_p: 0.5,
    top_k: 0,
    min_p: 0.1,
    presence_penalty: 1,
    frequency_penalty: -1,
    repetition_penalty: 1.1,
    seed: 7,
    min_tokens: 2,
  };
  const expected = {
    temperature: 0,
    topP: 0.5,
    topK: -1,
    minP: 0.1,
    presencePenalty: 1,
    frequencyPenalty: -1,
    repetitionPenalty: 1.1,
    seed: 7,
    minTokens: 2,
  };

  it('is read by vLLM’s names in both protocols', () => {
    expect(chatHi(fields).sampling).toStrictEqual(expected);
    expect(messagesHi(fields).sampling).toStrictEqual({ ...expected, maxTokens: 9 });
  });

  it('takes whole numbers spelled as floats', () => {
    expect(chat('{"model":"m","messages":[{"role":"user","content":"x"}],"max_tokens":5.0,"temperature":1.0}').sampling).toStrictEqual({
      maxTokens: 5,
      temperature: 1,
    });
  });

  it('takes the smaller of the two names of the limit', () => {
    expect(chatHi({ max_tokens: 5, max_completion_tokens: 9 }).sampling.maxTokens).toBe(5);
    expect(chatHi({ max_completion_tokens: 9 }).sampling.maxTokens).toBe(9);
    expect(chatHi({}).sampling.maxTokens).toBeUndefined();
    expect(messages({ model: 'm', messages: [{ role: 'user', content: 'x' }] }).sampling.maxTokens).toBeUndefined();
  });

  it('reads stop strings, logprobs, token ids and template arguments', () => {
    expect(chatHi({ stop: 'END' }).stopStrings).toStrictEqual(['END']);
    expect(messagesHi({ stop_sequences: ['a', 'b'] }).stopStrings).toStrictEqual(['a', 'b']);
    expect(chatHi({ logprobs: true }).topLogprobs).toBe(0);
    expect(chatHi({ logprobs: true, top_logprobs: 5 }).topLogprobs).toBe(5);
    expect(chatHi({ logprobs: false, top_logprobs: 0 }).topLogprobs).toBe(null);
    expect(chatHi({ return_token_ids: true }).returnTokenIds).toBe(true);
    expect(chatHi({ return_tokens_as_token_ids: true }).returnTokenIds).toBe(true);
    expect(chatHi({ chat_template_kwargs: { enable_thinking: false } }).templateKwargs).toStrictEqual(
      new Map([['enable_thinking', false]]),
    );
  });

  it('reads what clients may ask of tool calls', () => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    expect(chatHi({ tools, tool_choice: 'none', parallel_tool_calls: false })).toMatchObject({
      toolChoice: 'none',
      parallelToolCalls: false,
    });
    expect(chatHi({ parallel_tool_calls: false }).parallelToolCalls).toBe(true);
    const choice = { type: 'auto', disable_parallel_tool_use: true };
    expect(messagesHi({ tools: [{ name: 'f', input_schema: {} }], tool_choice: choice }).parallelToolCalls).toBe(false);
    expect(messagesHi({ tool_choice: { type: 'none' } }).toolChoice).toBe('none');
  });
});

describe('Chat messages', () => {
  it('tells absent content from empty text', () => {
    const contents = [null, [], '', undefined].map((content) => {
      const message = { role: 'assistant', ...(content === undefined ? {} : { content }) };
      return lastAssistant(chat({ model: 'm', messages: [message, { role: 'user', content: 'x' }] })).content;
    });
    expect(contents).toStrictEqual([null, null, '', null]);
  });

  it('reads older names of roles and calls', () => {
    const request = chat({
      model: 'm',
      messages: [
        { role: 'developer', content: 'd' },
        { role: 'user', content: ['a', { type: 'text', text: 'b' }] },
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: null },
      ],
    });
    expect(request.messages).toMatchObject([
      { role: 'system', content: 'd' },
      { role: 'user', content: 'ab' },
      { toolCalls: [{ id: null, name: 'f', arguments: '{}' }] },
      { role: 'tool', content: '', toolCallId: null, name: 'f' },
    ]);
  });

  it.each([
    [
      '{"b": 1,"a":2}',
      new Map([
        ['b', 1],
        ['a', 2],
      ]),
    ],
    ['"{\\"a\\":1}"', new Map([['a', 1]])],
    ['{"a":', undefined],
    ['', undefined],
    ['null', null],
    ['"text"', 'text'],
    ['[1]', [1]],
    ['{"a": NaN}', new Map([['a', Number.NaN]])],
  ])('reads the arguments %s and keeps their text', (text, value) => {
    const calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: text } }];
    const request = chat({
      model: 'm',
      messages: [
        { role: 'assistant', tool_calls: calls },
        { role: 'tool', content: 'x', tool_call_id: 'c' },
      ],
    });
    expect(lastAssistant(request).toolCalls).toStrictEqual([{ id: 'c', name: 'f', arguments: text, value }]);
  });

  it('takes arguments as an object', () => {
    const calls = '[{"id":"c","type":"function","function":{"name":"f","arguments":{"x":1.0}}}]';
    const request = chat(`{"model":"m","messages":[{"role":"assistant","tool_calls":${calls}},{"role":"tool","content":"x"}]}`);
    expect(lastAssistant(request).toolCalls[0]?.arguments).toBe('{"x": 1.0}');
  });

  it('keeps halves of surrogate pairs and member names that JavaScript would poison', () => {
    const request = chat('{"model":"m","__proto__":{"x":1},"messages":[{"role":"user","content":"a\\ud83d","__proto__":[]}]}');
    expect(request.messages[0]?.content).toBe('a\ud83d');
  });
});

describe('Messages blocks', () => {
  const turn = (content: unknown, ...rest: unknown[]): AssistantMessage =>
    lastAssistant(messages({ model: 'm', messages: [{ role: 'assistant', content }, { role: 'user', content: 'x' }, ...rest] }));

  it('joins text, thinking and calls', () => {
    const blocks = [
      { type: 'thinking', thinking: 'a', signature: '' },
      { type: 'redacted_thinking', data: 'zzz' },
      { type: 'thinking', thinking: 'b' },
      { type: 'text', text: 'c' },
      { type: 'text', text: 'd', citations: null },
    ];
    expect(turn(blocks)).toStrictEqual({ role: 'assistant', content: 'cd', reasoning: 'ab', toolCalls: [] });
  });

  it('takes a verified signature as a hint, and emptied thinking under it as dropped', () => {
    expect(turn([{ type: 'thinking', thinking: 'a', signature: 'sig:t7' }])).toMatchObject({ reasoning: 'a', turnHint: 't7' });
    expect(turn([{ type: 'thinking', thinking: '', signature: 'sig:t7' }])).toMatchObject({ reasoning: null, turnHint: 't7' });
    expect(turn([{ type: 'thinking', thinking: '', signature: 'foreign' }])).toStrictEqual({
      role: 'assistant',
      content: null,
      reasoning: '',
      toolCalls: [],
    });
  });

  it('puts results before text and in the order of the calls', () => {
    const use = (id: string): object => ({ type: 'tool_use', id, name: 'f', input: {} });
    const result = (id: string, rest: object = {}): object => ({ type: 'tool_result', tool_use_id: id, ...rest });
    const request = messages({
      model: 'm',
      messages: [
        { role: 'assistant', content: [use('a'), use('b')] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'then' },
            result('z', { content: 'unknown' }),
            result('b', { content: 'second', is_error: true }),
            result('a', {
              content: [
                { type: 'text', text: 'fi' },
                { type: 'text', text: 'rst' },
              ],
            }),
            { type: 'text', text: ' this' },
          ],
        },
        { role: 'user', content: [] },
      ],
    });
    expect(request.messages.slice(1).map(({ role, content }) => [role, content])).toStrictEqual([
      ['tool', 'first'],
      ['tool', 'Error: second'],
      ['tool', 'unknown'],
      ['user', 'then this'],
      ['user', ''],
    ]);
  });

  it('says an error once', () => {
    const contents = ['Error: x', ' <tool_use_error>x</tool_use_error>', 'errors were found', ''].map((content) => {
      const blocks = [{ type: 'tool_result', tool_use_id: 'a', content, is_error: true }];
      return messages({ model: 'm', messages: [{ role: 'user', content: blocks }] }).messages[0]?.content;
    });
    expect(contents).toStrictEqual(['Error: x', ' <tool_use_error>x</tool_use_error>', 'Error: errors were found', 'Error: ']);
  });

  it('takes the billing line out of every form of a system text', () => {
    const line = 'x-anthropic-billing-header: cc_version=1; cc_entrypoint=cli;';
    const systems = [
      line,
      `${line}\nRules`,
      [{ type: 'text', text: line }],
      [
        { type: 'text', text: line },
        { type: 'text', text: 'Rules' },
      ],
      '',
      [],
    ];
    const texts = systems.map((system) => messagesHi({ system }).messages.filter(({ role }) => role === 'system'));
    const rules = [{ role: 'system', content: 'Rules' }];
    expect(texts).toStrictEqual([[], rules, [], rules, [], []]);
  });

  it('hands the text of unreadable arguments back as it was', () => {
    const input = { __unparsedToolInput: { raw: '{"a":', len: 5 } };
    expect(turn([{ type: 'tool_use', id: 'c', name: 'f', input }]).toolCalls[0]).toStrictEqual({
      id: 'c',
      name: 'f',
      arguments: '{"a":',
      value: undefined,
    });
  });
});

describe('deferred tools', () => {
  const tool = (name: string): { name: string } => ({ name });
  it('keeps a tool out of the head as long as a message refers to it', () => {
    const listed = [
      { definition: tool('a'), deferred: false },
      { definition: tool('b'), deferred: false },
      { definition: tool('c'), deferred: true },
    ];
    expect(splitTools(listed, new Set(['b']))).toStrictEqual({ head: [tool('a')], deferred: [tool('b'), tool('c')] });
  });

  it('writes the same text for the same references', () => {
    const tools = new Map([
      ['a', { name: 'a', description: 'A', parameters: new Map() }],
      ['b', { name: 'b' }],
    ]);
    expect(expandToolReferences(['b', 'a'], tools, 'p')).toBe(
      '<tools>\n{"type": "function", "function": {"name": "b"}}\n{"type": "function", "function": {"name": "a", "description": "A", "parameters": {}}}\n</tools>',
    );
  });

  it('expands runs of references between texts', () => {
    const reference = { type: 'tool_reference', tool_name: 'b' };
    const content = [{ type: 'text', text: 'Found: ' }, reference, reference, { type: 'text', text: ' end' }];
    const request = messages({
      model: 'm',
      tools: [{ name: 'b', input_schema: {} }],
      messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content }] }],
    });
    const line = '{"type": "function", "function": {"name": "b", "parameters": {}}}';
    expect(request.messages[0]?.content).toBe(`Found: <tools>\n${line}\n${line}\n</tools> end`);
    expect(request.tools).toStrictEqual([]);
    expect(request.parallelToolCalls).toBe(true);
  });
});
