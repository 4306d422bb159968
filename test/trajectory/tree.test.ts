import { describe, expect, test } from 'vitest';
import { TrajectoryTree } from '../../src/trajectory/tree.js';
import { assistant, begin, ids, picture, ROOT, rowsOf, sampled, turn, user } from '../support/trajectory-fixtures.js';

describe('a turn', () => {
  test('is found again by what the client sends back, and its ids are continued', () => {
    const tree = new TrajectoryTree();
    const first = turn(tree, { messages: [user('hi')], prompt: ids(1, 2, 3), output: ids(4, 5), reply: assistant('hello') });
    const located = tree.locate(ROOT, [user('hi'), assistant('hello'), user('more')]);
    expect(located.end).toBe(first.node);
    expect(located.reached).toHaveLength(2);
    const second = turn(tree, {
      messages: [user('hi'), assistant('hello'), user('more')],
      prompt: { kind: 'extends', base: first, delta: ids(6), proof: 'exact' },
      output: ids(7),
      reply: assistant('bye'),
    });
    expect(second.link).toEqual({ to: first, kind: 'clean' });
    const rows = rowsOf(tree);
    expect(rows.map(picture)).toEqual(['1 2 3 [4 5] 6 [7]']);
    expect([...rows[0]!.logprobs]).toEqual([-4 / 1024, -5 / 1024, 0, -7 / 1024]);
    expect([rows[0]!.prompt_length, rows[0]!.response_length, rows[0]!.role]).toEqual([3, 4, 'main']);
  });

  test('changes nothing until it is committed', () => {
    const tree = new TrajectoryTree();
    const pending = begin(tree, { messages: [user('hi')], prompt: ids(1), output: ids(2), reply: assistant('x') });
    pending.finish(sampled(ids(2), assistant('x')));
    expect(tree.nodes).toHaveLength(0);
    expect(tree.roots).toHaveLength(0);
    expect(tree.locate(ROOT, [user('hi'), assistant('x')]).reached).toHaveLength(0);
    expect(rowsOf(tree)).toEqual([]);
    expect(pending.commit(1).ok).toBe(true);
    expect(tree.nodes).toHaveLength(2);
  });

  test('stays the one that a conversation went on from when a twin says the same later', () => {
    const tree = new TrajectoryTree();
    const said = [user('hi'), assistant('same'), user('more')];
    const first = turn(tree, { messages: [user('hi')], prompt: ids(1), output: ids(2), reply: assistant('same') });
    const second = turn(tree, {
      messages: said,
      prompt: { kind: 'extends', base: first, delta: ids(3), proof: 'exact' },
      output: ids(4),
      reply: assistant('on'),
    });
    const twin = turn(tree, { messages: [user('hi')], prompt: ids(1), output: ids(2), reply: assistant('same') });
    const further = tree.locate(ROOT, [...said, assistant('on'), user('again')]);
    expect(further.end).toBe(second.node);
    // The message objects of a client that is read with and without memory lead to the same node.
    expect(tree.locate(ROOT, structuredClone([...said, assistant('on'), user('again')])).end).toBe(second.node);
    expect(tree.locate(ROOT, [user('hi'), assistant('same'), user('else')]).end).toBe(twin.node);
    expect(tree.locate(ROOT, [...said.slice(0, 2), user('else')]).end).toBe(twin.node);
  });

  test('is told from twins by all that followed, reasoning dropped or not', () => {
    const tree = new TrajectoryTree();
    const talk = (reasoning: string | null, last: string) => {
      const first = turn(tree, { messages: [user('hi')], prompt: ids(1), output: ids(2), reply: assistant('same', { reasoning }) });
      const said = [user('hi'), assistant('same', { reasoning }), user('more')];
      return turn(tree, {
        messages: said,
        prompt: { kind: 'extends', base: first, delta: ids(3), proof: 'exact' },
        output: ids(4),
        reply: assistant(last),
      });
    };
    const thought = talk('hm', 'one');
    const other = talk('well', 'two');
    const plain = talk(null, 'three');
    const asClientsSay = (last: string) => [user('hi'), assistant('same'), user('more'), assistant(last), user('again')];
    expect(tree.locate(ROOT, asClientsSay('one')).end).toBe(thought.node);
    expect(tree.locate(ROOT, asClientsSay('two')).end).toBe(other.node);
    expect(tree.locate(ROOT, asClientsSay('three')).end).toBe(plain.node);
    expect(tree.locate(ROOT, asClientsSay('four')).end).toBe(plain.node.parent);
  });

  test('is found in a history in which every turn was asked for twice', () => {
    const tree = new TrajectoryTree();
    const messages = [user('hi')];
    let last = null;
    for (let n = 0; n < 120; n++) {
      for (let twice = 0; twice < 2; twice++) last = turn(tree, { messages, prompt: ids(1, n), output: ids(2), reply: assistant('same') });
      messages.push(assistant('same'), user('more'));
    }
    expect(tree.locate(ROOT, messages.slice(0, -1)).end.depth).toBe(last!.node.depth);
  });
});
