import { describe, expect, test } from 'vitest';
import { planRows, summarise } from '../../src/trajectory/rows.js';
import { TrajectoryTree } from '../../src/trajectory/tree.js';
import { assistant, ids, picture, ROOT, rowsOf, system, turn, user } from '../support/trajectory-fixtures.js';

/** The seed system's documented behaviour (peers.md §4.1–4.3): `rerender`, outputs below 1024 ids may write over a drifted one. */
const seed = (realignTokensMax = 1024) => new TrajectoryTree({ policy: 'rerender', realignTokensMax });
const many = (length: number, id = 50) => new Int32Array(length).fill(id);

const first = (tree: TrajectoryTree, output = ids(4, 5)) =>
  turn(tree, { messages: [user('q')], prompt: ids(1, 2, 3), output, reply: assistant('a') });
const second = (tree: TrajectoryTree, prompt: Int32Array, output = ids(7), echo = 'a') =>
  turn(tree, { messages: [user('q'), assistant(echo), user('b')], prompt, output, reply: assistant('c') });
const pictures = (tree: TrajectoryTree) => rowsOf(tree).map(picture);

describe('CLEAN, REALIGN, FORK', () => {
  test('one turn', () => {
    const tree = seed();
    first(tree);
    const [row] = rowsOf(tree, { reward: 2, rolloutId: 'ep' });
    expect([[...row!.token_ids], [...row!.loss_mask], row!.response_length, row!.reward, row!.rollout_id, row!.status]).toEqual([
      [1, 2, 3, 4, 5],
      [1, 1],
      2,
      2,
      'ep',
      'completed',
    ]);
  });

  test('CLEAN: the prompt starts with what was recorded', () => {
    const tree = seed();
    first(tree);
    expect(second(tree, ids(1, 2, 3, 4, 5, 6)).outcome).toBe('exact');
    const [row] = rowsOf(tree);
    expect([...row!.loss_mask]).toEqual([1, 1, 0, 1]);
    expect(pictures(tree)).toEqual(['1 2 3 [4 5] 6 [7]']);
  });

  test('another first user message: two rows, each with the full reward', () => {
    const tree = seed();
    first(tree);
    turn(tree, { messages: [user('r')], prompt: ids(1, 9), output: ids(8), reply: assistant('d') });
    expect(rowsOf(tree, { reward: 0.5 }).map((row) => row.reward)).toEqual([0.5, 0.5]);
  });

  test('drift inside the prompt forks', () => {
    const tree = seed();
    first(tree);
    expect(second(tree, ids(1, 9, 3, 4, 5, 6)).outcome).toBe('fork_template');
    expect(pictures(tree)).toEqual(['1 2 3 [4 5]', '1 9 3 4 5 6 [7]']);
  });

  test('drift at the last token of the last response: the whole response is masked, only the new turn is trained', () => {
    const tree = seed();
    const one = first(tree);
    const two = second(tree, ids(1, 2, 3, 4, 9, 6));
    expect([two.outcome, two.link]).toEqual(['realign', { to: one, kind: 'realign' }]);
    const [row, ...others] = rowsOf(tree);
    expect(others).toEqual([]);
    expect(picture(row!)).toBe('1 2 3 4 9 6 [7]');
    expect([row!.prompt_length, row!.turns.map(({ turn_id }) => turn_id)]).toEqual([3, ['t1']]);
    expect(row!.quality).toMatchObject({ discarded: { realigned: 2 }, drift: { start: 1, realign: 1 } });
    expect(summarise(tree, planRows(tree.turns), 0, 0)).toMatchObject({
      capture_yield: 1 / 3,
      capture_error: null,
      tokens: { discarded: { realigned: 2 } },
    });
  });

  test('the gate is exclusive and measures the new output: at the threshold it forks, one below it realigns', () => {
    const outcomes = [4, 3].map((length) => {
      const tree = seed(4);
      first(tree);
      return second(tree, ids(1, 2, 3, 4, 9, 6), many(length)).outcome;
    });
    expect(outcomes).toEqual(['fork_template', 'realign']);
  });

  test('an empty output masks nothing', () => {
    const tree = seed();
    first(tree);
    expect(second(tree, ids(1, 2, 3, 4, 9, 6), ids()).outcome).toBe('fork_template');
    expect(pictures(tree)).toEqual(['1 2 3 [4 5]']);
  });

  test('threshold 0, the default, never masks', () => {
    for (const tree of [
      seed(0),
      new TrajectoryTree({ policy: 'auto', realignTokensMax: 1024 }),
      new TrajectoryTree({ policy: 'verbatim', realignTokensMax: 1024 }),
    ]) {
      first(tree);
      second(tree, ids(1, 2, 3, 4, 9, 6));
      expect(pictures(tree)).toEqual(['1 2 3 [4 5]', '1 2 3 4 9 6 [7]']);
    }
  });

  test('drift in an earlier response forks; the turns before stay one row', () => {
    const tree = seed();
    first(tree);
    second(tree, ids(1, 2, 3, 4, 5, 6));
    const messages = [user('q'), assistant('a'), user('b'), assistant('c'), user('d')];
    turn(tree, { messages, prompt: ids(1, 2, 3, 9, 5, 6, 7, 8), output: ids(10), reply: assistant('e') });
    expect(pictures(tree)).toEqual(['1 2 3 [4 5] 6 [7]', '1 2 3 9 5 6 7 8 [10]']);
  });

  test('a prompt that ends inside the last output is no realign', () => {
    const tree = seed();
    first(tree);
    expect(second(tree, ids(1, 2, 3)).outcome).toBe('fork_template');
  });

  test('a turn shared by two leaves is trained once', () => {
    const tree = seed();
    first(tree);
    second(tree, ids(1, 2, 3, 4, 5, 6));
    turn(tree, {
      messages: [user('q'), assistant('a'), user('x')],
      prompt: ids(1, 2, 3, 4, 5, 60),
      output: ids(70),
      reply: assistant('y'),
    });
    const rows = rowsOf(tree);
    expect(rows.map(picture)).toEqual(['1 2 3 4 5 6 [7]', '1 2 3 [4 5] 60 [70]']);
    expect([...rows[0]!.logprobs].slice(0, 2)).toEqual([0, 0]);
  });

  test('an assistant message that is not ours is context', () => {
    const tree = seed();
    turn(tree, { messages: [user('q'), assistant('given'), user('b')], prompt: ids(1, 2, 3), output: ids(4), reply: assistant('c') });
    expect(pictures(tree)).toEqual(['1 2 3 [4]']);
  });

  test('an empty response alone gives no row', () => {
    const tree = seed();
    first(tree, ids());
    expect(pictures(tree)).toEqual([]);
  });
});

