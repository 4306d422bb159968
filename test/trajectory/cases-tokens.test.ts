import { describe, expect, test } from 'vitest';
import { TrajectoryTree } from '../../src/trajectory/tree.js';
import { assistant, begin, call, ids, logprobOf, picture, rowsOf, sampled, tool, turn, user } from '../support/trajectory-fixtures.js';

describe('C. Tokens, templates, boundaries', () => {
  test('case 18: a tokenisation the tokenizer would not choose stays as sampled', () => {
    const tree = new TrajectoryTree();
    const first = turn(tree, { messages: [user('q')], prompt: ids(1), output: ids(70, 71), reply: assistant(' Pantom') });
    const next = begin(tree, {
      messages: [user('q'), assistant(' Pantom'), user('b')],
      prompt: { kind: 'extends', base: first, delta: ids(2), proof: 'raw' },
      output: ids(),
      reply: assistant(null),
    });
    expect([...next.promptIds()]).toEqual([1, 70, 71, 2]);
    expect(picture(rowsOf(tree)[0]!)).toBe('1 [70 71]');
  });

  test('case 19: the separator nobody samples has mask 0', () => {
    const tree = new TrajectoryTree();
    const first = turn(tree, { messages: [user('q')], prompt: ids(1), output: ids(5, 151645), reply: assistant('a') });
    turn(tree, {
      messages: [user('q'), assistant('a'), user('b')],
      prompt: { kind: 'extends', base: first, delta: ids(198, 2), proof: 'exact' },
      output: ids(6, 151645),
      reply: assistant('c'),
    });
    expect(rowsOf(tree).map(picture)).toEqual(['1 [5 151645] 198 2 [6 151645]']);
  });

  test('case 20: stop strings are trained and known by the text without them', () => {
    const tree = new TrajectoryTree();
    const first = turn(tree, {
      messages: [user('q')],
      prompt: ids(1),
      output: ids(2, 3, 4),
      reply: assistant('42</answer>'),
      more: {
        shown: assistant('42'),
        stop: { kind: 'stop_string', tokenCount: 2 },
        stopString: '</answer>',
        finishReason: 'stop_sequence',
      },
    });
    const located = tree.locate({ model: 'policy', tools: [], templateKwargs: new Map() }, [user('q'), assistant('42'), user('b')]);
    expect(located.end).toBe(first.node);
    expect(located.messages[1]!.content).toBe('42</answer>');
    const [row] = rowsOf(tree);
    expect(picture(row!)).toBe('1 [2 3 4]');
    expect(row!.turns[0]).toMatchObject({ finish_reason: 'stop_sequence', stop: { kind: 'stop_string', token_count: 2 } });
  });

  test('case 21: stop token trimmed, its logprob kept', () => {
    const tree = new TrajectoryTree();
    const pending = begin(tree, { messages: [user('q')], prompt: ids(1), output: ids(), reply: assistant(null) });
    const three = Float32Array.of(-1, -2, -3);
    expect(() => pending.finish(sampled(ids(5, 6), assistant('a'), { logprobs: three }))).toThrow('2 output ids and 3 logprobs');
    expect(pending.state).toBe('running');
    expect(tree.books.sampled).toBe(0);
  });

  test('case 22: old thinking dropped by the template', () => {
    const tree = new TrajectoryTree();
    const thinks = assistant(null, { reasoning: 'r', toolCalls: [call('f', '{}', 'call_1')] });
    const first = turn(tree, { messages: [user('q')], prompt: ids(1), output: ids(90, 2), reply: thinks });
    const history = [user('q'), thinks, tool('t', 'call_1')];
    turn(tree, {
      messages: history,
      prompt: { kind: 'extends', base: first, delta: ids(3), proof: 'exact' },
      output: ids(91, 4),
      reply: assistant('a', { reasoning: 's' }),
    });
    const third = turn(tree, {
      messages: [...history, assistant('a'), user('next')],
      prompt: ids(1, 2, 3, 4, 5),
      output: ids(92, 6),
      reply: assistant('b'),
    });
    expect([third.outcome, third.link]).toEqual(['fork_template', null]);
    const rows = rowsOf(tree);
    expect(rows.map(picture)).toEqual(['1 [90 2] 3 [91 4]', '1 2 3 4 5 [92 6]']);
    expect(rows.map((row) => row.role)).toEqual(['earlier', 'main']);
    expect(rows[1]!.quality.forks).toEqual({ fork_template: 1 });
  });

  test('case 23: cut inside the thinking', () => {
    const tree = new TrajectoryTree();
    const reply = assistant(null, { reasoning: 'so far' });
    const first = turn(tree, {
      messages: [user('q')],
      prompt: ids(1),
      output: ids(2, 3),
      reply,
      more: { finishReason: 'length', stop: { kind: 'length', tokenCount: 0 } },
    });
    turn(tree, {
      messages: [user('q'), reply, user('go on')],
      prompt: { kind: 'extends', base: first, delta: ids(100, 4), proof: 'raw' },
      output: ids(5),
      reply: assistant('a'),
    });
    const [row, ...others] = rowsOf(tree);
    expect(others).toEqual([]);
    expect(picture(row!)).toBe('1 [2 3] 100 4 [5]');
    expect([row!.quality.truncated, row!.status]).toEqual([true, 'completed']);
  });

  test('case 24: several messages appended at once', () => {
    const tree = new TrajectoryTree();
    const reply = assistant(null, { toolCalls: [call('f', '{}', 'a'), call('g', '{}', 'b')] });
    const first = turn(tree, { messages: [user('q')], prompt: ids(1), output: ids(2), reply });
    const second = turn(tree, {
      messages: [user('q'), reply, tool('r', 'a'), tool('s', 'b'), user('and')],
      prompt: { kind: 'extends', base: first, delta: ids(3, 4, 5), proof: 'exact' },
      output: ids(6),
      reply: assistant('x'),
    });
    expect(second.historyEnd.depth).toBe(5);
    expect(rowsOf(tree).map(picture)).toEqual(['1 [2] 3 4 5 [6]']);
  });
});

