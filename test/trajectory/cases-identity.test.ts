import { describe, expect, test } from 'vitest';
import type { AssistantMessage, Message } from '../../src/canonical/message.js';
import { TrajectoryTree } from '../../src/trajectory/tree.js';
import {
  assistant,
  begin,
  call,
  commit,
  ids,
  picture,
  ROOT,
  rowsOf,
  system,
  TOOLS,
  tool,
  turn,
  user,
} from '../support/trajectory-fixtures.js';

/** One turn `1 2 → 3 4`, its echo, and a second turn that extends it where the echo was recognised and renders anew where not. */
function afterEcho(reply: AssistantMessage, echo: AssistantMessage, then: readonly Message[] = [user('go on')]) {
  const tree = new TrajectoryTree();
  const first = turn(tree, { messages: [user('q')], prompt: ids(1, 2), output: ids(3, 4), reply });
  const messages = [user('q'), echo, ...then];
  const located = tree.locate(ROOT, messages);
  const known = located.reached[1] === first.node;
  const second = turn(tree, {
    messages,
    prompt: known ? { kind: 'extends', base: first, delta: ids(5), proof: 'exact' } : ids(1, 2, 9, 5),
    output: ids(6),
    reply: assistant('done'),
  });
  return { known, located, first, second, outcome: second.outcome, rows: rowsOf(tree).map(picture) };
}

const ONE_ROW = ['1 2 [3 4] 5 [6]'];