describe('an edited reply', () => {
  test('that is short takes the place of the sampled one: one row, only the new turn trained', () => {
    const tree = seed();
    const one = first(tree);
    const two = second(tree, ids(1, 2, 3, 40, 41, 6), ids(7), 'a (verified)');
    expect(two.link).toBeNull();
    expect(one.node.turn).toBeNull();
    expect(tree.turns).toEqual([two]);
    const [row, ...others] = rowsOf(tree);
    expect(others).toEqual([]);
    expect([picture(row!), row!.response_length]).toEqual(['1 2 3 40 41 6 [7]', 1]);
    expect(summarise(tree, planRows(tree.turns), 0, 0)).toMatchObject({
      capture_yield: 1 / 3,
      capture_error: null,
      tokens: { sampled: 3, committed: 3, trained: 1, discarded: { rewritten: 2 } },
    });
  });

  test('sent again matches the edited message', () => {
    const tree = seed();
    first(tree);
    const two = second(tree, ids(1, 2, 3, 40), ids(7), 'edited');
    const located = tree.locate(ROOT, [user('q'), assistant('edited'), user('b'), assistant('c')]);
    expect(located.end).toBe(two.node);
    expect(tree.locate(ROOT, [user('q'), assistant('a')]).reached).toHaveLength(1);
  });

  test('forks where the sampled one is long, has a sibling, or the policy is another', () => {
    const long = seed(2);
    first(long);
    const siblings = seed();
    first(siblings);
    first(siblings, ids(8));
    for (const tree of [long, siblings, new TrajectoryTree(), seed(0)]) {
      if (tree.turns.length === 0) first(tree);
      const before = tree.turns.length;
      second(tree, ids(1, 2, 3, 40), ids(7), 'edited');
      expect(tree.turns).toHaveLength(before + 1);
      expect(tree.books.discarded.size).toBe(0);
    }
  });

  test('forks beside an assistant message of the client', () => {
    const tree = seed();
    turn(tree, { messages: [user('q'), assistant('mine'), user('b')], prompt: ids(1), output: ids(2), reply: assistant('x') });
    first(tree);
    second(tree, ids(1, 2, 3, 40), ids(7), 'edited');
    expect(tree.turns).toHaveLength(3);
  });

  test('a turn that continued the edited one keeps its row', () => {
    const tree = seed();
    first(tree);
    second(tree, ids(1, 2, 3, 4, 5, 6));
    turn(tree, { messages: [user('q'), assistant('edited'), user('z')], prompt: ids(1, 2, 3, 44), output: ids(8), reply: assistant('w') });
    expect(pictures(tree)).toEqual(['1 2 3 4 5 6 [7]', '1 2 3 44 [8]']);
    expect(summarise(tree, planRows(tree.turns), 0, 0)).toMatchObject({ capture_error: null });
  });
});

test('a session is not consumed by asking for its rows', () => {
  const tree = seed();
  turn(tree, { messages: [system('s'), user('q')], prompt: ids(1), output: ids(2), reply: assistant('a') });
  expect(rowsOf(tree)).toEqual(rowsOf(tree));
});
