import { describe, expect, test } from 'vitest';
import { planRows, summarise } from '../../src/trajectory/rows.js';
import { TrajectoryTree } from '../../src/trajectory/tree.js';
import { SAMPLING } from '../support/sampling.js';
import {
  assistant,
  begin,
  call,
  fresh,
  ids,
  picture,
  ROOT,
  rowsOf,
  sampled,
  system,
  Talk,
  TOOLS,
  tool,
  turn,
  user,
} from '../support/trajectory-fixtures.js';

/** Three turns in a row: `1 2 [3 4] 5 [6] 7 [8 9]`. */
function three(): TrajectoryTree {
  const tree = new TrajectoryTree();
  const first = turn(tree, { messages: [user('q')], prompt: ids(1, 2), output: ids(3, 4), reply: assistant('a') });
  const history = [user('q'), assistant('a'), user('b')];
  const second = turn(tree, {
    messages: history,
    prompt: { kind: 'extends', base: first, delta: ids(5), proof: 'raw' },
    output: ids(6),
    reply: assistant('c'),
  });
  turn(tree, {
    messages: [...history, assistant('c'), user('d')],
    prompt: { kind: 'extends', base: second, delta: ids(7), proof: 'delta' },
    output: ids(8, 9),
    reply: assistant('e'),
  });
  return tree;
}

const summary = (tree: TrajectoryTree, maxRowTokens?: number) => summarise(tree, planRows(tree.turns, maxRowTokens), 1000, 2500);

describe('a row', () => {
  test('has arrays of one length and a turn for each stretch that was sampled', () => {
    const [row, ...others] = rowsOf(three());
    expect(others).toEqual([]);
    expect(picture(row!)).toBe('1 2 [3 4] 5 [6] 7 [8 9]');
    expect([row!.token_ids.length, row!.prompt_length, row!.response_length, row!.loss_mask.length, row!.logprobs.length]).toEqual([
      9, 2, 7, 7, 7,
    ]);
    expect(row!.response).toBe('3 4 5 6 7 8 9');
    expect(row!.turns.map(({ turn_id, start, end }) => [turn_id, start, end])).toEqual([
      ['t0', 2, 4],
      ['t1', 5, 6],
      ['t2', 7, 9],
    ]);
    expect(row!.quality).toEqual({
      truncated: false,
      cut_turns: 0,
      ill_formed_turns: 0,
      repaired_logprobs: 0,
      forks: {},
      drift: { start: 1, raw: 1, delta: 1 },
      discarded: {},
      flags: [],
      untrainable: [],
    });
  });

  test('carries what was said of the session', () => {
    const metadata = new Map([['task', 'doors']]);
    const [row] = rowsOf(three(), {
      rolloutId: 'r',
      groupId: 'g',
      sampleIndex: 4,
      metadata,
      reward: 0.5,
      rewardComponents: { style: { value: 1, weight: 0.1 }, length: 2 },
      turnRewards: { t1: -1 },
      status: 'failed',
      stopReason: 'max_turns',
      error: 'agent died',
    });
    expect(row).toMatchObject({
      schema_version: 1,
      model: 'policy',
      tokenizer_hash: 'hash',
      session_id: 'session',
      rollout_id: 'r',
      group_id: 'g',
      sample_index: 4,
      metadata,
      reward: 0.5,
      reward_components: { style: { value: 1, weight: 0.1 }, length: 2 },
      status: 'failed',
      stop_reason: 'max_turns',
      error: 'agent died',
      trainable: true,
    });
    expect(row!.turns.map((t) => t.reward)).toEqual([null, -1, null]);
  });

  test('without a rollout id has the session’s, without a reward null', () => {
    expect(rowsOf(three())[0]).toMatchObject({
      rollout_id: 'session',
      reward: null,
      group_id: null,
      sample_index: null,
      status: 'completed',
    });
  });

  test('rewards by row win over the session’s, null included', () => {
    const tree = new TrajectoryTree();
    for (const text of ['x', 'y', 'z']) new Talk(tree, ROOT, user(text)).answer(assistant('a'));
    expect(rowsOf(tree, { reward: 1, rowRewards: [0.25, null] }).map((row) => row.reward)).toEqual([0.25, null, 1]);
  });

  test('a turn names its engine, sampling and times', () => {
    const tree = new TrajectoryTree();
    const sampling = { ...SAMPLING, temperature: 0.7, seed: 3, stopTokenIds: [9], stopStrings: ['END'] };
    const pending = tree.begin({
      located: tree.locate(ROOT, [user('q')]),
      prompt: { kind: 'whole', ids: ids(1) },
      digest: 'd',
      protocol: 'anthropic-messages',
      sampling,
      startedAtMs: 1500,
    });
    const calls = assistant(null, { toolCalls: [call('f', '{}', 'a'), call('f', '{}', 'b')] });
    pending.finish(
      sampled(ids(2, 9), calls, {
        finishReason: 'tool_calls',
        stop: { kind: 'stop_token', tokenCount: 1 },
        engine: 'vllm',
        replica: 'http://a:1',
        engineRequestId: 'cmpl-1',
        logprobBasis: 'processed',
        cachedTokens: 0,
        queueMs: 1,
        firstTokenMs: 2,
        engineMs: 3,
        illFormed: true,
        flags: ['repetition'],
      }),
    );
    pending.commit(1600);
    const [row] = rowsOf(tree);
    expect(row!.turns).toEqual([
      {
        turn_id: 't0',
        start: 1,
        end: 3,
        trained_here: true,
        parent_row: null,
        duplicate_of: null,
        finish_reason: 'tool_calls',
        stop: { kind: 'stop_token', token_count: 1 },
        weight_versions: [],
        engine: 'vllm',
        replica: 'http://a:1',
        engine_request_id: 'cmpl-1',
        logprob_basis: 'processed',
        sampling: {
          max_tokens: 64,
          temperature: 0.7,
          top_p: 1,
          top_k: -1,
          min_p: 0,
          presence_penalty: 0,
          frequency_penalty: 0,
          repetition_penalty: 1,
          seed: 3,
          min_tokens: 0,
          stop_token_ids: [9],
          stop: ['END'],
        },
        reward: null,
        protocol: 'anthropic-messages',
        started_at: 1.5,
        queue_ms: 1,
        first_token_ms: 2,
        engine_ms: 3,
        cached_tokens: 0,
        tool_calls: 2,
        ill_formed: true,
      },
    ]);
    expect(row!.quality).toMatchObject({ ill_formed_turns: 1, flags: ['repetition'] });
  });

  test('ends truncated where its last turn ended by length, unless the trainer says otherwise', () => {
    const tree = new TrajectoryTree();
    turn(tree, { messages: [user('q')], prompt: ids(1), output: ids(2), reply: assistant('a'), more: { finishReason: 'length' } });
    expect(rowsOf(tree)[0]).toMatchObject({ status: 'truncated', quality: { truncated: true } });
    expect(rowsOf(tree, { status: 'aborted' })[0]!.status).toBe('aborted');
  });
});

