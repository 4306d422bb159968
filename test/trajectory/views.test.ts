import { describe, expect, test } from 'vitest';
import { drawRow } from '../../src/trajectory/row-view.js';
import { preview, printable } from '../../src/trajectory/terminal.js';
import { TrajectoryTree } from '../../src/trajectory/tree.js';
import { drawTree, treeJson } from '../../src/trajectory/tree-view.js';
import { assistant, begin, call, ids, rowsOf, system, TOOLS, tool, turn, user } from '../support/trajectory-fixtures.js';

/** A loop of two turns, a second sample of the second, and a turn in work. */
function session(): TrajectoryTree {
  const tree = new TrajectoryTree();
  const head = [system('be kind'), user('what is\nthere?')];
  const looks = assistant('let me look', { toolCalls: [call('look', '{"at":1}', 'call_1')] });
  const first = turn(tree, {
    key: TOOLS,
    messages: head,
    prompt: ids(1, 2, 3),
    output: ids(4, 5),
    reply: looks,
    more: { finishReason: 'tool_calls' },
  });
  const history = [...head, looks, tool('a door', 'call_1')];
  const next = (output: number, reply: string) =>
    turn(tree, {
      key: TOOLS,
      messages: history,
      prompt: { kind: 'extends', base: first, delta: ids(6), proof: 'exact' },
      output: ids(output),
      reply: assistant(reply),
    });
  next(7, 'a window');
  next(8, 'a door');
  turn(tree, {
    key: TOOLS,
    messages: [...history, assistant('a door'), user('open it')],
    prompt: ids(1, 9),
    output: ids(10, 11),
    reply: assistant('no'),
    more: { finishReason: 'length', illFormed: true },
  });
  begin(tree, { key: TOOLS, messages: [user('x')], prompt: ids(1, 2), output: ids(), reply: assistant(null) });
  return tree;
}

