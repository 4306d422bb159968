import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/canonical/message.js';
import type { Reply } from '../../src/sim/reply.js';
import { embeddedTemplate, HistoryWorld, modelWithTemplate } from '../support/history-world.js';

const MORE: Message = { role: 'user', content: 'more' };
const TOOLS = [{ name: 'look', parameters: new Map([['type', 'object']]) }];

/** Says a reply, sends it back with what follows, and gives the text behind the first prompt. */
async function nextPrompt(template: string, reply: Reply, follows: Message) {
  const world = new HistoryWorld(modelWithTemplate(template, true), 'verbatim');
  const first: Message = { role: 'user', content: 'hi' };
  const open = await world.begin([first], TOOLS, 'openai-chat');
  const said = world.finish(open, reply, null, () => -1);
  world.commit(open, 0);
  const next = await world.begin([first, said, follows], TOOLS, 'openai-chat');
  return { form: next.prepared.form, text: world.model.tokenizer.decode(next.promptIds.subarray(open.promptIds.length)) };
}

describe('history: verbatim', () => {
  test('keeps dropped reasoning, and calls whose arguments hold the text of a closer', async () => {
    const template = readFileSync(join(import.meta.dirname, '../fixtures/tempers/drops-reasoning.jinja'), 'utf8');
    const raw = '<think>\nhm\n</think>\n\n<tool_call>\n{"name": "look", "arguments": {"q": "\\u003c|im_end|> x"}}\n</tool_call>';
    const { form, text } = await nextPrompt(template, { raw }, MORE);
    expect(form).toMatchObject({ kind: 'extends', proof: 'verbatim' });
    expect(text).toBe(`${raw}<|im_end|>\n<|im_start|>user\nmore<|im_end|>\n<|im_start|>assistant\n`);
  });

  test('keeps the sampled stop where the template closes with another token', async () => {
    const template = embeddedTemplate().replace(
      "{{- '<|im_end|>\\n' }}\n    {%- elif message.role == 'tool'",
      "{{- '<|endoftext|>\\n' }}\n    {%- elif message.role == 'tool'",
    );
    expect(template).not.toBe(embeddedTemplate());
    const { form, text } = await nextPrompt(template, { text: 'yes' }, MORE);
    expect(form).toMatchObject({ kind: 'extends', proof: 'verbatim' });
    expect(text).toBe('yes<|im_end|>\n<|im_start|>user\nmore<|im_end|>\n<|im_start|>assistant\n');
  });
});
