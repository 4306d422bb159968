import { describe, expect, test } from 'vitest';
import { CallIds } from '../../src/trajectory/call-ids.js';
import { planRows, summarise } from '../../src/trajectory/rows.js';
import { TrajectoryTree } from '../../src/trajectory/tree.js';
import { assistant, begin, commit, ids, ROOT, sampled, turn, user } from '../support/trajectory-fixtures.js';

const script = (digest = 'body', output = 3) => ({
  messages: [user('q')],
  prompt: ids(1, 2),
  output: ids(output),
  reply: assistant('a'),
  digest,
});
const result = sampled(ids(3), assistant('a'));
const books = (tree: TrajectoryTree) => summarise(tree, planRows(tree.turns), 0, 1000);

describe('the life of a turn', () => {
  test('commit needs a result, comes once, and ends all else', () => {
    const tree = new TrajectoryTree();
    const pending = begin(tree, script());
    expect(pending.commit(1)).toEqual({ ok: false, reason: 'running' });
    expect(pending.finish(result)).toBe(true);
    expect(pending.finish(result)).toBe(false);
    const first = pending.commit(7);
    expect(pending.commit(8)).toEqual(first);
    pending.discard('client_gone');
    expect([pending.state, pending.turn?.committedAtMs, tree.turns.length, tree.books.sampled]).toEqual(['committed', 7, 1, 1]);
  });

  test('a discarded turn leaves nothing behind and cannot come back', () => {
    const tree = new TrajectoryTree();
    const pending = begin(tree, script());
    pending.finish(result);
    pending.discard('client_gone');
    pending.discard('engine_failed');
    expect(pending.commit(1)).toEqual({ ok: false, reason: 'settled' });
    expect(pending.finish(result)).toBe(false);
    expect([pending.state, pending.discardReason, tree.nodes.length, tree.open.length]).toEqual(['discarded', 'client_gone', 0, 0]);
    expect(tree.findRetry('body')).toBeNull();
    expect(() => pending.promptIds()).toThrow('was discarded (client_gone)');
    expect(Object.fromEntries(tree.books.discarded)).toEqual({ client_gone: 1 });
  });

  test('a result that nobody waits for stays aside until a marked retry takes it over', () => {
    const tree = new TrajectoryTree();
    const pending = begin(tree, script());
    expect(pending.release()).toBe('abandoned');
    expect(pending.finish(result)).toBe(true);
    expect(pending.commit(1)).toEqual({ ok: false, reason: 'unheld' });
    expect(tree.nodes).toHaveLength(0);
    const retry = tree.findRetry('body');
    expect(retry).toBe(pending);
    retry!.join();
    expect(retry!.commit(2).ok).toBe(true);
    expect(tree.turns).toHaveLength(1);
  });

  test('a marked retry takes the turn whose client left before one that another client waits for', () => {
    const tree = new TrajectoryTree();
    const left = begin(tree, script());
    const held = begin(tree, script());
    left.release();
    expect(tree.findRetry('body')).toBe(left);
    left.join();
    expect(tree.findRetry('body')).toBe(held);
  });

  test('a marked retry of a turn that failed is not answered by an equal one that another call had', () => {
    const tree = new TrajectoryTree();
    turn(tree, script());
    const failed = begin(tree, script());
    failed.discard('engine_failed');
    expect(tree.findRetry('body')).toBeNull();
    const again = begin(tree, script());
    expect(tree.findRetry('body')).toBe(again);
  });

  test('turns that are over are forgotten beyond the bound, turns in work never', () => {
    const tree = new TrajectoryTree({ retryMemory: 2 });
    const running = begin(tree, script('running'));
    const aside = begin(tree, script('aside'));
    aside.release();
    aside.finish(result);
    turn(tree, script('one'));
    expect(tree.findRetry('aside')).toBeNull();
    expect([aside.state, aside.discardReason]).toEqual(['discarded', 'client_gone']);
    turn(tree, script('two'));
    turn(tree, script('three'));
    expect(['running', 'one', 'two', 'three'].map((digest) => tree.findRetry(digest)?.state ?? null)).toEqual([
      'running',
      null,
      null,
      'committed',
    ]);
    expect(tree.open).toEqual([running]);
    expect(books(tree).capture_error).toBeNull();
  });

  test('a late answer for a closed session is refused and counted', () => {
    const tree = new TrajectoryTree();
    turn(tree, script('done'));
    const running = begin(tree, script('running'));
    const finished = begin(tree, script('finished'));
    finished.finish(result);
    const aside = begin(tree, script('aside'));
    aside.release();
    aside.finish(result);
    tree.close();
    tree.close();
    expect([running, finished, aside].map(({ discardReason }) => discardReason)).toEqual([
      'session_closed',
      'session_closed',
      'client_gone',
    ]);
    expect(running.finish(result)).toBe(false);
    expect(running.commit(1)).toEqual({ ok: false, reason: 'closed' });
    expect(finished.commit(1)).toEqual({ ok: false, reason: 'closed' });
    expect([tree.books.lateResults, tree.books.lateTokens]).toEqual([1, 1]);
    expect(() => begin(tree, script())).toThrow('closed');
    expect(tree.turns).toHaveLength(1);
    expect(books(tree)).toMatchObject({
      turns: 1,
      aborted_turns: 3,
      tokens: { sampled: 3, committed: 1, trained: 1, discarded: { session_closed: 1, client_gone: 1 } },
      capture_yield: 1,
      capture_error: null,
    });
  });

  test('two concurrent turns on one branch become siblings of one history', () => {
    const tree = new TrajectoryTree();
    const first = turn(tree, script('first'));
    const next = {
      messages: [user('q'), assistant('a'), user('b')],
      prompt: { kind: 'extends', base: first, delta: ids(5), proof: 'exact' } as const,
    };
    const [one, two] = [6, 7].map((output) => begin(tree, { ...next, output: ids(output), reply: assistant(`${output}`) }));
    const second = commit(two!, { output: ids(7), reply: assistant('7') });
    const third = commit(one!, { output: ids(6), reply: assistant('6') });
    expect(third.historyEnd).toBe(second.historyEnd);
    expect([third.order < second.order, third.commitOrder > second.commitOrder]).toEqual([true, true]);
    expect([third.begunAfter, second.begunAfter]).toEqual([1, 1]);
    expect(tree.nodes).toHaveLength(5);
  });

  test('ids can only continue a turn of their own history', () => {
    const tree = new TrajectoryTree();
    const first = turn(tree, script());
    const elsewhere = {
      messages: [user('other')],
      prompt: { kind: 'extends', base: first, delta: ids(5), proof: 'exact' } as const,
      output: ids(),
      reply: assistant(null),
    };
    expect(() => begin(tree, elsewhere)).toThrow('Turn t0 is not part of the history');
    expect(tree.open).toHaveLength(0);
  });

  test('two sessions know nothing of each other', () => {
    const tree = new TrajectoryTree();
    turn(tree, script());
    expect(new TrajectoryTree().locate(ROOT, [user('q'), assistant('a')]).reached).toHaveLength(0);
  });

  test('the buffers of an engine’s answer are not kept alive by a part of them', () => {
    const tree = new TrajectoryTree();
    const answer = new Int32Array(1000).fill(7);
    const pending = begin(tree, { ...script(), prompt: answer.subarray(0, 5) });
    pending.finish(sampled(answer.subarray(10, 13), assistant('a'), { logprobs: new Float32Array(1000).subarray(0, 3) }));
    const committed = pending.commit(1);
    if (!committed.ok) throw new Error(committed.reason);
    const { delta, sampled: kept } = committed.turn;
    expect([delta, kept.outputIds, kept.logprobs].map((array) => array.buffer.byteLength)).toEqual([20, 12, 12]);
    answer.fill(0);
    expect([...delta, ...kept.outputIds]).toEqual([7, 7, 7, 7, 7, 7, 7, 7]);
  });
});

test('call ids are short, of one form and never repeat', () => {
  const issued = new CallIds();
  let n = 0;
  const random = () => (n++ < 16 ? 0.5 : (n % 7) / 7);
  const all = [issued.issue(random), issued.issue(random), issued.issue(random)];
  expect(new Set(all).size).toBe(3);
  expect(() => issued.issue(() => 0.5)).toThrow('repeats itself');
  for (const id of all) expect(id).toMatch(/^call_[a-z0-9]{8}$/);
});
