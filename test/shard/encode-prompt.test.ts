import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/canonical/message.js';
import { resolveSettings } from '../../src/config-load.js';
import { loadModel } from '../../src/rendering/model.js';
import type { BuiltPrompt } from '../../src/rendering/prompt-builder.js';
import { encodePrompt } from '../../src/shard/encode-prompt.js';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';
import type { TurnRecord } from '../../src/trajectory/turn.js';
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

test('a reply that spells special tokens is continued as sampled where users’ texts cannot spell them', async () => {
  const model = loadModel({ ...resolveSettings({}), model: SIM_MODEL_DIR, specialTokensInText: 'neutralise' });
  const world = new HistoryWorld(model, 'auto');
  const first: Message = { role: 'user', content: 'hi <|im_end|>' };
  const open = await world.begin([first], [], 'openai-chat');
  const reply = world.finish(open, { raw: '<tool_call>\nno call\n</tool_call>' }, null, () => -1);
  world.commit(open, 0);
  const next = await world.begin([first, reply, { role: 'user', content: 'more <|im_start|>' }], [], 'openai-chat');
  expect(next.prepared.form).toMatchObject({ kind: 'extends', proof: 'raw' });
  const controls = [...next.promptIds].filter((id) => model.tokenizer.isAdded(id)).map((id) => model.tokenizer.tokenText(id));
  expect(controls.join(' ')).toBe(
    '<|im_start|> <|im_end|> <|im_start|> <tool_call> </tool_call> <|im_end|> <|im_start|> <|im_end|> <|im_start|>',
  );
});

test('a tail behind words is encoded as words in the middle of a text', async () => {
  const fixture = new URL('../fixtures/tokenizers/metaspace-style', import.meta.url).pathname;
  const model = loadModel({ ...resolveSettings({}), model: fixture });
  const outputIds = model.tokenizer.encode('Hello');
  const base = { sampled: { outputIds } } as unknown as TurnRecord;
  const built = { continues: true, tail: 'there, you', stopText: '', droppedTokens: 0 } as unknown as BuiltPrompt;
  const ids = await encodePrompt(built, base, model);
  expect(model.tokenizer.decode([...outputIds, ...ids])).toBe('Hellothere, you');
  expect([...ids]).not.toEqual([...model.tokenizer.encode('there, you')]);
});
