import { describe, expect, test } from 'vitest';
import { TrajectoryTree } from '../../src/trajectory/tree.js';
import { assistant, call, ROOT, rowsOf, system, Talk, TOOLS, tool, user } from '../support/trajectory-fixtures.js';

/** Role of the row in which a turn is the last, by turn id. */
function roles(tree: TrajectoryTree): Record<string, string> {
  const rows = rowsOf(tree);
  expect(rows.filter((row) => row.role === 'main')).toHaveLength(rows.length === 0 ? 0 : 1);
  expect(rows.at(-1)?.role ?? 'main').toBe('main');
  expect(rows.map(({ row_index, row_count, is_last_row }) => [row_index, row_count, is_last_row])).toEqual(
    rows.map((_, i) => [i, rows.length, i === rows.length - 1]),
  );
  return Object.fromEntries(rows.map((row) => [row.turns.at(-1)!.turn_id, row.role]));
}

const looks = (id: string, args = '{}') => assistant(null, { toolCalls: [call('look', args, id)] });

describe('main', () => {
  test('opencode: the title request comes first, the thread with tools is main', () => {
    const tree = new TrajectoryTree();
    const title = new Talk(tree, ROOT, system('You title things'), user('what is there?'));
    const main = new Talk(tree, TOOLS, system('You code'), user('what is there?'));
    const inWork = title.begin(assistant('A question'));
    main.answer(looks('call_1'));
    main.hear(tool('door', 'call_1')).answer(assistant('a door'));
    inWork.end();
    expect(roles(tree)).toEqual({ t0: 'aux', t2: 'main' });
  });

  test('no request has tools: the thread of the first request, not the one that ended last', () => {
    const tree = new TrajectoryTree();
    const main = new Talk(tree, ROOT, system('You help'), user('q'));
    main.answer(assistant('a'));
    main.hear(user('more')).answer(assistant('b'));
    new Talk(tree, ROOT, system('You sum up'), user('q a more b')).answer(assistant('sum'));
    expect(roles(tree)).toEqual({ t1: 'main', t2: 'aux' });
  });

  test('the latest row by the commit of its last turn, not by its beginning', () => {
    const tree = new TrajectoryTree();
    const one = new Talk(tree, TOOLS, system('s'), user('one'));
    const two = new Talk(tree, TOOLS, system('s'), user('two'));
    one.answer(looks('call_1'));
    two.answer(looks('call_2'));
    two.hear(tool('r', 'call_2')).answer(assistant('end of two'));
    one.hear(tool('r', 'call_1')).answer(assistant('end of one'));
    expect(roles(tree)).toEqual({ t2: 'subagent', t3: 'main' });
  });

  test('other tools or another system text are another thread', () => {
    const tree = new TrajectoryTree();
    const main = new Talk(tree, TOOLS, system('s'), user('q'));
    main.answer(looks('call_1'));
    const other = new Talk(tree, { ...TOOLS, tools: [...TOOLS.tools, { name: 'more' }] }, system('s'), user('q'));
    other.answer(looks('call_2'));
    other.hear(tool('r', 'call_2')).answer(assistant('x'));
    new Talk(tree, TOOLS, system('s2'), user('q')).answer(assistant('y'));
    expect(roles(tree)).toEqual({ t0: 'main', t2: 'subagent', t3: 'aux' });
  });

  test('other template arguments are the same thread', () => {
    const tree = new TrajectoryTree();
    new Talk(tree, TOOLS, system('s'), user('q')).answer(looks('call_1'));
    new Talk(tree, { ...TOOLS, templateKwargs: new Map([['enable_thinking', false]]) }, system('s'), user('q2')).answer(assistant('y'));
    expect(roles(tree)).toEqual({ t0: 'earlier', t1: 'main' });
  });
});