describe('A. Is it the same message?', () => {
  test('case 1: text beside tool calls, and parallel calls', () => {
    const reply = assistant('let me look', { toolCalls: [call('A', '{"x":1}', 'call_a'), call('B', '{"y":2}', 'call_b')] });
    const { rows, outcome } = afterEcho(reply, { ...reply }, [tool('ra', 'call_a'), tool('rb', 'call_b')]);
    expect(rows).toEqual(ONE_ROW);
    expect(outcome).toBe('exact');
  });

  test.each([[null], [''], [' \n']])('case 2: empty content in three spellings (%j)', (content) => {
    const reply = assistant(null, { toolCalls: [call('A', '{}', 'call_a')] });
    expect(afterEcho(reply, { ...reply, content }, [tool('r', 'call_a')]).rows).toEqual(ONE_ROW);
  });

  test('case 3: tool-call ids rewritten or swapped', () => {
    const reply = assistant(null, { toolCalls: [call('A', '{"x":1}', 'call_1'), call('B', '{"y":2}', 'call_2')] });
    const renamed = assistant(null, { toolCalls: [call('A', '{"x":1}', 'toolu_x'), call('B', '{"y":2}', 'toolu_y')] });
    const one = afterEcho(reply, renamed, [tool('rb', 'toolu_y'), tool('ra', 'toolu_x')]);
    expect(one.rows).toEqual(ONE_ROW);
    expect(one.located.messages.slice(2)).toEqual([tool('rb', 'call_2'), tool('ra', 'call_1')]);
    const swapped = assistant(null, { toolCalls: [call('A', '{"x":1}', 'call_2'), call('B', '{"y":2}', 'call_1')] });
    const two = afterEcho(reply, swapped, [tool('ra', 'call_2'), tool('rb', 'call_1')]);
    expect(two.rows).toEqual(ONE_ROW);
    expect(two.located.messages.slice(2)).toEqual([tool('ra', 'call_1'), tool('rb', 'call_2')]);
  });

  test('case 3: a history with renamed ids is the same history on the next turn, under any names', () => {
    const tree = new TrajectoryTree();
    const reply = assistant(null, { toolCalls: [call('A', '{}', 'call_1')] });
    const first = turn(tree, { messages: [user('q')], prompt: ids(1), output: ids(2), reply });
    const history = (id: string) => [user('q'), assistant(null, { toolCalls: [call('A', '{}', id)] }), tool('r', id)];
    const second = turn(tree, {
      messages: history('x'),
      prompt: { kind: 'extends', base: first, delta: ids(3), proof: 'exact' },
      output: ids(4),
      reply: assistant('a'),
    });
    const located = tree.locate(ROOT, [...history('y'), assistant('a'), user('b')]);
    expect(located.end).toBe(second.node);
    expect(located.messages[2]).toEqual(tool('r', 'call_1'));
  });

  test('case 4: arguments re-spelled; the stored spelling is rendered', () => {
    const reply = assistant(null, { toolCalls: [call('A', '{"b": 1,"a":2}', 'call_1')] });
    const echo = assistant(null, { toolCalls: [call('A', '{"a":2,"b":1}', 'call_1')] });
    const { rows, located } = afterEcho(reply, echo, [tool('r', 'call_1')]);
    expect(rows).toEqual(ONE_ROW);
    expect(located.messages[1]).toBe(reply);
  });

  test.each(['1.0', '1e3', '12345678901234567890', '-0'])('case 5: numbers JavaScript cannot keep (%s)', (number) => {
    const reply = assistant(null, { toolCalls: [call('A', `{"n": ${number}}`)] });
    const { rows, located } = afterEcho(reply, assistant(null, { toolCalls: [call('A', `{"n":${number}}`)] }), [tool('r')]);
    expect(rows).toEqual(ONE_ROW);
    expect((located.messages[1] as AssistantMessage).toolCalls[0]!.arguments).toBe(`{"n": ${number}}`);
  });

  test('case 6: reasoning echoed back', () => {
    const reply = assistant('a', { reasoning: 'r' });
    expect(afterEcho(reply, { ...reply }).rows).toEqual(ONE_ROW);
  });

  test('case 7: reasoning stripped from the echo is rendered from the store', () => {
    const reply = assistant('text', { reasoning: 'r', toolCalls: [call('A', '{}', 'call_1')] });
    const { rows, located } = afterEcho(reply, { ...reply, reasoning: null }, [tool('r', 'call_1')]);
    expect(rows).toEqual(ONE_ROW);
    expect((located.messages[1] as AssistantMessage).reasoning).toBe('r');
  });

  test('case 7: where the new prompt no longer holds the reasoning, a new row starts and nothing is masked', () => {
    const tree = new TrajectoryTree();
    turn(tree, { messages: [user('q')], prompt: ids(1, 2), output: ids(7, 3, 4), reply: assistant('a', { reasoning: 'r' }) });
    const second = turn(tree, {
      messages: [user('q'), assistant('a'), user('b')],
      prompt: ids(1, 2, 3, 4, 5),
      output: ids(6),
      reply: assistant('c'),
    });
    expect(second.outcome).toBe('fork_template');
    expect(rowsOf(tree).map(picture)).toEqual(['1 2 [7 3 4]', '1 2 3 4 5 [6]']);
  });

  test.each(['answer \n\n', 'answer', '  answer'])('case 8: trailing whitespace (%j)', (content) => {
    const { rows, located } = afterEcho(assistant('answer \n\n'), assistant(content));
    expect(rows).toEqual(ONE_ROW);
    expect(located.messages[1]!.content).toBe('answer \n\n');
  });

  test.each(['{"a":', 'null', '[1]'])('case 9: arguments in a form the template cannot take (%s) keep the turn when echoed so', (args) => {
    const reply = assistant(null, { toolCalls: [call('A', args, 'call_1')] });
    expect(afterEcho(reply, { ...reply, toolCalls: [call('A', args, 'call_1')] }, [tool('r', 'call_1')]).rows).toEqual(ONE_ROW);
  });

  test('case 9: "" sent back as {}', () => {
    const reply = assistant(null, { toolCalls: [call('A', '', 'call_1')] });
    expect(afterEcho(reply, assistant(null, { toolCalls: [call('A', '{}', 'other')] }), [tool('r', 'other')]).rows).toEqual(ONE_ROW);
  });

  test('case 12: same messages, other tools', () => {
    const tree = new TrajectoryTree();
    turn(tree, { key: TOOLS, messages: [user('q')], prompt: ids(1, 2), output: ids(3), reply: assistant('a') });
    const other = { ...TOOLS, tools: [] };
    const second = turn(tree, {
      key: other,
      messages: [user('q'), assistant('a'), user('b')],
      prompt: ids(2, 3, 5),
      output: ids(6),
      reply: assistant('c'),
    });
    expect(second.outcome).toBe('fork_tools');
    expect(second.link).toBeNull();
    expect(tree.roots).toHaveLength(2);
    expect(rowsOf(tree).map(picture).sort()).toEqual(['1 2 [3]', '2 3 5 [6]']);
  });

  test('a real difference is a new branch: a call missing, renamed, with other arguments, other text', () => {
    const reply = assistant('look', { toolCalls: [call('A', '{"x":1}', 'call_1'), call('B', '{}', 'call_2')] });
    for (const echo of [
      { ...reply, toolCalls: reply.toolCalls.slice(0, 1) },
      { ...reply, toolCalls: [{ ...reply.toolCalls[0]!, name: 'C' }, reply.toolCalls[1]!] },
      { ...reply, toolCalls: [call('A', '{"x":2}', 'call_1'), reply.toolCalls[1]!] },
      { ...reply, content: 'see' },
    ]) {
      const { known, outcome, rows } = afterEcho(reply, echo);
      expect([known, outcome]).toEqual([false, 'fork_history']);
      expect(rows.sort()).toEqual(['1 2 9 5 [6]', '1 2 [3 4]']);
    }
  });

  test('case 25: ids the template prints stay those of the model, for calls and results', () => {
    const reply = assistant(null, { toolCalls: [call('f', '{}', 'functions.f:0')] });
    const echo = assistant(null, { toolCalls: [call('f', '{}', 'call_9')] });
    const { rows, located } = afterEcho(reply, echo, [tool('r', 'call_9')]);
    expect(rows).toEqual(ONE_ROW);
    expect(located.messages.slice(1)).toEqual([reply, tool('r', 'functions.f:0')]);
  });

  test('case 25: native ids repeat from turn to turn and are looked up per branch', () => {
    const tree = new TrajectoryTree();
    const reply = (n: number) => assistant(null, { toolCalls: [call('f', `{"n":${n}}`, 'functions.f:0')] });
    const first = turn(tree, { messages: [user('q')], prompt: ids(1), output: ids(2), reply: reply(1) });
    const history = [user('q'), reply(1), tool('r', 'functions.f:0')];
    const second = turn(tree, {
      messages: history,
      prompt: { kind: 'extends', base: first, delta: ids(3), proof: 'exact' },
      output: ids(4),
      reply: reply(2),
    });
    expect(tree.locate(ROOT, [...history, reply(2), tool('s', 'functions.f:0')]).end).toBe(second.node);
  });

  test('a prefilled assistant message comes back in one piece or in two', () => {
    const tree = new TrajectoryTree();
    const prefilled = [user('q'), assistant('The answer')];
    const first = turn(tree, { messages: prefilled, prompt: ids(1, 2), output: ids(3, 4), reply: assistant(' is 4.') });
    const whole = tree.locate(ROOT, [user('q'), assistant('The answer is 4.'), user('b')]);
    expect(whole.end).toBe(first.node);
    expect(whole.messages[1]!.content).toBe('The answer is 4.');
    const two = tree.locate(ROOT, [...prefilled, assistant(' is 4.'), user('b')]);
    expect(two.end).toBe(first.node);
    expect(two.messages.map((message) => message.content)).toEqual(['q', 'The answer', ' is 4.', 'b']);
    expect(tree.locate(ROOT, [user('q'), assistant('The answer is 5.')]).reached).toHaveLength(1);
  });

  test('a thinking signature names its turn', () => {
    const tree = new TrajectoryTree();
    const script = (n: number) => ({
      messages: [user('q')],
      prompt: ids(1),
      output: ids(n),
      reply: assistant('same', { reasoning: `r${n}` }),
    });
    const turns = [turn(tree, script(2)), turn(tree, script(3))];
    for (const { turnId, node } of turns) {
      expect(tree.locate(ROOT, [user('q'), assistant('same', { turnHint: turnId })]).end).toBe(node);
    }
    expect(tree.locate(ROOT, [user('q'), assistant('same', { turnHint: 't77' })]).ambiguous).toBe(true);
  });

  test('a turn that is not committed is not recognised', () => {
    const tree = new TrajectoryTree();
    const script = { messages: [system('s'), user('q')], prompt: ids(1), output: ids(2), reply: assistant('a') };
    const pending = begin(tree, script);
    expect(tree.locate(ROOT, [...script.messages, assistant('a')]).reached).toHaveLength(0);
    commit(pending, script);
    expect(tree.locate(ROOT, [...script.messages, assistant('a')]).reached).toHaveLength(3);
  });
});
