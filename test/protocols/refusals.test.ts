import { describe, expect, it } from 'vitest';
import { parseBody } from '../../src/protocols/request-body.js';
import { chat, chatHi, messages, messagesHi, refusal } from './requests.js';

const hi = [{ role: 'user', content: 'hi' }];
const withMessages = (...list: unknown[]): object => ({ model: 'm', max_tokens: 9, messages: list });

describe('both protocols', () => {
  const sampling: readonly (readonly [object, RegExp])[] = [
    [{ temperature: -1 }, /`temperature` must be a number of at least 0, got -1/],
    [{ temperature: 'hot' }, /`temperature`.*"hot"/],
    [{ top_p: 0 }, /`top_p`/],
    [{ top_p: 1.1 }, /`top_p`/],
    [{ top_k: 1.5 }, /`top_k`/],
    [{ top_k: -2 }, /`top_k`/],
    [{ min_p: 2 }, /`min_p`/],
    [{ max_tokens: 0 }, /`max_tokens`/],
    [{ max_tokens: true }, /`max_tokens`/],
    [{ presence_penalty: 3 }, /`presence_penalty`/],
    [{ frequency_penalty: -3 }, /`frequency_penalty`/],
    [{ repetition_penalty: 0 }, /`repetition_penalty`/],
    [{ seed: 2 ** 60 }, /`seed`/],
    [{ min_tokens: -1 }, /`min_tokens`/],
    [{ stream: 'yes' }, /`stream`/],
    [{ tools: {} }, /`tools`/],
    [{ tools: [3] }, /`tools\[0\]`/],
    [{ chat_template_kwargs: [] }, /`chat_template_kwargs`/],
  ];
  it.each(sampling)('%j', (members, message) => {
    for (const read of [chatHi, messagesHi]) {
      const error = refusal(() => read(members));
      expect(error.code).toBe('invalid_request');
      expect(error.message).toMatch(message);
    }
  });

  const unsupported: readonly (readonly [object, string])[] = [
    [{ n: 3 }, 'n'],
    [{ n: 0 }, 'n'],
    [{ best_of: 2 }, 'best_of'],
    [{ logit_bias: { '5': 1 } }, 'logit_bias'],
    [{ guided_json: { type: 'object' } }, 'guided_json'],
    [{ structured_outputs: { regex: 'a' } }, 'structured_outputs'],
    [{ stop_token_ids: [1] }, 'stop_token_ids'],
    [{ ignore_eos: true }, 'ignore_eos'],
    [{ bad_words: ['x'] }, 'bad_words'],
    [{ continue_final_message: true }, 'continue_final_message'],
    [{ add_generation_prompt: false }, 'add_generation_prompt'],
    [{ chat_template: '{{ x }}' }, 'chat_template'],
    [{ chat_template_kwargs: { messages: [] } }, 'chat_template_kwargs.messages'],
  ];
  it.each(unsupported)('%j', (members, field) => {
    for (const read of [chatHi, messagesHi]) {
      const error = refusal(() => read(members));
      expect(error.code).toBe('unsupported_feature');
      expect(error.message).toContain(`\`${field}\``);
    }
  });

  it('takes the neutral forms of the same', () => {
    const neutral = {
      n: 1,
      best_of: 1,
      logit_bias: {},
      stop_token_ids: [],
      ignore_eos: false,
      bad_words: null,
      add_generation_prompt: true,
      seed: null,
    };
    for (const read of [chatHi, messagesHi]) expect(read(neutral).messages).toHaveLength(1);
  });

  it('ignores what it does not know', () => {
    const unknown = {
      service_tier: 'auto',
      store: true,
      betas: ['x'],
      reasoning_effort: 'high',
      prompt_cache_key: 'k',
      whatever: { a: 1 },
    };
    for (const read of [chatHi, messagesHi]) expect(read(unknown).messages).toHaveLength(1);
  });

  it('refuses lists of messages that are none', () => {
    for (const list of [undefined, null, [], {}, 'hi', [3], [[]]]) {
      for (const read of [chat, messages]) {
        const error = refusal(() => read({ model: 'm', messages: list }));
        expect(error.code).toBe('invalid_request');
        expect(error.message).toMatch(/`messages(\[0\])?`/);
      }
    }
  });

  it('needs a model', () => {
    for (const read of [chat, messages]) expect(refusal(() => read({ messages: hi })).message).toContain('`model`');
  });

  it('does not repeat a long value', () => {
    const error = refusal(() => chatHi({ temperature: 'x'.repeat(10_000) }));
    expect(error.message.length).toBeLessThan(200);
    const long = 'x'.repeat(10_000);
    const parts = [{ role: 'user', content: [{ type: long }] }];
    for (const read of [chat, messages]) expect(refusal(() => read(withMessages(...parts))).message.length).toBeLessThan(200);
    expect(refusal(() => chatHi({ tools: [{ type: long }] })).message.length).toBeLessThan(200);
    expect(refusal(() => messagesHi({ tools: [{ type: long }] })).message.length).toBeLessThan(300);
    expect(refusal(() => chatHi({ temperature: Array(1000).fill('secret') })).message).not.toContain('secret');
  });
});