describe('F. Engine edges', () => {
  test('case 44: logprobs missing, null or not finite', () => {
    const tree = new TrajectoryTree();
    turn(tree, {
      messages: [user('q')],
      prompt: ids(1),
      output: ids(2, 3, 4),
      reply: assistant('a'),
      more: { logprobs: Float32Array.of(-0.5, Number.NaN, Number.NEGATIVE_INFINITY) },
    });
    const [row] = rowsOf(tree);
    expect([...row!.logprobs]).toEqual([-0.5, Number.NaN, Number.NEGATIVE_INFINITY]);
    expect([...row!.loss_mask]).toEqual([1, 1, 1]);
    expect(row!.quality).toMatchObject({ repaired_logprobs: 2, untrainable: ['unknown_logprobs'] });
    expect(row!.trainable).toBe(false);
  });

  test('case 45: an aborted call is not recorded', () => {
    const tree = new TrajectoryTree();
    const pending = begin(tree, { messages: [user('q')], prompt: ids(1), output: ids(), reply: assistant(null) });
    pending.discard('engine_failed', 7);
    expect(pending.commit(1)).toEqual({ ok: false, reason: 'settled' });
    expect(tree.nodes).toHaveLength(0);
    expect([tree.books.sampled, tree.books.discarded.get('engine_failed')]).toEqual([7, 7]);
  });

  test('case 52: weights change during a generation', () => {
    const tree = new TrajectoryTree();
    const weightVersions = [
      { version: '7', start: 0, end: 2 },
      { version: 'step-8', start: 2, end: 3 },
    ];
    turn(tree, { messages: [user('q')], prompt: ids(1, 1), output: ids(2, 3, 4), reply: assistant('a'), more: { weightVersions } });
    expect(rowsOf(tree)[0]!.turns[0]!.weight_versions).toEqual([
      { version: '7', version_index: 7, start: 2, end: 4 },
      { version: 'step-8', version_index: null, start: 4, end: 5 },
    ]);
    const bad = begin(tree, { messages: [user('q')], prompt: ids(1), output: ids(), reply: assistant(null) });
    expect(() => bad.finish(sampled(ids(2), assistant('a'), { weightVersions: [{ version: '1', start: 0, end: 2 }] }))).toThrow(
      'covers 0 to 2 of 1',
    );
    expect(() => bad.finish(sampled(ids(2), assistant('a'), { stop: { kind: 'eos', tokenCount: 2 } }))).toThrow('stop of 2 tokens');
  });

  test('logprobs sit at the tokens they belong to, in every row', () => {
    const tree = new TrajectoryTree();
    const first = turn(tree, { messages: [user('q')], prompt: ids(1, 2, 3), output: ids(10, 11), reply: assistant('a') });
    turn(tree, {
      messages: [user('q'), assistant('a'), user('b')],
      prompt: { kind: 'extends', base: first, delta: ids(20, 21), proof: 'exact' },
      output: ids(12, 13),
      reply: assistant('c'),
    });
    const [row] = rowsOf(tree);
    const at = (i: number) => row!.token_ids[row!.prompt_length + i]!;
    expect([...row!.logprobs]).toEqual([...row!.loss_mask].map((trained, i) => (trained ? logprobOf(at(i)) : 0)));
    expect(row!.turns.map(({ start, end }) => [...row!.token_ids.slice(start, end)])).toEqual([
      [10, 11],
      [12, 13],
    ]);
  });
});