describe('segments and messages', () => {
  test('segments cover every id once and name what the caller named', () => {
    const tree = new TrajectoryTree();
    const looks = assistant(null, { toolCalls: [call('f', '{}', 'call_1')] });
    const first = turn(tree, {
      messages: [user('q')],
      prompt: { kind: 'whole', ids: fresh(5), segments: [{ kind: 'user', length: 5 }] },
      output: fresh(3),
      reply: looks,
    });
    const history = [user('q'), looks, tool('r', 'call_1')];
    const segments = [
      { kind: 'template', length: 1 },
      { kind: 'tool', length: 4 },
      { kind: 'template', length: 2 },
    ] as const;
    const second = turn(tree, {
      messages: history,
      prompt: { kind: 'extends', base: first, delta: fresh(7), proof: 'exact', segments },
      output: fresh(2),
      reply: assistant('a'),
    });
    turn(tree, {
      messages: [...history, assistant('a'), user('b')],
      prompt: { kind: 'extends', base: second, delta: fresh(3), proof: 'exact' },
      output: fresh(1),
      reply: assistant('c'),
    });
    const [row] = rowsOf(tree, {}, { include: ['segments'] });
    expect(row!.segments).toEqual([
      { start: 0, end: 5, kind: 'prompt' },
      { start: 5, end: 8, kind: 'sampled' },
      { start: 8, end: 9, kind: 'template' },
      { start: 9, end: 13, kind: 'tool' },
      { start: 13, end: 15, kind: 'template' },
      { start: 15, end: 17, kind: 'sampled' },
      { start: 17, end: 20, kind: 'template' },
      { start: 20, end: 21, kind: 'sampled' },
    ]);
    expect(row!.messages).toBeUndefined();
  });

  test('segments of a whole prompt are cut to what follows the turn before it', () => {
    const tree = new TrajectoryTree();
    turn(tree, { messages: [user('q')], prompt: ids(1, 2), output: ids(3), reply: assistant('a') });
    const segments = [
      { kind: 'user', length: 2 },
      { kind: 'assistant', length: 2 },
      { kind: 'user', length: 2 },
    ] as const;
    turn(tree, {
      messages: [user('q'), assistant('a'), user('b')],
      prompt: { kind: 'whole', ids: ids(1, 2, 3, 4, 5, 6), segments },
      output: ids(7),
      reply: assistant('c'),
    });
    expect(rowsOf(tree, {}, { include: ['segments'] })[0]!.segments).toEqual([
      { start: 0, end: 2, kind: 'prompt' },
      { start: 2, end: 3, kind: 'sampled' },
      { start: 3, end: 4, kind: 'assistant' },
      { start: 4, end: 6, kind: 'user' },
      { start: 6, end: 7, kind: 'sampled' },
    ]);
  });

  test('segments of a row whose last output was written over', () => {
    const tree = new TrajectoryTree({ policy: 'rerender', realignTokensMax: 9 });
    turn(tree, { messages: [user('q')], prompt: ids(1, 2), output: ids(3, 4), reply: assistant('a') });
    const segments = [
      { kind: 'assistant', length: 4 },
      { kind: 'user', length: 1 },
    ] as const;
    turn(tree, {
      messages: [user('q'), assistant('a'), user('b')],
      prompt: { kind: 'whole', ids: ids(1, 2, 3, 9, 5), segments },
      output: ids(7),
      reply: assistant('c'),
    });
    expect(rowsOf(tree, {}, { include: ['segments'] })[0]!.segments).toEqual([
      { start: 0, end: 2, kind: 'prompt' },
      { start: 2, end: 4, kind: 'assistant' },
      { start: 4, end: 5, kind: 'user' },
      { start: 5, end: 6, kind: 'sampled' },
    ]);
  });

  test('messages are those of the row in their stored spelling, with the tools', () => {
    const tree = new TrajectoryTree();
    const reply = assistant('a ', { reasoning: 'r' });
    const first = turn(tree, { key: TOOLS, messages: [system('s'), user('q')], prompt: ids(1), output: ids(2), reply });
    turn(tree, {
      key: TOOLS,
      messages: [system('s'), user('q'), assistant('a'), user('b')],
      prompt: { kind: 'extends', base: first, delta: ids(3), proof: 'exact' },
      output: ids(4),
      reply: assistant('c'),
    });
    const [row] = rowsOf(tree, {}, { include: ['messages'] });
    expect(row!.messages).toEqual([system('s'), user('q'), reply, user('b'), assistant('c')]);
    expect(row!.tools).toEqual(TOOLS.tools);
    expect(row!.segments).toBeUndefined();
  });
});