describe('Chat', () => {
  it.each([
    [{ response_format: { type: 'json_object' } }, 'response_format'],
    [{ response_format: { type: 'json_schema', json_schema: {} } }, 'response_format'],
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ tool_choice: { type: 'function', function: { name: 'f' } } }, 'tool_choice'],
    [{ tool_choice: { type: 'allowed_tools' } }, 'tool_choice'],
    [{ modalities: ['text', 'audio'] }, 'modalities'],
    [{ audio: { voice: 'x' } }, 'audio'],
    [{ web_search_options: {} }, 'web_search_options'],
    [{ functions: [{ name: 'f' }] }, 'functions'],
    [{ function_call: { name: 'f' } }, 'function_call'],
    [{ tools: [{ type: 'custom', custom: { name: 'x' } }] }, 'tools[0]'],
  ])('cannot honour %j', (members, field) => {
    const error = refusal(() => chatHi(members));
    expect(error.code).toBe('unsupported_feature');
    expect(error.message).toContain(`\`${field}\``);
  });

  it.each([
    [{ logprobs: 1 }, /`logprobs`/],
    [{ logprobs: true, top_logprobs: 21 }, /`top_logprobs`/],
    [{ top_logprobs: 2 }, /`logprobs` must be true/],
    [{ max_completion_tokens: 0 }, /`max_completion_tokens`/],
    [{ stop: [''] }, /`stop`/],
    [{ stop: ['a', 1] }, /`stop`/],
    [{ stream_options: true }, /`stream_options`/],
    [{ tool_choice: 'always' }, /`tool_choice`/],
    [{ return_token_ids: 1 }, /`return_token_ids`/],
    [{ tools: [{ type: 'function' }] }, /`tools\[0\].function`/],
    [{ tools: [{ type: 'function', function: { name: '' } }] }, /`tools\[0\].function.name`/],
    [{ tools: [{ type: 'function', function: { name: 'f', parameters: 'x' } }] }, /`tools\[0\].function.parameters`/],
  ])('is wrong: %j', (members, message) => {
    const error = refusal(() => chatHi(members));
    expect(error.code).toBe('invalid_request');
    expect(error.message).toMatch(message);
  });

  it.each([
    [{ role: 'robot', content: 'x' }, 'invalid_request', /`messages\[0\].role`.*"robot"/],
    [{ content: 'x' }, 'invalid_request', /`messages\[0\].role`/],
    [{ role: 'user', content: null }, 'invalid_request', /`messages\[0\].content`/],
    [{ role: 'user', content: 5 }, 'invalid_request', /`messages\[0\].content`/],
    [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] },
      'unsupported_feature',
      /`messages\[0\].content\[0\]`.*image_url/,
    ],
    [{ role: 'user', content: [{ type: 'text' }] }, 'invalid_request', /content\[0\].text/],
    [{ role: 'user', content: [{ text: 'x' }] }, 'invalid_request', /content\[0\].type/],
    [{ role: 'assistant', content: 'x', reasoning_content: 5 }, 'invalid_request', /reasoning_content/],
    [{ role: 'assistant', tool_calls: {} }, 'invalid_request', /tool_calls/],
    [{ role: 'assistant', tool_calls: [{ id: 'c', type: 'custom', custom: {} }] }, 'unsupported_feature', /tool_calls\[0\]/],
    [{ role: 'assistant', tool_calls: [{ id: 5, function: { name: 'f' } }] }, 'invalid_request', /tool_calls\[0\].id/],
    [{ role: 'assistant', tool_calls: [{ id: 'c', function: { arguments: '{}' } }] }, 'invalid_request', /function.name/],
    [{ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: 5 } }] }, 'invalid_request', /function.arguments/],
    [{ role: 'tool', tool_call_id: 5, content: 'x' }, 'invalid_request', /tool_call_id/],
  ])('refuses the message %j', (message, code, text) => {
    const error = refusal(() => chat(withMessages(message, ...hi)));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(text);
  });
});

