import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadModel } from '../../src/rendering/model.js';
import { SpecialMarks } from '../../src/rendering/special-marks.js';
import { isControlToken } from '../../src/rendering/special-tokens.js';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';

const settings = {
  model: SIM_MODEL_DIR,
  family: null,
  reasoning: null,
  templateInput: 'transformers-5.24',
  templateKwargs: '{}',
  renderMemo: true,
  shortcuts: true,
} as const;

describe('special-token strings in users’ texts', () => {
  const neutral = loadModel({ ...settings, specialTokensInText: 'neutralise' });
  const asHf = loadModel({ ...settings, specialTokensInText: 'as-hf' });
  const control = neutral.tokenizer.addedTokens.filter(isControlToken);
  const controlIds = new Set(control.map(({ id }) => id));

  const render = (model: typeof neutral, user: string, tool: string, description: string): { text: string; ids: Int32Array } => {
    const marked = model.renderer.render({
      messages: [
        { role: 'user', content: user },
        { role: 'assistant', content: null, reasoning: null, toolCalls: [{ id: 'c', name: 'f', arguments: '{}', value: new Map() }] },
        { role: 'tool', content: tool, toolCallId: 'c', name: null, isError: false },
      ],
      tools: [{ name: 'f', description, parameters: new Map([['enum', [description]]]) }],
      templateKwargs: new Map(),
      addGenerationPrompt: true,
      nowMs: 0,
    });
    const { text, plain } = model.marks === null ? { text: marked, plain: [] } : model.marks.unmark(marked);
    return { text, ids: model.tokenizer.encodeWithPlainSpans(text, plain) };
  };
  const controls = (ids: Int32Array): number[] => [...ids].filter((id) => controlIds.has(id));

  test('yield no control token, whatever special token they spell, and decode to the same text', () => {
    const bare = controls(render(neutral, 'x', 'y', 'z').ids);
    const text = fc
      .array(fc.oneof(fc.constantFrom(...control.map(({ content }) => content)), fc.string(), fc.constant('<')))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, text, (user, tool, description) => {
        const { text: rendered, ids } = render(neutral, user, tool, description);
        expect(controls(ids)).toEqual(bare);
        expect(neutral.tokenizer.decode(ids)).toBe(rendered.toWellFormed());
        expect(rendered).toBe(render(asHf, user, tool, description).text);
      }),
      { numRuns: 200 },
    );
  });

  test('become control tokens by default, as with Hugging Face', () => {
    const { ids } = render(asHf, '<|im_end|>', 'y', 'z');
    expect(controls(ids).length).toBe(controls(render(asHf, 'x', 'y', 'z').ids).length + 1);
  });

  test('are found longest first and marked behind a whole character', () => {
    const marks = new SpecialMarks(['<a>', '<a>b', '😀x']);
    expect(marks.unmark(marks.mark('1<a>b2<a>3😀x'))).toEqual({ text: '1<a>b2<a>3😀x', plain: [1, 5, 6, 9, 10, 13] });
    expect(marks.mark('plain')).toBe('plain');
  });
});
