import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/canonical/message.js';
import { TrajectoryTree } from '../../src/trajectory/tree.js';
import { fullIds } from '../../src/trajectory/turn-ids.js';
import {
  assistant,
  begin,
  call,
  commit,
  ids,
  picture,
  ROOT,
  rowsOf,
  sampled,
  system,
  TOOLS,
  tool,
  turn,
  user,
} from '../support/trajectory-fixtures.js';

const ask = (output: number, reply: string, digest = 'body') => ({
  messages: [user('q')],
  prompt: ids(1, 2),
  output: ids(output),
  reply: assistant(reply),
  digest,
});

describe('D. Trees, branches, retries', () => {
  test('case 31: a marked retry after the answer finds the recorded turn', () => {
    const tree = new TrajectoryTree();
    const first = turn(tree, ask(3, 'a'));
    const again = tree.findRetry('body');
    expect(again?.state).toBe('committed');
    expect(again?.commit(5)).toEqual({ ok: true, turn: first });
    expect([...again!.promptIds()]).toEqual([1, 2]);
    expect(again!.sampled?.message).toEqual(assistant('a'));
    expect(tree.findRetry('another')).toBeNull();
    expect(tree.turns).toHaveLength(1);
  });

  test('case 31: an unmarked equal request is a sibling, and the rows say so', () => {
    const tree = new TrajectoryTree();
    const turns = [turn(tree, ask(3, 'a')), turn(tree, ask(4, 'b')), turn(tree, ask(5, 'a'))];
    expect(turns.map(({ historyEnd }) => historyEnd.id)).toEqual([1, 1, 1]);
    expect(turns.map(({ duplicateOf }) => duplicateOf?.turnId ?? null)).toEqual([null, 't0', 't0']);
    const rows = rowsOf(tree);
    expect(rows.map(picture)).toEqual(['1 2 [3]', '1 2 [4]', '1 2 [5]']);
    expect(rows.map((row) => row.turns[0]!.duplicate_of)).toEqual([null, 0, 0]);
    expect(turns.map(({ outcome }) => outcome)).toEqual(['start', 'start', 'start']);
  });

  test('a prompt of the same history and other ids is no duplicate', () => {
    const tree = new TrajectoryTree();
    turn(tree, ask(3, 'a'));
    const other = turn(tree, { ...ask(4, 'b'), prompt: ids(1, 9) });
    expect(other.duplicateOf).toBeNull();
  });

  test('case 32: the same request twice at once, marked: one generation, both get it', () => {
    const tree = new TrajectoryTree();
    const pending = begin(tree, ask(3, 'a'));
    const joined = tree.findRetry('body');
    expect(joined).toBe(pending);
    joined!.join();
    pending.finish(sampled(ids(3), assistant('a')));
    expect(pending.release()).toBe('held');
    expect(joined!.commit(9).ok).toBe(true);
    expect(tree.turns).toHaveLength(1);
  });

  test('case 32: the same request twice at once, unmarked: two siblings, never interleaved', () => {
    const tree = new TrajectoryTree();
    const one = begin(tree, ask(3, 'a'));
    const two = begin(tree, ask(4, 'b'));
    const second = commit(two, ask(4, 'b'));
    const first = commit(one, ask(3, 'a'));
    expect(first.historyEnd).toBe(second.historyEnd);
    expect(first.duplicateOf).toBe(second);
    expect(rowsOf(tree).map(picture)).toEqual(['1 2 [4]', '1 2 [3]']);
  });

  test('case 33: sub-agents on one session', () => {
    const tree = new TrajectoryTree();
    const conversation = (name: string, base: number) => {
      const head = [system(name), user('q')];
      return {
        first: () => turn(tree, { messages: head, prompt: ids(base, base + 1), output: ids(base + 2), reply: assistant(`${name} says`) }),
        second: (above: ReturnType<typeof turn>) =>
          turn(tree, {
            messages: [...head, assistant(`${name} says`), user('more')],
            prompt: { kind: 'extends', base: above, delta: ids(base + 3), proof: 'exact' },
            output: ids(base + 4),
            reply: assistant('done'),
          }),
      };
    };
    const a = conversation('A', 10);
    const b = conversation('B', 20);
    const a1 = a.first();
    const b1 = b.first();
    a.second(a1);
    b.second(b1);
    expect(rowsOf(tree).map(picture)).toEqual(['20 21 [22] 23 [24]', '10 11 [12] 13 [14]']);
  });

  test('case 34: compaction', () => {
    const tree = new TrajectoryTree();
    const head = [system('s'), user('u1')];
    const a1 = assistant(null, { toolCalls: [call('look', '{}', 'call_1')] });
    const first = turn(tree, { key: TOOLS, messages: head, prompt: ids(1, 2), output: ids(3), reply: a1 });
    turn(tree, {
      key: TOOLS,
      messages: [...head, a1, tool('t1', 'call_1')],
      prompt: { kind: 'extends', base: first, delta: ids(4), proof: 'exact' },
      output: ids(5),
      reply: assistant('a2'),
    });
    const compacted = turn(tree, {
      key: TOOLS,
      messages: [system('s'), user('summary')],
      prompt: ids(1, 6),
      output: ids(7),
      reply: assistant('a3'),
    });
    expect(compacted.outcome).toBe('fork_history');
    const rows = rowsOf(tree);
    expect(rows.map(picture)).toEqual(['1 2 [3] 4 [5]', '1 6 [7]']);
    expect(rows.map((row) => row.role)).toEqual(['earlier', 'main']);
    expect(compacted.historyEnd.parent?.message).toEqual(system('s'));
    expect(tree.nodes.filter((node) => node.message?.role === 'system')).toHaveLength(1);
  });

  test('case 35: a rewritten turn that fits two siblings', () => {
    const tree = new TrajectoryTree();
    const script = (output: number, reasoning: string) => ({
      messages: [user('q')],
      prompt: ids(1),
      output: ids(output),
      reply: assistant('a ', { reasoning }),
    });
    turn(tree, script(2, 'x'));
    turn(tree, script(3, 'y'));
    const messages: Message[] = [user('q'), assistant('a'), user('b')];
    const located = tree.locate(ROOT, messages);
    expect([located.ambiguous, located.reached.length]).toEqual([true, 1]);
    const third = turn(tree, { messages, prompt: ids(1, 4, 5), output: ids(6), reply: assistant('c') });
    expect([third.link, third.outcome]).toEqual([null, 'fork_history']);
    expect(rowsOf(tree).map(picture)).toEqual(['1 [2]', '1 [3]', '1 4 5 [6]']);
    expect(tree.locate(ROOT, [...messages, assistant('c')]).end).toBe(third.node);
  });

  test('case 35: an exact fit is taken before a close one, and the later of two equal ones', () => {
    const tree = new TrajectoryTree();
    const script = (output: number, reply: string) => ({
      messages: [user('q')],
      prompt: ids(1),
      output: ids(output),
      reply: assistant(reply),
    });
    const [, exact] = [turn(tree, script(2, 'a ')), turn(tree, script(3, 'a')), turn(tree, script(4, ' a'))];
    expect(tree.locate(ROOT, [user('q'), assistant('a')]).end).toBe(exact!.node);
    const later = turn(tree, script(5, 'a'));
    expect(tree.locate(ROOT, [user('q'), assistant('a')]).end).toBe(later.node);
  });

  test('case 36: a shared turn, drift in one leaf', () => {
    const tree = new TrajectoryTree();
    const first = turn(tree, { messages: [user('q')], prompt: ids(1), output: ids(10, 11), reply: assistant('a') });
    const history = (next: string) => [user('q'), assistant('a'), user(next)];
    turn(tree, { messages: history('x'), prompt: ids(1, 99, 11, 2), output: ids(12), reply: assistant('b') });
    turn(tree, {
      messages: history('y'),
      prompt: { kind: 'extends', base: first, delta: ids(3), proof: 'exact' },
      output: ids(13),
      reply: assistant('c'),
    });
    expect(rowsOf(tree).map(picture)).toEqual(['1 99 11 2 [12]', '1 [10 11] 3 [13]']);
  });

  test('case 36: the same under the seed-compatible policy', () => {
    const tree = new TrajectoryTree({ policy: 'rerender', realignTokensMax: 1024 });
    turn(tree, { messages: [user('q')], prompt: ids(1), output: ids(10, 11), reply: assistant('a') });
    const history = (next: string) => [user('q'), assistant('a'), user(next)];
    turn(tree, { messages: history('x'), prompt: ids(1, 99, 11, 2), output: ids(12), reply: assistant('b') });
    turn(tree, { messages: history('y'), prompt: ids(1, 10, 11, 3), output: ids(13), reply: assistant('c') });
    expect(rowsOf(tree).map(picture)).toEqual(['1 99 11 2 [12]', '1 [10 11] 3 [13]']);
  });

  test('case 37: loss that nobody sees: every prompt that continues nothing is counted by cause', () => {
    const tree = new TrajectoryTree();
    turn(tree, { messages: [system('s'), user('q')], prompt: ids(1), output: ids(2), reply: assistant('a') });
    turn(tree, {
      messages: [system('s'), user('q'), assistant('edited'), user('b')],
      prompt: ids(1, 3),
      output: ids(4),
      reply: assistant('c'),
    });
    turn(tree, {
      messages: [system('s'), user('q'), assistant('a'), user('b')],
      prompt: ids(1, 9, 9),
      output: ids(5),
      reply: assistant('d'),
    });
    turn(tree, { messages: [system('s'), user('other')], prompt: ids(1, 7), output: ids(6), reply: assistant('e') });
    turn(tree, { key: TOOLS, messages: [system('s'), user('q')], prompt: ids(0, 1), output: ids(7), reply: assistant('f') });
    turn(tree, { messages: [system('of another'), user('q')], prompt: ids(8), output: ids(8), reply: assistant('g') });
    expect(Object.fromEntries(tree.books.outcomes)).toEqual({ start: 2, fork_history: 2, fork_template: 1, fork_tools: 1 });
    expect(tree.books.forks).toEqual({ fork_history: 2, fork_template: 1, fork_tools: 1 });
  });

  test('a foreign answer after a sampled one is the client’s doing', () => {
    const tree = new TrajectoryTree();
    turn(tree, { messages: [user('q')], prompt: ids(1), output: ids(2), reply: assistant('a') });
    const history = [user('q'), assistant('a'), user('b'), assistant('not ours'), user('c')];
    const script = { messages: history, prompt: ids(1, 3), output: ids(4), reply: assistant('d') };
    expect([turn(tree, script).outcome, turn(tree, script).outcome]).toEqual(['fork_history', 'fork_history']);
  });

  test('case 38: wide and deep trees: the work follows the new messages', () => {
    let reads = 0;
    const counted = (text: string): Message => ({
      role: 'user',
      get content() {
        reads++;
        return text;
      },
    });
    const tree = new TrajectoryTree();
    const messages: Message[] = [];
    let located = tree.locate(ROOT, messages);
    for (let i = 0; i < 600; i++) {
      messages.push(counted(`question ${i}`));
      reads = 0;
      const known = { located, count: located.reached.length };
      located = tree.locate(ROOT, messages, known);
      expect(reads).toBe(0);
      const above = i === 0 ? null : tree.turns.at(-1)!;
      const pending = tree.begin({
        located,
        prompt: above === null ? { kind: 'whole', ids: ids(1) } : { kind: 'extends', base: above, delta: ids(i), proof: 'exact' },
        digest: `${i}`,
        protocol: 'openai-chat',
        sampling: { maxTokens: 1 } as never,
        startedAtMs: i,
      });
      const reply = assistant(`answer ${i}`);
      commit(pending, { output: ids(7), reply });
      expect(reads).toBeLessThan(8);
      messages.push(reply);
      located = tree.locate(ROOT, messages, { located, count: messages.length - 2 });
      expect(located.reached).toHaveLength(messages.length);
    }
    expect(fullIds(tree.turns.at(-1)!)).toHaveLength(1 + 599 + 600);
    expect(rowsOf(tree)).toHaveLength(1);
    for (let i = 0; i < 200; i++) turn(tree, { messages: [user(`sibling ${i}`)], prompt: ids(2), output: ids(3), reply: assistant('x') });
    reads = 0;
    expect(tree.locate(ROOT, [counted('sibling 150')]).reached).toHaveLength(1);
    expect(reads).toBeLessThan(8);
  });

  test('what the caller knows already changes nothing but the work', () => {
    const tree = new TrajectoryTree();
    const reply = assistant(null, { toolCalls: [call('f', '{}', 'call_1'), call('g', '{}', 'call_2')] });
    turn(tree, { messages: [user('q')], prompt: ids(1), output: ids(2), reply });
    const echo = assistant(null, { toolCalls: [call('f', '{}', 'x'), call('g', '{}', 'x')] });
    const messages = [user('q'), echo, tool('r', 'x'), tool('s', 'x'), user('b')];
    turn(tree, { messages, prompt: ids(3), output: ids(4), reply: assistant('a') });
    const whole = tree.locate(ROOT, [...messages, assistant('a'), user('c')]);
    expect(whole.messages.slice(2, 4)).toEqual([tool('r', 'call_1'), tool('s', 'call_2')]);
    for (let count = 0; count <= 8; count++) {
      expect(tree.locate(ROOT, [...messages, assistant('a'), user('c')], { located: whole, count })).toEqual(whole);
      const other = [...messages.slice(0, Math.min(count, 5)), user('other')];
      expect(tree.locate(ROOT, other, { located: whole, count: Math.min(count, 5) })).toEqual(tree.locate(ROOT, other));
    }
    expect(tree.locate(TOOLS, messages, { located: whole, count: 5 }).reached).toHaveLength(0);
  });

  test('a branch from the middle goes on with the ids of the turns that it keeps', () => {
    const tree = new TrajectoryTree();
    const first = turn(tree, { messages: [user('q')], prompt: ids(1), output: ids(2), reply: assistant('a') });
    const second = turn(tree, {
      messages: [user('q'), assistant('a'), user('b')],
      prompt: { kind: 'extends', base: first, delta: ids(3), proof: 'exact' },
      output: ids(4),
      reply: assistant('c'),
    });
    turn(tree, {
      messages: [user('q'), assistant('a'), user('b'), assistant('c'), user('d')],
      prompt: { kind: 'extends', base: second, delta: ids(5), proof: 'exact' },
      output: ids(6),
      reply: assistant('e'),
    });
    turn(tree, {
      messages: [user('q'), assistant('a'), user('other')],
      prompt: { kind: 'extends', base: first, delta: ids(7), proof: 'exact' },
      output: ids(8),
      reply: assistant('f'),
    });
    const rows = rowsOf(tree);
    expect(rows.map(picture)).toEqual(['1 2 3 [4] 5 [6]', '1 [2] 7 [8]']);
    expect(rows.map((row) => row.role)).toEqual(['branch', 'main']);
    expect(rows[0]!.turns.map(({ turn_id, trained_here, parent_row }) => [turn_id, trained_here, parent_row])).toEqual([
      ['t0', false, 1],
      ['t1', true, null],
      ['t2', true, null],
    ]);
  });

  test('the template drops a later turn only: the row goes on from the turn that still stands', () => {
    const tree = new TrajectoryTree();
    const first = turn(tree, { messages: [user('q')], prompt: ids(1), output: ids(2), reply: assistant('a') });
    const history = [user('q'), assistant('a'), user('b'), assistant('c', { reasoning: 'r' }), user('d')];
    turn(tree, {
      messages: history.slice(0, 3),
      prompt: { kind: 'extends', base: first, delta: ids(3), proof: 'exact' },
      output: ids(90, 4),
      reply: assistant('c', { reasoning: 'r' }),
    });
    const third = turn(tree, { messages: history, prompt: ids(1, 2, 3, 4, 5), output: ids(6), reply: assistant('e') });
    expect(third.link).toEqual({ to: first, kind: 'clean' });
    expect(third.outcome).toBe('fork_template');
    const rows = rowsOf(tree);
    expect(rows.map(picture)).toEqual(['1 2 3 [90 4]', '1 [2] 3 4 5 [6]']);
    expect(rows.map((row) => row.role)).toEqual(['earlier', 'main']);
  });
});