describe('Messages', () => {
  it.each([
    [{ tool_choice: { type: 'any' } }, 'tool_choice'],
    [{ tool_choice: { type: 'tool', name: 'f' } }, 'tool_choice'],
    [{ output_config: { format: { type: 'json_schema' } } }, 'output_config.format'],
    [{ output_format: { type: 'json_schema' } }, 'output_format'],
    [{ mcp_servers: [{ url: 'x' }] }, 'mcp_servers'],
    [{ compaction: { type: 'x' } }, 'compaction'],
    [{ tools: [{ type: 'bash_20250124', name: 'bash' }] }, 'tools[0]'],
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0]'],
  ])('cannot honour %j', (members, field) => {
    const error = refusal(() => messagesHi(members));
    expect(error.code).toBe('unsupported_feature');
    expect(error.message).toContain(`\`${field}\``);
  });

  it('refuses threads of any kind', () => {
    for (const thread of [{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }]) {
      expect(refusal(() => messagesHi({ thread })).code).toBe('thread_unsupported_request');
    }
    expect(messagesHi({ thread: null }).messages).toHaveLength(1);
  });

  it.each([
    [{ stop_sequences: [''] }, /`stop_sequences`/],
    [{ system: 5 }, /`system`/],
    [{ system: [{ type: 'text' }] }, /`system\[0\].text`/],
    [{ tool_choice: 'auto' }, /`tool_choice`/],
    [{ tool_choice: { type: 'some' } }, /`tool_choice.type`/],
    [{ output_config: 5 }, /`output_config`/],
    [{ tools: [{ name: 'f', input_schema: 5 }] }, /`tools\[0\].input_schema`/],
  ])('is wrong: %j', (members, message) => {
    const error = refusal(() => messagesHi(members));
    expect(error.code).toBe('invalid_request');
    expect(error.message).toMatch(message);
  });

  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } };
  it.each([
    [{ role: 'tool', content: 'x' }, 'invalid_request', /`messages\[0\].role`/],
    [{ role: 'user' }, 'invalid_request', /`messages\[0\].content`/],
    [{ role: 'user', content: ['x'] }, 'invalid_request', /content\[0\]/],
    [{ role: 'user', content: [{ text: 'x' }] }, 'invalid_request', /content\[0\].type/],
    [{ role: 'user', content: [image] }, 'unsupported_feature', /content\[0\].*"image"/],
    [{ role: 'user', content: [{ type: 'document' }] }, 'unsupported_feature', /"document"/],
    [{ role: 'user', content: [{ type: 'tool_result', content: 'x' }] }, 'invalid_request', /tool_use_id/],
    [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', is_error: 'no' }] }, 'invalid_request', /is_error/],
    [
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [image] }] },
      'unsupported_feature',
      /content\[0\].content\[0\]/,
    ],
    [
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [{ type: 'tool_reference', tool_name: 'Nope' }] }] },
      'invalid_request',
      /"Nope", which `tools` does not define/,
    ],
    [
      { role: 'assistant', content: [{ type: 'server_tool_use', id: 'x', name: 'y', input: {} }] },
      'unsupported_feature',
      /server_tool_use/,
    ],
    [{ role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: 'y', input: '{}' }] }, 'invalid_request', /input/],
    [{ role: 'assistant', content: [{ type: 'tool_use', name: 'y', input: {} }] }, 'invalid_request', /id/],
    [{ role: 'system', content: [{ type: 'tool_addition' }] }, 'unsupported_feature', /tool_addition/],
  ])('refuses the message %j', (message, code, text) => {
    const error = refusal(() => messages(withMessages(message, ...hi)));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(text);
  });

  it('does not continue an answer that the client began', () => {
    const error = refusal(() => messages(withMessages(...hi, { role: 'assistant', content: 'Once' })));
    expect(error.code).toBe('unsupported_feature');
    expect(error.message).toContain('`messages[1]`');
  });
});

describe('bodies', () => {
  const read = (text: string): unknown => parseBody(new TextEncoder().encode(text), 16);
  it.each([
    ['', /position 0/],
    ['{"a":', /position 5/],
    ['[]', /object, got \[\]/],
    ['null', /object, got null/],
    ['{"a":NaN}', /NaN/],
    ['{"a":'.repeat(17), /deeper than 16/],
    ['\ufeff{}', /byte order mark/],
  ])('%j', (text, message) => {
    const error = refusal(() => read(text));
    expect(error.code).toBe('invalid_json');
    expect(error.message).toMatch(message);
  });

  it('refuses bytes that are no UTF-8', () => {
    expect(refusal(() => parseBody(Uint8Array.of(123, 0xff, 125), 16)).message).toMatch(/UTF-8/);
  });
});