describe('the tree for people', () => {
  test('shows branches, kinds, tokens, causes of forks and finish reasons', () => {
    expect(drawTree(session(), { colour: false, width: 100 })).toBe(
      [
        '4 turns · 6 tokens committed of 6 sampled · prompts start 1, exact 2, fork_template 1',
        'policy · 1 tool',
        'system   be kind',
        'user     what is there?',
        '● t0 let me look look({"at":1})  3→2 · tool_calls · start',
        'tool     a door',
        '├─ ● t1 a window  6→1 · stop · exact · row 0 superseded',
        '└─ ● t2 a door  6→1 · stop · exact · twin of t1 · row 1 earlier',
        '   user     open it',
        '   ● t3 no  2→2 · length · fork_template · ill-formed · row 2 main',
        '○ t4 running, prompt 2 tokens',
        '',
      ].join('\n'),
    );
  });

  test('sets the last of several first messages in like the others', () => {
    const tree = new TrajectoryTree();
    for (const name of ['a', 'b']) {
      const messages = [system('s'), user(name)];
      const first = turn(tree, { messages, prompt: ids(1), output: ids(2), reply: assistant(`${name}1`) });
      const next = [...messages, assistant(`${name}1`), user('on')];
      const prompt = { kind: 'extends', base: first, delta: ids(3), proof: 'exact' } as const;
      turn(tree, { messages: next, prompt, output: ids(4), reply: assistant(`${name}2`) });
    }
    const [, , , ...drawn] = drawTree(tree, { colour: false }).split('\n');
    expect(drawn.map((line) => line.slice(0, 14).trimEnd())).toEqual([
      '├─ user     a',
      '│  ● t0 a1  1→',
      '│  user     on',
      '│  ● t1 a2  3→',
      '└─ user     b',
      '   ● t2 b1  1→',
      '   user     on',
      '   ● t3 b2  3→',
      '',
    ]);
  });

  test('is the same text in colour', () => {
    const coloured = drawTree(session(), { colour: true, width: 100 });
    expect(coloured).toContain('\x1b[31m2→2 · length · fork_template');
    expect(coloured.replace(/\x1b\[[\d;]*m/g, '')).toBe(drawTree(session(), { colour: false, width: 100 }));
  });

  test('draws a thousand turns that all branch without running out of stack or width', () => {
    const tree = new TrajectoryTree();
    const messages = [user('q')];
    for (let i = 0; i < 1000; i++) {
      turn(tree, { messages: [...messages], prompt: ids(1, i), output: ids(2), reply: assistant(`left ${i}`) });
      turn(tree, { messages: [...messages], prompt: ids(1, i), output: ids(2), reply: assistant(`right ${i}`) });
      messages.push(assistant(`right ${i}`), user('q'));
    }
    const lines = drawTree(tree, { colour: false }).split('\n');
    expect(lines).toHaveLength(2 + 3000 + 1);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(110);
  });
});

test('the tree as JSON names every message and turn', () => {
  const view = JSON.parse(JSON.stringify(treeJson(session())));
  expect(view.nodes).toHaveLength(8);
  expect(view.nodes[2]).toEqual({
    node: 3,
    parent: 2,
    root: 0,
    role: 'assistant',
    kind: 'generated',
    turn_id: 't0',
    characters: 11,
    preview: 'let me look',
    tool_calls: [{ id: 'call_1', name: 'look' }],
  });
  expect(view.roots).toEqual([{ root: 0, model: 'policy', tools: ['look'] }]);
  expect(
    view.turns.map((t: { turn_id: string; parent_turn: string; row_parent: string; outcome: string; duplicate_of: string }) => [
      t.turn_id,
      t.parent_turn,
      t.row_parent,
      t.outcome,
      t.duplicate_of,
    ]),
  ).toEqual([
    ['t0', null, null, 'start', null],
    ['t1', 't0', 't0', 'exact', null],
    ['t2', 't0', 't0', 'exact', 't1'],
    ['t3', 't2', null, 'fork_template', null],
  ]);
  expect(view.open_turns).toMatchObject([{ turn_id: 't4', state: 'running', holders: 1, prompt_tokens: 2 }]);
  expect(view.tokens).toEqual({ sampled: 6, committed: 6, discarded: {} });
});

describe('a row for people', () => {
  const tokenText = (id: number) => (id === 6 ? '\n' : `<${id}>`);

  test('shows prompt, trained and masked tokens with borders', () => {
    const [superseded, earlier] = rowsOf(session());
    expect(drawRow(superseded!, { colour: false, tokenText })).toBe(
      [
        'row 0 of 3 · superseded · 7 tokens: 3 prompt, 3 trained, 1 masked',
        '── prompt, 3 tokens',
        '<1>│<2>│<3>',
        '── t0 trained, tool_calls, 2 tokens',
        '<4>│<5>',
        '── masked, 1 token',
        '⏎',
        '── t1 trained, stop, 1 token',
        '<7>',
        '',
      ].join('\n'),
    );
    expect(drawRow(earlier!, { colour: false, tokenText })).toContain('── t0 masked, trained in row 0, 2 tokens');
  });

  test('cuts long stretches in the middle', () => {
    const tree = new TrajectoryTree();
    turn(tree, { messages: [user('q')], prompt: Int32Array.from({ length: 100 }, (_, i) => i), output: ids(1), reply: assistant('a') });
    expect(drawRow(rowsOf(tree)[0]!, { colour: true, tokenText: String, tokensMax: 3 }).replace(/\x1b\[[\d;]*m/g, '')).toContain(
      '0│1│… 97 more …│99\n',
    );
  });
});

test('text of others cannot steer the terminal', () => {
  expect(printable('a\x1b[2J\r\u202eb\t\n')).toBe('a\\u001b[2J\\u000d\\u202eb⇥⏎');
  expect(preview('😀😀😀', 4)).toBe('😀\ufffd…');
  expect(preview('short', 5)).toBe('short');
});
