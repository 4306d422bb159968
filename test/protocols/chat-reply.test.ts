import { describe, expect, it } from 'vitest';
import type { TurnReply, TurnRequest } from '../../src/canonical/turn.js';
import { createProtocols } from '../../src/protocols/registry.js';
import { richReply, turnReply } from './replies.js';
import { chatHi, protocols } from './requests.js';

interface Chunk {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly delta: Record<string, unknown>;
    readonly finish_reason: string | null;
    readonly token_ids?: unknown;
  }[];
  readonly usage?: unknown;
  readonly prompt_token_ids?: unknown;
}

const protocol = protocols['openai-chat'];
const whole = (reply: TurnReply, request = chatHi()): Record<string, unknown> & { choices: Record<string, unknown>[] } =>
  JSON.parse(protocol.formatReply(request, reply)) as Record<string, unknown> & { choices: Record<string, unknown>[] };

/** Data of the events; fails on anything that is not `data: …` and a blank line. */
const dataOf = (text: string): string[] => {
  expect(text.endsWith('\n\n')).toBe(true);
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((event) => {
      expect(event.startsWith('data: ')).toBe(true);
      expect(event).not.toContain('\n');
      return event.slice(6);
    });
};

const stream = (reply: TurnReply, request: TurnRequest): Chunk[] => {
  const { turnId, createdAtSeconds, promptTokens, promptIds } = reply;
  const data = dataOf(
    protocol.openStream(request, { turnId, createdAtSeconds, promptTokens, promptIds }) + protocol.finishStream(request, reply),
  );
  expect(data.pop()).toBe('[DONE]');
  return data.map((json) => JSON.parse(json) as Chunk);
};

describe('an answer', () => {
  it('has every member that clients read', () => {
    expect(whole(richReply())).toStrictEqual({
      id: 'chatcmpl-turn-1',
      object: 'chat.completion',
      created: 1_796_000_000,
      model: 'm',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Zürich 😀\u2028\n\ndata: "x"',
            refusal: null,
            reasoning_content: 'let me\n\nthink',
            tool_calls: [
              {
                id: 'call_aaaa1111',
                type: 'function',
                function: { name: 'weather', arguments: '{"city": "Z\\u00fcrich", "2": 1.0, "1": 12345678901234567890}' },
              },
              { id: 'call_bbbb2222', type: 'function', function: { name: 'weather', arguments: '{}' } },
            ],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
          stop_reason: null,
        },
      ],
      usage: {
        prompt_tokens: 4,
        completion_tokens: 3,
        total_tokens: 7,
        prompt_tokens_details: { cached_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    });
  });

  it('has no content beside calls alone, and empty text otherwise', () => {
    const { toolCalls } = richReply().message;
    expect(whole(turnReply({}, { content: '', toolCalls })).choices[0]?.message).toMatchObject({ content: null });
    expect(whole(turnReply({}, { content: null })).choices[0]?.message).toStrictEqual({ role: 'assistant', content: '', refusal: null });
    expect(whole(turnReply({}, { reasoning: '' })).choices[0]?.message).toMatchObject({ reasoning_content: '' });
  });

  it('says how it ended', () => {
    expect(whole(turnReply({ finishReason: 'stop_sequence', stopString: 'END' })).choices[0]).toMatchObject({
      finish_reason: 'stop',
      stop_reason: 'END',
    });
    expect(whole(turnReply({ finishReason: 'length' })).choices[0]).toMatchObject({ finish_reason: 'length', stop_reason: null });
    expect(whole(turnReply()).usage).toMatchObject({ prompt_tokens_details: null });
  });

  it('carries ids and logprobs as vLLM spells them', () => {
    const answer = whole(turnReply(), chatHi({ return_token_ids: true, logprobs: true }));
    expect(answer.prompt_token_ids).toStrictEqual([10, 11, 12, 13]);
    expect(answer.choices[0]?.token_ids).toStrictEqual([20, 21, 22]);
    expect(answer.choices[0]?.logprobs).toStrictEqual({
      content: [
        { token: 'token_id:20', logprob: -0.5, bytes: [60, 195, 169, 50, 48, 62], top_logprobs: [] },
        { token: 'token_id:21', logprob: null, bytes: null, top_logprobs: [] },
        { token: 'token_id:22', logprob: -0.25, bytes: [60, 195, 169, 50, 50, 62], top_logprobs: [] },
      ],
      refusal: null,
    });
  });

  it('carries texts and alternatives as OpenAI spells them', () => {
    const topLogprobs = [20, 21, 22].map((id) => [
      { id, logprob: -0.5 },
      { id: 30, logprob: -2 },
      { id: 31, logprob: -3 },
    ]);
    const answer = whole(turnReply({ topLogprobs }), chatHi({ logprobs: true, top_logprobs: 2 }));
    const { content } = answer.choices[0]!.logprobs as { content: { token: string; top_logprobs: { token: string; logprob: number }[] }[] };
    expect(content.map(({ token }) => token)).toStrictEqual(['<é20>', '\ufffd', '<é22>']);
    expect(content[0]?.top_logprobs.map(({ token, logprob }) => [token, logprob])).toStrictEqual([
      ['<é20>', -0.5],
      ['<é30>', -2],
    ]);
    expect(answer).not.toHaveProperty('prompt_token_ids');
    expect(answer.choices[0]).not.toHaveProperty('token_ids');
  });

  it('names reasoning as the setting says', () => {
    const message = (reasoning: 'reasoning' | 'both'): unknown =>
      (JSON.parse(createProtocols({ reasoning })['openai-chat'].formatReply(chatHi(), richReply())) as { choices: { message: unknown }[] })
        .choices[0]?.message;
    expect(message('reasoning')).toHaveProperty('reasoning', 'let me\n\nthink');
    expect(message('reasoning')).not.toHaveProperty('reasoning_content');
    expect(message('both')).toMatchObject({ reasoning: 'let me\n\nthink', reasoning_content: 'let me\n\nthink' });
  });
});

