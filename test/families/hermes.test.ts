import { describe, expect, it } from 'vitest';
import { THINK_TAGS } from '../../src/families/reasoning-split.js';
import { plainReply } from '../../src/families/reply-shape.js';
import { hermes } from '../../src/families/tagged-json.js';

const family = hermes.make({ reasoning: THINK_TAGS, contentLead: '', callLead: '\n' });
const parse = (text: string) => family.parse(plainReply(text));

describe('hermes', () => {
  it('reads reasoning, words and parallel calls, and keeps the sampled spelling of arguments', () => {
    const reply = parse(
      '<think>\nplan\n</think>\n\nHi\n<tool_call>\n{"name": "f", "arguments": {"a":1.0, "b": "</tool_call>"}}\n</tool_call>\n<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>',
    );
    expect(reply).toMatchObject({ reasoning: 'plan', content: 'Hi', illFormed: false });
    expect(reply.toolCalls.map((call) => [call.name, call.arguments, call.error])).toEqual([
      ['f', '{"a":1.0, "b": "</tool_call>"}', null],
      ['g', '{}', null],
    ]);
    expect(reply.spans.map((span) => span.kind)).toEqual([
      'markup',
      'reasoning',
      'markup',
      'content',
      'markup',
      'tool_call',
      'markup',
      'tool_call',
    ]);
  });
});
