import { expect, test } from 'vitest';
import type { Message } from '../../src/canonical/message.js';
import { loadModelDirectory } from '../../src/rendering/model-directory.js';
import { promptSegments } from '../../src/rendering/prompt-segments.js';
import { loadTokenizer } from '../../src/rendering/tokenizer.js';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';

const tokenizer = loadTokenizer(loadModelDirectory(SIM_MODEL_DIR));

test('promptSegments tells template, tool and user apart, and covers every id once', () => {
  const messages: Message[] = [
    { role: 'tool', content: 'sunny ☀️', toolCallId: 'c', name: null, isError: false },
    { role: 'user', content: '  and then?\n' },
  ];
  const text = '\n<|im_start|>tool\nsunny ☀️<|im_end|>\n<|im_start|>user\nand then?<|im_end|>\n<|im_start|>assistant\n';
  const ids = tokenizer.encode(text);
  const segments = promptSegments(ids, messages, tokenizer);
  expect(segments.map(({ kind }) => kind)).toEqual(['template', 'tool', 'template', 'user', 'template']);
  expect(segments.reduce((sum, { length }) => sum + length, 0)).toBe(ids.length);
  const starts = segments.map((_, n) => segments.slice(0, n).reduce((sum, { length }) => sum + length, 0));
  const texts = segments.map(({ length }, n) => tokenizer.decode(ids.subarray(starts[n], starts[n]! + length)));
  expect(texts[1]).toContain('sunny ☀️');
  expect(texts[3]).toContain('and then?');
  expect(texts[1]).not.toContain('<|im_end|>');
});

test('promptSegments leaves a text that the template rewrote to the template', () => {
  const ids = tokenizer.encode('ABC');
  expect(promptSegments(ids, [{ role: 'user', content: 'abc' }], tokenizer)).toEqual([{ kind: 'template', length: ids.length }]);
});