describe('superseded', () => {
  test('Claude Code: asked again after a broken stream, and the second answer was continued', () => {
    const tree = new TrajectoryTree();
    const lost = new Talk(tree, TOOLS, system('s'), user('q'));
    const kept = lost.fork();
    lost.answer(looks('call_1'));
    kept.answer(looks('call_2'));
    kept.hear(tool('r', 'call_2')).answer(assistant('a'));
    expect(roles(tree)).toEqual({ t0: 'superseded', t2: 'main' });
  });

  test('a sample that was not continued, though it came last', () => {
    const tree = new TrajectoryTree();
    const kept = new Talk(tree, TOOLS, system('s'), user('q'));
    const late = kept.fork().begin(looks('call_1'));
    kept.answer(looks('call_2'));
    kept.hear(tool('r', 'call_2')).answer(assistant('a'));
    late.end();
    expect(roles(tree)).toEqual({ t0: 'superseded', t2: 'main' });
  });

  test('best of n, none continued: not superseded', () => {
    const tree = new TrajectoryTree();
    const talk = new Talk(tree, TOOLS, system('s'), user('q'));
    talk.answer(looks('call_1'));
    talk.hear(tool('r', 'call_1'));
    for (let n = 0; n < 3; n++) talk.fork().answer(assistant(`best ${n}`));
    expect(roles(tree)).toEqual({ t1: 'branch', t2: 'branch', t3: 'main' });
  });

  test('continued by the template’s own words counts as continued', () => {
    const tree = new TrajectoryTree();
    const lost = new Talk(tree, TOOLS, system('s'), user('q'));
    const kept = lost.fork();
    lost.answer(assistant('a', { reasoning: 'x' }));
    kept.answer(assistant('b', { reasoning: 'y' }));
    kept.hear(user('more')).answer(assistant('c'), true);
    expect(roles(tree)).toEqual({ t0: 'superseded', t1: 'earlier', t2: 'main' });
  });
});

describe('earlier', () => {
  test('a thinking template starts rows at each question: stretches of the main thread', () => {
    const tree = new TrajectoryTree();
    const talk = new Talk(tree, TOOLS, system('s'), user('q'));
    talk.answer(looks('call_1'));
    talk.hear(tool('r', 'call_1')).answer(assistant('a'));
    talk.hear(user('b')).answer(assistant('c'), true);
    talk.hear(user('d')).answer(assistant('e'), true);
    expect(roles(tree)).toEqual({ t1: 'earlier', t2: 'earlier', t3: 'main' });
  });

  test('Claude Code: compaction, summary asked in the thread itself', () => {
    const tree = new TrajectoryTree();
    const before = new Talk(tree, TOOLS, system('s'), user('q'));
    before.answer(looks('call_1'));
    before.hear(tool('r', 'call_1')).answer(looks('call_2'));
    before.hear(tool('r', 'call_2'), user('Summarise.')).answer(assistant('summary'));
    new Talk(tree, TOOLS, system('s'), user('Continued: summary')).answer(assistant('a'));
    expect(roles(tree)).toEqual({ t2: 'earlier', t3: 'main' });
  });

  test('Codex: compaction by a request without tools, which is aux', () => {
    const tree = new TrajectoryTree();
    const before = new Talk(tree, TOOLS, system('s'), user('q'));
    before.answer(looks('call_1'));
    before.hear(tool('r', 'call_1')).answer(assistant('a'));
    new Talk(tree, ROOT, system('s'), user('q'), looks('call_1'), tool('r', 'call_1'), assistant('a'), user('CHECKPOINT')).answer(
      assistant('summary'),
    );
    new Talk(tree, TOOLS, system('s'), user('q'), user('summary')).answer(assistant('b'));
    expect(roles(tree)).toEqual({ t1: 'earlier', t2: 'aux', t3: 'main' });
  });

  test('compaction twice, with a template that rewrites in between', () => {
    const tree = new TrajectoryTree();
    const one = new Talk(tree, TOOLS, system('s'), user('one'));
    one.answer(assistant('a'));
    one.hear(user('b')).answer(assistant('c'), true);
    const two = new Talk(tree, TOOLS, system('s'), user('two'));
    two.answer(assistant('d'));
    two.hear(user('e')).answer(assistant('f'), true);
    new Talk(tree, TOOLS, system('s'), user('three')).answer(assistant('g'));
    expect(roles(tree)).toEqual({ t0: 'earlier', t1: 'earlier', t2: 'earlier', t3: 'earlier', t4: 'main' });
  });

  test('a second sample of the whole conversation is no stretch of the first', () => {
    const tree = new TrajectoryTree();
    const [one, two, three] = [0, 1, 2].map(() => new Talk(tree, TOOLS, system('s'), user('q')));
    one!.answer(assistant('a'));
    two!.answer(assistant('b'));
    expect(roles(tree)).toEqual({ t0: 'aux', t1: 'main' });
    three!.answer(looks('call_1'));
    three!.hear(tool('r', 'call_1')).answer(assistant('c'));
    two!.hear(user('more')).answer(assistant('d'));
    expect(roles(tree)).toEqual({ t0: 'superseded', t3: 'subagent', t4: 'main' });
  });

  test('a conversation beside the main thread is not a stretch of it', () => {
    const tree = new TrajectoryTree();
    const main = new Talk(tree, TOOLS, system('s'), user('q'));
    const beside = new Talk(tree, TOOLS, system('s'), user('beside'));
    main.answer(looks('call_1'));
    beside.answer(looks('call_2'));
    beside.hear(tool('r', 'call_2')).answer(assistant('x'));
    main.hear(tool('r', 'call_1')).answer(assistant('a'));
    expect(roles(tree)).toEqual({ t2: 'subagent', t3: 'main' });
  });

  test('a single question without tools before the main thread is aux', () => {
    const tree = new TrajectoryTree();
    new Talk(tree, ROOT, user('title?')).answer(assistant('title'));
    const main = new Talk(tree, ROOT, user('q'));
    main.answer(assistant('a'));
    main.hear(user('b')).answer(assistant('c'));
    expect(roles(tree)).toEqual({ t0: 'aux', t2: 'main' });
  });
});