describe('empty replies', () => {
  const empty = { output: ids(), reply: assistant(null), more: { stop: { kind: 'abort', tokenCount: 0 } } as const };

  test('alone give no row', () => {
    const tree = new TrajectoryTree();
    turn(tree, { messages: [user('q')], prompt: ids(1), ...empty });
    turn(tree, {
      messages: [user('q'), assistant(null), user('b')],
      prompt: { kind: 'extends', base: tree.turns[0]!, delta: ids(2), proof: 'exact' },
      ...empty,
    });
    expect(rowsOf(tree)).toEqual([]);
    expect(summary(tree)).toMatchObject({ turns: 2, rows: 0, capture_yield: 1, capture_error: null });
  });

  test('at the end of a row stand in it, beside its continuation they give no row', () => {
    const tree = three();
    const last = tree.turns.at(-1)!;
    const history = [user('q'), assistant('a'), user('b'), assistant('c'), user('d'), assistant('e'), user('f')];
    const script = { messages: history, prompt: { kind: 'extends', base: last, delta: ids(20), proof: 'exact' } as const };
    turn(tree, { ...script, ...empty });
    expect(rowsOf(tree).map(picture)).toEqual(['1 2 [3 4] 5 [6] 7 [8 9] 20']);
    expect(rowsOf(tree)[0]!.turns.at(-1)).toMatchObject({ turn_id: 't3', start: 10, end: 10 });
    turn(tree, { ...script, output: ids(21), reply: assistant('g') });
    expect(rowsOf(tree).map(picture)).toEqual(['1 2 [3 4] 5 [6] 7 [8 9] 20 [21]']);
  });

  test('twice beside each other leave the row that they followed', () => {
    const tree = three();
    const script = {
      messages: [user('q'), assistant('a'), user('x')],
      prompt: { kind: 'extends', base: tree.turns[0]!, delta: ids(20), proof: 'exact' } as const,
    };
    turn(tree, { ...script, ...empty });
    turn(tree, { ...script, ...empty });
    expect(rowsOf(tree).map(picture)).toEqual(['1 2 [3 4] 5 [6] 7 [8 9]']);
    expect(summary(tree)).toMatchObject({ capture_yield: 1, capture_error: null });
  });
});

