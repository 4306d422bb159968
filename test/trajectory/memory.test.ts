import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { TrajectoryTree } from '../../src/trajectory/tree.js';
import type { TurnRecord } from '../../src/trajectory/turn.js';
import { fullIds, promptIds } from '../../src/trajectory/turn-ids.js';
import { assistant, fresh, ROOT, system, Talk, turn, user } from '../support/trajectory-fixtures.js';

const storedTokens = (turns: readonly TurnRecord[]) =>
  turns.reduce((sum, { delta, sampled }) => sum + delta.length + sampled.outputIds.length, 0);
const storedBytes = (turns: readonly TurnRecord[]) =>
  turns.reduce((sum, { delta, sampled }) => sum + delta.byteLength + sampled.outputIds.byteLength + sampled.logprobs.byteLength, 0);

const join = (...parts: Int32Array[]): Int32Array => Int32Array.from(parts.flatMap((part) => [...part]));

test('case 67: quadratic memory: 200 turns of a long prompt store what is new', () => {
  const tree = new TrajectoryTree();
  const talk = new Talk(tree, ROOT, user('q'));
  for (let i = 0; i < 200; i++) talk.hear(user(`${i}`)).answer(assistant(`${i}`));
  const tokens = storedTokens(tree.turns);
  expect(tokens).toBe(fullIds(tree.turns.at(-1)!).length);
  expect(storedBytes(tree.turns) / tokens).toBeLessThanOrEqual(8);
});

test('prompts rendered anew store only what differs: forks, twins and conversations that share a head', () => {
  const tree = new TrajectoryTree();
  const head = fresh(5000);
  const prompts: Int32Array[] = [];
  const ask = (messages: Parameters<typeof turn>[1]['messages'], prompt: Int32Array) => {
    prompts.push(prompt);
    return turn(tree, { messages, prompt, output: fresh(10), reply: assistant(`a${prompts.length}`) });
  };
  const first = ask([system('s'), user('q')], join(head, fresh(20)));
  ask([system('s'), user('q')], prompts[0]!);
  ask([system('s'), user('summary')], join(head, fresh(30)));
  ask([system('s'), user('q'), assistant('a1'), user('b')], join(prompts[0]!.subarray(0, 5010), fresh(15)));
  ask([system('s'), user('q'), assistant('a1'), user('b')], join(prompts[0]!, first.sampled.outputIds, fresh(15)));
  expect(tree.turns.map(({ delta }) => delta.length)).toEqual([5020, 0, 30, 15, 15]);
  expect(tree.turns.map((t) => [...promptIds(t)])).toEqual(prompts.map((prompt) => [...prompt]));
});

test('chains of stored starts stay short however often a prompt is rendered anew', () => {
  const tree = new TrajectoryTree();
  const head = fresh(100);
  for (let i = 0; i < 50; i++)
    turn(tree, { messages: [system('s'), user(`${i}`)], prompt: join(head, fresh(3)), output: fresh(2), reply: assistant('a') });
  for (const { base } of tree.turns.slice(1)) expect(base).toBe(tree.turns[0]);
});

test('a session that is dropped is freed whole: nothing outside it knows its turns', async () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  const made = (() => {
    const tree = new TrajectoryTree();
    const talk = new Talk(tree, ROOT, user('q'));
    for (let i = 0; i < 5; i++) talk.hear(user(`${i}`)).answer(assistant(`${i}`));
    return [tree, tree.turns[2]!, tree.nodes[3]!, tree.turns[0]!.delta.buffer].map((part) => new WeakRef(part));
  })();
  for (let i = 0; i < 10 && made.some((part) => part.deref() !== undefined); i++) {
    await new Promise((resolve) => setImmediate(resolve));
    gc();
  }
  expect(made.map((part) => part.deref() === undefined)).toEqual([true, true, true, true]);
});
