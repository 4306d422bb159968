import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/canonical/message.js';
import { HistoryWorld, modelWithStrippingToken } from '../support/history-world.js';

/** Asks twice and gives the second prompt's ids, what they should be and how the tree says they continue. */
async function secondPrompt(token: string, side: 'lstrip' | 'rstrip', renderMemo: boolean) {
  const model = modelWithStrippingToken(token, side, renderMemo);
  const world = new HistoryWorld(model, 'auto');
  const first: Message = { role: 'user', content: 'hi' };
  const open = await world.begin([first], [], 'openai-chat');
  const reply = world.finish(open, { reasoning: 'hm', text: 'yes' }, null, () => -1);
  world.commit(open, 0);
  const next = await world.begin([first, reply, { role: 'user', content: 'more' }], [], 'openai-chat');
  return { ids: [...next.promptIds], expected: [...model.tokenizer.encode(next.fresh)], form: next.prepared.form.kind, model };
}

describe('a prompt behind recorded ids is what the tokenizer gives for the text of both', () => {
  for (const renderMemo of [true, false]) {
    test(`where the stop token takes in the line break behind it, ${renderMemo ? 'with' : 'without'} memory`, async () => {
      const { ids, expected, form, model } = await secondPrompt('<|im_end|>', 'rstrip', renderMemo);
      expect(model.tokenizer.splitsAtSpecialTokens).toBe(true);
      expect(ids).toEqual(expected);
      expect(form).toBe('extends');
    });

    test(`where a token takes in what stands before it, ${renderMemo ? 'with' : 'without'} memory`, async () => {
      const { ids, expected, form, model } = await secondPrompt('<|im_start|>', 'lstrip', renderMemo);
      expect(model.tokenizer.splitsAtSpecialTokens).toBe(false);
      expect(ids).toEqual(expected);
      expect(form).toBe('extends');
    });
  }
});
