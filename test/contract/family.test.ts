import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/canonical/json-parse.js';
import { writeJson } from '../../src/canonical/json-write.js';
import type { ParsedReply, ReplyText } from '../../src/families/family.js';
import { FAMILIES, familyNamed, usualFamily } from '../../src/families/registry.js';
import { expectWhole } from '../families/malformed-table.js';
import { TOOLS } from '../families/template-fixtures.js';

/** Control texts of all grammars and the letters that stand between them. */
const PIECES = [
  ...[
    '<think>',
    '</think>',
    '<tool_call>',
    '</tool_call>',
    '<function=look_up>',
    '</function>',
    '<parameter=s>',
    '</parameter>',
    '<function=',
  ],
  ...[
    '<arg_key>s</arg_key>',
    '<arg_value>',
    '</arg_value>',
    '<arg_key>',
    '<seed:tool_call>',
    '</seed:tool_call>',
    '<seed:think>',
    '</seed:think>',
  ],
  ...['<minimax:tool_call>', '</minimax:tool_call>', '<invoke name="f">', '</invoke>', '<parameter name="s">', '<invoke name='],
  ...[
    '<｜DSML｜function_calls>',
    '</｜DSML｜function_calls>',
    '<｜DSML｜invoke name="f">',
    '</｜DSML｜invoke>',
    '<｜DSML｜parameter name="s" string="true">',
    '</｜DSML｜parameter>',
  ],
  ...[
    '<｜tool▁calls▁begin｜>',
    '<｜tool▁calls▁end｜>',
    '<｜tool▁call▁begin｜>',
    '<｜tool▁call▁end｜>',
    '<｜tool▁sep｜>',
    'function',
    '```json\n',
    '\n```',
  ],
  ...[
    '<|tool_calls_section_begin|>',
    '<|tool_calls_section_end|>',
    '<|tool_call_begin|>',
    '<|tool_call_end|>',
    '<|tool_call_argument_begin|>',
    'functions.f:0',
  ],
  ...[
    '[TOOL_CALLS]',
    '[ARGS]',
    '[CALL_ID]',
    '[THINK]',
    '[/THINK]',
    '<|python_tag|>',
    '<|python_start|>',
    '<|python_end|>',
    '<|tool_call_start|>',
    '<|tool_call_end|>',
  ],
  ...[
    '<|tool_call>',
    '<tool_call|>',
    'call:f',
    '<|"|>',
    '<|channel>thought',
    '<channel|>',
    ']<]minimax[>[',
    ']<]minimax[>[<tool_call>',
    ']<]minimax[>[</tool_call>',
  ],
  ...[']<]minimax[>[<invoke name="f">', ']<]minimax[>[</invoke>', ']<]minimax[>[<s>', ']<]minimax[>[</s>', '<mm:think>', '</mm:think>'],
  ...[
    '<|start|>',
    'assistant',
    '<|channel|>',
    'analysis',
    'final',
    'commentary',
    ' to=functions.f',
    '<|constrain|>',
    '<|message|>',
    '<|end|>',
    '<|call|>',
    '<|return|>',
  ],
  ...[
    '{"name": "f", "arguments": {"s": 1}}',
    '{"name": "f", "parameters": {}}',
    '{"name": ',
    '[f(s=1)]',
    '[f(',
    's=',
    ')]',
    '{}',
    '{',
    '}',
    '[',
    ']',
    '"',
    "'",
    ':',
    ',',
  ],
  ...['f', 'a b', '\n', '\n\n', ' ', '\\', '7', 'true', 'None', '\ud83d', 'é', '<', '>', '|'],
];

interface Sampled {
  readonly pieces: readonly string[];
  /** Whether the piece at an index is a control token where it could be one. */
  readonly tokens: readonly boolean[];
  readonly stop: string;
  readonly reasoningOpen: boolean;
}

