import type { TurnReply } from '../../src/canonical/turn.js';
import { toolCall } from '../../src/protocols/tool-arguments.js';

/** A finished turn of three output tokens that says "hi". */
export const turnReply = (changes: Partial<TurnReply> = {}, message: Partial<TurnReply['message']> = {}): TurnReply => ({
  turnId: 'turn-1',
  createdAtSeconds: 1_796_000_000,
  promptTokens: 4,
  promptIds: () => Int32Array.of(10, 11, 12, 13),
  outputIds: Int32Array.of(20, 21, 22),
  logprobs: Float32Array.of(-0.5, Number.NaN, -0.25),
  topLogprobs: null,
  message: { role: 'assistant', content: 'hi', reasoning: null, toolCalls: [], ...message },
  finishReason: 'stop',
  stopString: null,
  cachedTokens: null,
  reasoningTokens: 0,
  signature: () => 'sig:turn-1',
  tokenText: (id) => (id === 21 ? '\ufffd' : `<é${id}>`),
  ...changes,
});

/** Reasoning, text and two calls, with what JSON and SSE could trip over. */
export const richReply = (): TurnReply =>
  turnReply(
    { finishReason: 'tool_calls', reasoningTokens: 2, cachedTokens: 3 },
    {
      content: 'Zürich 😀\u2028\n\ndata: "x"',
      reasoning: 'let me\n\nthink',
      toolCalls: [
        toolCall('call_aaaa1111', 'weather', '{"city": "Z\\u00fcrich", "2": 1.0, "1": 12345678901234567890}'),
        toolCall('call_bbbb2222', 'weather', '{}'),
      ],
    },
  );