describe('a stream', () => {
  it('has its chunks in order, each with the same head', () => {
    const chunks = stream(richReply(), chatHi({ stream: true }));
    for (const { id, object, created, model } of chunks) {
      expect({ id, object, created, model }).toStrictEqual({
        id: 'chatcmpl-turn-1',
        object: 'chat.completion.chunk',
        created: 1_796_000_000,
        model: 'm',
      });
    }
    expect(chunks.map(({ choices }) => choices[0]?.delta)).toStrictEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'let me\n\nthink' },
      { content: 'Zürich 😀\u2028\n\ndata: "x"' },
      { tool_calls: [{ index: 0, id: 'call_aaaa1111', type: 'function', function: { name: 'weather', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"city": "Z\\u00fcrich", "2": 1.0, "1": 12345678901234567890}' } }] },
      { tool_calls: [{ index: 1, id: 'call_bbbb2222', type: 'function', function: { name: 'weather', arguments: '' } }] },
      { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
      {},
    ]);
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toStrictEqual([...Array<null>(7).fill(null), 'tool_calls']);
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false);
  });

  it('has a last chunk with usage and without choices where that was asked for', () => {
    const chunks = stream(turnReply(), chatHi({ stream: true, stream_options: { include_usage: true } }));
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 } });
    expect(chunks.filter((chunk) => 'usage' in chunk)).toHaveLength(1);
  });

  it('carries prompt ids in the first chunk, output ids and logprobs in the one that ends the choice', () => {
    const chunks = stream(turnReply(), chatHi({ stream: true, return_token_ids: true, logprobs: true }));
    expect(chunks.map((chunk) => chunk.prompt_token_ids)).toStrictEqual([[10, 11, 12, 13], undefined, undefined]);
    expect(chunks.map(({ choices }) => choices[0]?.token_ids)).toStrictEqual([undefined, undefined, [20, 21, 22]]);
    expect(chunks.at(-1)?.choices[0]).toMatchObject({ logprobs: { content: [{ token: 'token_id:20' }, {}, {}] } });
  });

  it('leaves out what is empty', () => {
    expect(stream(turnReply({}, { content: '', reasoning: '' }), chatHi()).map(({ choices }) => choices[0]?.delta)).toStrictEqual([
      { role: 'assistant', content: '' },
      {},
    ]);
  });

  it('fails by one event', () => {
    const [json] = dataOf(protocol.failStream({ code: 'engine_failed', message: 'no' }, 'req'));
    expect(JSON.parse(json!)).toStrictEqual({ error: { message: 'no', type: 'server_error', param: null, code: 'engine_failed' } });
  });

  it('has a heartbeat that is no event', () => {
    expect(protocol.heartbeat).toMatch(/^:.*\n\n$/);
  });
});