const sampled: fc.Arbitrary<Sampled> = fc
  .array(fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...PIECES) }, { weight: 1, arbitrary: fc.string({ unit: 'binary' }) }), {
    maxLength: 40,
  })
  .chain((pieces) =>
    fc.record({
      pieces: fc.constant(pieces),
      tokens: fc.array(fc.boolean(), { minLength: pieces.length, maxLength: pieces.length }),
      stop: fc.constantFrom('', '<|im_end|>', '</tool_call>', '<|call|>'),
      reasoningOpen: fc.boolean(),
    }),
  );

function replyOf({ pieces, tokens, stop, reasoningOpen }: Sampled): ReplyText {
  const letters = new Set<number>();
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    if (tokens[index] === false) letters.add(at);
    at += piece.length;
  }
  const text = pieces.join('') + stop;
  return { text, stopStart: at, isMarker: (_, offset) => !letters.has(offset), reasoningOpen, tools: TOOLS };
}

function textOf(reply: ParsedReply, text: string, kinds: readonly string[]): string {
  return reply.spans
    .filter((span) => kinds.includes(span.kind))
    .map((span) => text.slice(span.start, span.end))
    .join('');
}

describe.each(FAMILIES.map((entry) => [entry.name, entry] as const))('family %s', (name, entry) => {
  const { family } = usualFamily(entry);

  it('is found by its name', () => {
    expect(familyNamed(name)).toBe(entry);
    expect(family.name).toBe(name);
  });

  it('gives every character of any reply exactly one span, and throws at none', () => {
    fc.assert(
      fc.property(sampled, (sample) => {
        const reply = replyOf(sample);
        const parsed = family.parse(reply);
        expectWhole(parsed, reply.text.length);
        expect(parsed.content).toBe(textOf(parsed, reply.text, ['content', 'unparsed']));
        expect(parsed.reasoning ?? '').toBe(textOf(parsed, reply.text, ['reasoning']));
        if (parsed.spans.some((span) => span.kind === 'unparsed')) expect(parsed.illFormed).toBe(true);
        for (const call of parsed.toolCalls) {
          expect(call.name.trim()).not.toBe('');
          expect(call.value).toBeDefined();
          expect(() => parseJson(call.arguments, { allowNonFinite: true })).not.toThrow();
        }
      }),
      { numRuns: 400 },
    );
  });

  it('reads the same reply the same way twice', () => {
    fc.assert(
      fc.property(sampled, (sample) => {
        const describeReply = (parsed: ParsedReply) => ({
          ...parsed,
          toolCalls: parsed.toolCalls.map((call) => [call.name, writeJson(call.value ?? null)]),
        });
        expect(describeReply(family.parse(replyOf(sample)))).toEqual(describeReply(family.parse(replyOf(sample))));
      }),
      { numRuns: 50 },
    );
  });

  it('does not try for ever what it cannot read', () => {
    const beginnings = [
      '<tool_call>{"name": "',
      '<tool_call>["',
      '<tool_call>\n<function=look_up>\n<parameter=s>\n',
      '[TOOL_CALLS]f[ARGS]{"',
      '<|tool_call>call:f{s:<|"|>',
    ];
    for (const beginning of beginnings) {
      const text = beginning.repeat(5000);
      const reply = family.parse({ text, stopStart: text.length, isMarker: () => true, reasoningOpen: false, tools: TOOLS });
      expectWhole(reply, text.length);
      expect(reply.spans.length).toBeLessThan(text.length / 8);
    }
  });

  it('keeps plain words as they are', () => {
    const text = 'Two and two is four.\n\nSure.';
    const reply = entry.name === 'harmony' ? `<|channel|>final<|message|>${text}<|return|>` : text;
    expect(family.parse({ text: reply, stopStart: reply.length, isMarker: () => true, reasoningOpen: false, tools: [] })).toMatchObject({
      content: text,
      reasoning: null,
      toolCalls: [],
      illFormed: false,
    });
  });

  it('takes nothing for a tag that is spelled in letters', () => {
    fc.assert(
      fc.property(sampled, (sample) => {
        const reply = { ...replyOf(sample), isMarker: () => false };
        const parsed = family.parse({ ...reply, reasoningOpen: false });
        expect(parsed.reasoning).toBeNull();
      }),
      { numRuns: 100 },
    );
  });
});
