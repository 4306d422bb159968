import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AssistantMessage, ToolMessage } from '../../src/canonical/message.js';
import { clientRequest, refusal } from './requests.js';

const call = (id: string, name: string, args: string): object => ({ id, name, arguments: args });
const calls = (request: ReturnType<typeof clientRequest>, i: number): object[] =>
  (request.messages[i] as AssistantMessage).toolCalls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args }));
const tool = (content: string, toolCallId: string, rest: Partial<ToolMessage> = {}): ToolMessage => ({
  role: 'tool',
  content,
  toolCallId,
  name: null,
  isError: false,
  ...rest,
});

describe('Claude Code', () => {
  it('drops the billing block and cache markers, keeps the late system message, defers tools', () => {
    const request = clientRequest('claude-code-first');
    expect(request.messages).toStrictEqual([
      { role: 'system', content: 'You are an agent.\n# Rules\nBe brief.' },
      { role: 'user', content: '<system-reminder>\nToday.\n</system-reminder>\nFix the bug.' },
      { role: 'system', content: '# Environment\nTools by name: WebFetch, WebSearch' },
    ]);
    expect(request.tools.map(({ name }) => name)).toStrictEqual(['Agent', 'Read', 'ToolSearch']);
    expect(request.deferredTools?.map(({ name }) => name)).toStrictEqual(['DeferredToolPlaceholder']);
    expect(request).toMatchObject({ stream: true, sampling: { maxTokens: 32000 }, toolChoice: 'auto', parallelToolCalls: true });
  });

  it('reads the next turn as a continuation of the same messages', () => {
    const first = clientRequest('claude-code-first');
    const second = clientRequest('claude-code-second');
    expect(second.messages.slice(0, 3)).toStrictEqual(first.messages);
    expect(second.tools).toStrictEqual(first.tools);
    expect(second.messages[3]).toMatchObject({ role: 'assistant', content: 'I look.', reasoning: 'Look at both.', turnHint: 'turn-1' });
    expect(calls(second, 3)).toStrictEqual([
      call('call_aaaa1111', 'Read', '{"file_path": "/b", "2": 1.0, "1": true}'),
      call('call_bbbb2222', 'Agent', '{}'),
    ]);
    expect(second.messages.slice(4)).toStrictEqual([
      tool('<tool_use_error>File does not exist.</tool_use_error>', 'call_aaaa1111', { isError: true }),
      tool('[Subagent hand-back] done', 'call_bbbb2222'),
      { role: 'user', content: '<system-reminder>Go on.</system-reminder>' },
      { role: 'system', content: 'A helper finished.' },
    ]);
  });

  it('expands references where they stand and leaves the head as it was', () => {
    const request = clientRequest('claude-code-tool-search');
    expect(request.tools).toStrictEqual(clientRequest('claude-code-first').tools);
    expect(request.deferredTools?.map(({ name }) => name)).toStrictEqual(['WebFetch', 'DeferredToolPlaceholder']);
    expect(request.messages.slice(-2)).toStrictEqual([
      tool(
        '<tools>\n{"type": "function", "function": {"name": "WebFetch", "description": "Fetches a page.", "parameters": {"type": "object", "properties": {"url": {"type": "string"}}}}}\n</tools>',
        'call_cccc3333',
      ),
      { role: 'user', content: 'Tool loaded.' },
    ]);
  });
});

describe('other clients of Messages', () => {
  it('refuses threads by the code that makes the SDK send the whole history', () => {
    expect(refusal(() => clientRequest('anthropic-sdk-thread')).code).toBe('thread_unsupported_request');
  });

  it('reads opencode', () => {
    const request = clientRequest('opencode-messages');
    expect(request.messages.slice(1)).toMatchObject([
      { role: 'user', content: '"list"' },
      { content: null, reasoning: 'hm', turnHint: 'turn-9' },
      tool('a b', 'call_x'),
    ]);
  });

  it('reads Strands', () => {
    expect(clientRequest('strands-messages').messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: null, reasoning: null },
      tool('ok', 'c1'),
    ]);
  });
});

describe('clients of Chat', () => {
  it('reads Qwen Code', () => {
    const request = clientRequest('qwen-code');
    expect(request).toMatchObject({ stream: true, includeUsage: true, sampling: { maxTokens: 32000 } });
    expect(request.messages[1]).toStrictEqual({
      role: 'user',
      content: '<system-reminder>a</system-reminder><system-reminder>b</system-reminder>Do it.',
    });
    expect(request.messages[2]).toMatchObject({ content: null, reasoning: 'I think' });
    expect(calls(request, 2)).toStrictEqual([call('call_1', 'f', '{"x":1}'), call('call_2', 'f', '{}')]);
    expect(request.messages.slice(3)).toStrictEqual([tool('one', 'call_1'), tool('two', 'call_2')]);
    expect(request.tools.map(({ name }) => name)).toStrictEqual(['f', 'g']);
  });

  it('reads opencode', () => {
    const request = clientRequest('opencode-chat');
    expect(request.messages.map(({ role }) => role)).toStrictEqual(['system', 'user', 'user', 'assistant', 'tool']);
    expect(request.messages[3]).toMatchObject({ content: '', reasoning: ' r \n' });
  });

  it('reads LangChain', () => {
    const request = clientRequest('langchain-chat');
    expect(request.messages[0]).toStrictEqual({ role: 'system', content: 'sys' });
    expect(request.messages[3]).toStrictEqual(tool('r', 'call_1', { name: 'f' }));
  });

  it('reads Agents JS, only the text of its parts', () => {
    const request = clientRequest('agents-js-chat');
    expect(request.messages[2]).toMatchObject({ content: 'hello', reasoning: null });
    expect(calls(request, 2)).toStrictEqual([call('call_1', 'f', '{ "x" : 1 }')]);
    expect(request.tools).toStrictEqual([
      {
        name: 'f',
        description: 'F',
        parameters: new Map<string, unknown>([
          ['type', 'object'],
          ['properties', new Map([['x', new Map([['type', 'number']])]])],
          ['required', ['x']],
        ]),
      },
    ]);
  });

  it('reads the AI SDK', () => {
    expect(clientRequest('ai-sdk-chat').messages[1]).toMatchObject({ content: null, reasoning: 'r' });
  });

  it('takes null for absent', () => {
    const request = clientRequest('vllm-echo-chat');
    expect(request.messages).toStrictEqual([
      { role: 'system', content: 's' },
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'a', reasoning: 'r', toolCalls: [] },
      { role: 'user', content: 'more' },
    ]);
    expect(request).toMatchObject({ sampling: {}, stopStrings: [], tools: [], stream: false, topLogprobs: null });
  });
});

it('every fixture is used', () => {
  const names = readdirSync(new URL('../fixtures/protocols/', import.meta.url)).filter((file) => file.endsWith('.json'));
  expect(names).toHaveLength(12);
  for (const name of names.filter((file) => file !== 'anthropic-sdk-thread.json'))
    expect(clientRequest(name.slice(0, -5)).messages.length).toBeGreaterThan(0);
});