describe('branch', () => {
  test('a fork from the middle', () => {
    const tree = new TrajectoryTree();
    const talk = new Talk(tree, TOOLS, system('s'), user('q'));
    talk.answer(looks('call_1'));
    talk.hear(tool('r', 'call_1'));
    const other = talk.fork();
    talk.answer(assistant('a'));
    talk.hear(user('b')).answer(assistant('c'));
    other.hear(user('instead')).answer(assistant('d'));
    expect(roles(tree)).toEqual({ t2: 'branch', t3: 'main' });
  });

  test('of a thread that was compacted: its latest row is earlier, its side rows are branches', () => {
    const tree = new TrajectoryTree();
    const talk = new Talk(tree, TOOLS, system('s'), user('q'));
    talk.answer(looks('call_1'));
    const side = talk.fork().hear(tool('r', 'call_1'), user('aside'));
    side.answer(assistant('x'));
    talk.hear(tool('r', 'call_1')).answer(assistant('a'));
    new Talk(tree, TOOLS, system('s'), user('summary')).answer(assistant('b'));
    expect(roles(tree)).toEqual({ t1: 'branch', t2: 'earlier', t3: 'main' });
  });
});

describe('subagent and aux', () => {
  const task = 'Count the doors of the house and report.';

  test('Claude Code: the Agent tool’s prompt opens the conversation', () => {
    const tree = new TrajectoryTree();
    const main = new Talk(tree, TOOLS, system('main'), user('q'));
    main.answer(assistant(null, { toolCalls: [call('Agent', JSON.stringify({ description: 'doors', prompt: task }), 'call_1')] }));
    const helper = new Talk(tree, TOOLS, system('helper'), user(`<system-reminder>date</system-reminder>\n${task}`));
    helper.answer(assistant('3 doors'));
    main.hear(tool('3 doors', 'call_1')).answer(assistant('a'));
    expect(roles(tree)).toEqual({ t1: 'subagent', t2: 'main' });
    expect(rowsOf(tree)[0]!.spawned_by).toEqual({ row: 1, turn: 't0', tool_call_id: 'call_1', certainty: 'contained' });
  });

  test('a helper with the tools and system text of the main thread is no earlier stretch', () => {
    const tree = new TrajectoryTree();
    const main = new Talk(tree, TOOLS, system('s'), user('q'));
    main.answer(assistant(null, { toolCalls: [call('task', JSON.stringify({ task }), 'call_1')] }));
    const helper = new Talk(tree, TOOLS, system('s'), user(task));
    helper.answer(looks('call_2'));
    helper.hear(tool('r', 'call_2')).answer(assistant('3 doors'));
    main.hear(tool('3 doors', 'call_1')).answer(assistant('a'), true);
    expect(roles(tree)).toEqual({ t0: 'earlier', t2: 'subagent', t3: 'main' });
  });

  test('a long conversation that nobody spawned is a subagent, a single answer aux', () => {
    const tree = new TrajectoryTree();
    const main = new Talk(tree, TOOLS, system('main'), user('q'));
    main.answer(looks('call_1'));
    const memory = new Talk(tree, ROOT, system('memory'), user('extract'));
    memory.answer(assistant('a'));
    memory.hear(user('again')).answer(assistant('b'), true);
    new Talk(tree, ROOT, system('title'), user('title?')).answer(assistant('t'));
    main.hear(tool('r', 'call_1')).answer(assistant('z'));
    expect(roles(tree)).toEqual({ t1: 'subagent', t2: 'subagent', t3: 'aux', t4: 'main' });
  });
});
