import { expect, test } from 'vitest';
import { spawnLinks } from '../../src/trajectory/spawn-links.js';
import { TrajectoryTree } from '../../src/trajectory/tree.js';
import { assistant, call, ROOT, rowsOf, system, Talk, TOOLS, tool, user } from '../support/trajectory-fixtures.js';

const TASK = 'Count the doors of the house and report.';
const spawns = (...calls: [id: string, args: Record<string, unknown>][]) =>
  assistant(null, { toolCalls: calls.map(([id, args]) => call('Task', JSON.stringify(args), id)) });

function links(tree: TrajectoryTree) {
  return [...spawnLinks(tree.turns)].map(([child, { turn, callId, certainty }]) => [child.turnId, turn.turnId, callId, certainty]);
}

/** A main thread that spawned; the helpers are the caller's. */
function main(reply = spawns(['call_1', { description: 'doors', prompt: TASK }])): { tree: TrajectoryTree; talk: Talk } {
  const tree = new TrajectoryTree();
  const talk = new Talk(tree, TOOLS, system('main'), user('how many doors?'));
  talk.answer(reply);
  return { tree, talk };
}

test('a helper whose first message is an argument', () => {
  const { tree } = main();
  new Talk(tree, ROOT, system('helper'), user(`  ${TASK}\n`)).answer(assistant('3'));
  expect(links(tree)).toEqual([['t1', 't0', 'call_1', 'exact']]);
});

test('Codex: environment first, then the task', () => {
  const { tree } = main();
  new Talk(tree, TOOLS, system('dev'), user('<environment_context/>'), user(TASK)).answer(assistant('3'));
  expect(links(tree)).toEqual([['t1', 't0', 'call_1', 'exact']]);
});

test('text in lines of its own is contained', () => {
  const { tree } = main();
  new Talk(tree, ROOT, user(`# Task\n${TASK}\nBe brief.`)).answer(assistant('3'));
  expect(links(tree)).toEqual([['t1', 't0', 'call_1', 'contained']]);
});

test('arguments are searched to any depth', () => {
  const { tree } = main(spawns(['call_1', { tasks: [{ text: TASK }] }]));
  new Talk(tree, ROOT, user(TASK)).answer(assistant('3'));
  expect(links(tree)).toEqual([['t1', 't0', 'call_1', 'exact']]);
});

test('twins: two helpers with the same task get a call each, marked ambiguous', () => {
  const { tree } = main(spawns(['call_1', { prompt: TASK }], ['call_2', { prompt: TASK }]));
  const [one, two] = [1, 2].map(() => new Talk(tree, ROOT, system('helper'), user(TASK)));
  const inWork = [one!.begin(assistant('3')), two!.begin(assistant('4'))];
  for (const { end } of inWork) end();
  expect(links(tree)).toEqual([
    ['t1', 't0', 'call_1', 'ambiguous'],
    ['t2', 't0', 'call_2', 'ambiguous'],
  ]);
});

test('one call that says the same twice is not ambiguous', () => {
  const { tree } = main(spawns(['call_1', { prompt: TASK, description: TASK }]));
  new Talk(tree, ROOT, user(TASK)).answer(assistant('3'));
  expect(links(tree)).toEqual([['t1', 't0', 'call_1', 'exact']]);
});

test('the longest text decides among those contained', () => {
  const { tree } = main(spawns(['call_1', { prompt: 'Count the doors.' }], ['call_2', { prompt: 'Count the doors.\nThen the windows.' }]));
  new Talk(tree, ROOT, user('Please:\nCount the doors.\nThen the windows.')).answer(assistant('3'));
  expect(links(tree)).toEqual([['t1', 't0', 'call_2', 'contained']]);
});

test.each([
  ['a part of a line', `Please ${TASK}`],
  ['JSON in a transcript', JSON.stringify({ prompt: TASK })],
  ['a short text', 'doors\nand more'],
  ['another text', 'Count the windows.'],
])('no link: %s', (_, text) => {
  const { tree } = main();
  new Talk(tree, ROOT, system('x'), user(text)).answer(assistant('3'));
  expect(links(tree)).toEqual([]);
});

test('no link to a call that came later, or of the conversation itself', () => {
  const tree = new TrajectoryTree();
  const helper = new Talk(tree, ROOT, user(TASK)).begin(spawns(['call_0', { prompt: TASK }]));
  const talk = new Talk(tree, TOOLS, system('main'), user('q'));
  talk.answer(spawns(['call_1', { prompt: TASK }]));
  helper.end();
  expect(links(tree)).toEqual([]);
});

test('all rows of the helper carry the link, with the row that trains the call', () => {
  const { tree, talk } = main();
  const helper = new Talk(tree, TOOLS, system('helper'), user(TASK));
  helper.answer(assistant('thinking', { reasoning: 'r' }));
  helper.hear(user('go on')).answer(assistant('3'), true);
  talk.hear(tool('3', 'call_1')).answer(assistant('three'));
  const link = { row: 2, turn: 't0', tool_call_id: 'call_1', certainty: 'exact' };
  expect(rowsOf(tree).map((row) => [row.role, row.spawned_by])).toEqual([
    ['subagent', link],
    ['subagent', link],
    ['main', null],
  ]);
});