describe('max_row_tokens', () => {
  test('cuts at the end of a turn and says so', () => {
    const tree = three();
    for (const [max, kept, cut, tokens] of [
      [9, '1 2 [3 4] 5 [6] 7 [8 9]', 0, 0],
      [8, '1 2 [3 4] 5 [6]', 1, 2],
      [6, '1 2 [3 4] 5 [6]', 1, 2],
      [5, '1 2 [3 4]', 2, 3],
    ] as const) {
      const rows = rowsOf(tree, {}, {}, max);
      expect(rows.map(picture)).toEqual([kept]);
      expect(rows[0]!.quality).toMatchObject({ cut_turns: cut, truncated: cut > 0, discarded: cut > 0 ? { max_row_tokens: tokens } : {} });
      expect(summary(tree, max)).toMatchObject({ capture_yield: (5 - tokens) / 5, capture_error: null, tokens: { trained: 5 - tokens } });
    }
  });

  test('leaves out a session whose first turn is too long, and counts it', () => {
    const tree = three();
    expect(rowsOf(tree, {}, {}, 3)).toEqual([]);
    expect(summary(tree, 3)).toMatchObject({
      rows: 0,
      capture_yield: 0,
      capture_error: null,
      tokens: { discarded: { max_row_tokens: 5 } },
    });
  });

  test('cut turns of two branches are counted in the row that keeps their common start', () => {
    const tree = three();
    turn(tree, {
      messages: [user('q'), assistant('a'), user('x')],
      prompt: { kind: 'extends', base: tree.turns[0]!, delta: fresh(9), proof: 'exact' },
      output: ids(30),
      reply: assistant('y'),
    });
    const rows = rowsOf(tree, {}, {}, 6);
    expect(rows.map(picture)).toEqual(['1 2 [3 4] 5 [6]']);
    expect(rows[0]!.quality).toMatchObject({ cut_turns: 2, discarded: { max_row_tokens: 3 } });
  });
});

describe('the books', () => {
  test('say when and how much, and balance', () => {
    const tree = three();
    const gone = begin(tree, { messages: [user('z')], prompt: ids(1), output: ids(), reply: assistant(null) });
    gone.finish(sampled(ids(1, 2, 3), assistant('x')));
    gone.discard('client_gone');
    expect(summary(tree)).toEqual({
      opened_at: 1,
      finished_at: 2.5,
      turns: 3,
      rows: 1,
      tokens: { sampled: 8, committed: 5, trained: 5, discarded: { client_gone: 3 } },
      capture_yield: 1,
      capture_error: null,
      aborted_turns: 1,
      forks: {},
      drift: { start: 1, raw: 1, delta: 1 },
    });
  });

  test('show what is missing', () => {
    const tree = three();
    tree.books.sampled += 4;
    expect(summary(tree).capture_error).toBe('9 tokens were sampled and 5 are accounted for');
  });

  test('a plan that lost a turn cannot balance', () => {
    const tree = three();
    const plan = planRows(tree.turns.slice(0, 2));
    expect(summarise(tree, plan, 0, 0)).toMatchObject({
      capture_yield: 3 / 5,
      capture_error: '5 tokens were sampled and 3 are accounted for',
    });
  });
});
