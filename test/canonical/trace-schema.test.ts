import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../src/canonical/json-parse.js';
import type { JsonObject } from '../../src/canonical/json-value.js';
import type { TraceRecord } from '../../src/canonical/trace.js';
import { traceJson } from '../../src/trainer/trace-encoding.js';
import { TrajectoryTree } from '../../src/trajectory/tree.js';
import { assistant, call, fresh, ids, ROOT, rowsOf, system, Talk, TOOLS, tool, turn, user } from '../support/trajectory-fixtures.js';

const schema = JSON.parse(readFileSync(new URL('../../src/canonical/trace.schema.json', import.meta.url), 'utf8'));
const validate = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }).compile(schema);

function check(record: unknown): string[] {
  validate(record);
  return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

/** Rows of a session that has everything: a helper, a twin, a fork, a row that was cut, unknown logprobs, weights that change. */
function rows(): TraceRecord[] {
  const task = 'Count the doors of the house.';
  const tree = new TrajectoryTree({ policy: 'rerender', realignTokensMax: 2 });
  const main = new Talk(tree, TOOLS, system('main'), user('q'));
  main.answer(assistant('spawning', { reasoning: 'hm', toolCalls: [call('Task', JSON.stringify({ task }), 'call_1')] }));
  const helper = new Talk(tree, ROOT, user(task));
  helper.answer(assistant('3'));
  helper.fork().hear(user('sure?')).answer(assistant('yes'), true);
  main.hear(tool('3', 'call_1', { name: 'Task', isError: true }));
  main.fork().answer(assistant('three'));
  main.answer(assistant(null, { toolCalls: [call('look', '{oops', null)] }));
  main.hear(tool('r')).answer(assistant('end'));
  turn(tree, {
    messages: [user('z')],
    prompt: fresh(2),
    output: ids(7, 8),
    reply: assistant('x'),
    more: {
      logprobs: Float32Array.of(Number.NaN, Number.NEGATIVE_INFINITY),
      finishReason: 'length',
      weightVersions: [
        { version: '3', start: 0, end: 1 },
        { version: 'x', start: 1, end: 2 },
      ],
      queueMs: 0.5,
      cachedTokens: 12,
      flags: ['repetition'],
    },
  });
  const drifted = turn(tree, { messages: [user('y')], prompt: ids(1), output: ids(2, 3), reply: assistant('w') });
  turn(tree, { messages: [user('y'), assistant('w'), user('v')], prompt: ids(1, 2, 9, 4), output: ids(5), reply: assistant('u') });
  expect(drifted.turnId).toBe('t7');
  const facts = {
    reward: 0.5,
    rewardComponents: { a: 1, b: { value: 2, weight: 0.5 } },
    metadata: parseJson('{"n": 1.0, "big": 12345678901234567890, "deep": [{"x": null}]}') as JsonObject,
    turnRewards: { t1: 2 },
    groupId: 'g',
    sampleIndex: 3,
  };
  return rowsOf(tree, facts, { include: ['messages', 'segments'] }, 19);
}

describe('the schema of a row', () => {
  test('fits real rows as they go out, with everything that a row can have', () => {
    const records = rows();
    expect(records.map((row) => row.role)).toEqual(expect.arrayContaining(['main', 'subagent', 'superseded', 'aux']));
    for (const row of records) expect(check(JSON.parse(traceJson(row)))).toEqual([]);
    expect(records.some((row) => row.spawned_by !== null)).toBe(true);
    expect(records.some((row) => row.quality.discarded.realigned === 2)).toBe(true);
    expect(records.some((row) => row.turns.some((t) => t.duplicate_of !== null))).toBe(true);
  });

  test('fits rows without segments and messages', () => {
    for (const { segments: _, messages: __, tools: ___, ...row } of rows()) expect(check(JSON.parse(traceJson(row)))).toEqual([]);
  });

  test.each<[string, (row: Record<string, unknown>) => unknown]>([
    ['a member missing', ({ loss_mask: _, ...row }) => row],
    ['a member too many', (row) => ({ ...row, advantage: 1 })],
    ['a logprob as text', (row) => ({ ...row, logprobs: ['-1'] })],
    ['a mask of 2', (row) => ({ ...row, loss_mask: [2] })],
    ['a negative id', (row) => ({ ...row, token_ids: [-1] })],
    ['an unknown role', (row) => ({ ...row, role: 'side' })],
    ['reward missing', ({ reward: _, ...row }) => row],
    ['no turns', (row) => ({ ...row, turns: [] })],
    ['an unknown cause', (row) => ({ ...row, quality: { ...(row.quality as object), forks: { fork_moon: 1 } } })],
    ['a message of an unknown role', (row) => ({ ...row, messages: [{ role: 'narrator', content: '' }] })],
  ])('refuses %s', (_, change) => {
    expect(check(change(JSON.parse(traceJson(rows()[0]!))))).not.toEqual([]);
  });

  test('names every member that a row has, and no other', () => {
    const records = rows();
    const names = (of: (row: TraceRecord) => object[]) => [...new Set(records.flatMap(of).flatMap((value) => Object.keys(value)))].sort();
    expect(Object.keys(schema.properties).sort()).toEqual(names((row) => [row]));
    expect(Object.keys(schema.$defs.turn.properties).sort()).toEqual(names((row) => [...row.turns]));
    expect(Object.keys(schema.$defs.quality.properties).sort()).toEqual(names((row) => [row.quality]));
    expect(Object.keys(schema.$defs.turn.properties.sampling.properties).sort()).toEqual(names((row) => row.turns.map((t) => t.sampling)));
  });
});
