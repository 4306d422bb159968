import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TraceRecord } from '../../src/canonical/trace.js';
import type { HistoryPolicy } from '../../src/trajectory/drift.js';
import { planRows, summarise } from '../../src/trajectory/rows.js';
import { TEMPERS } from '../support/synthetic-model.js';
import { type Step, SyntheticSession } from '../support/synthetic-session.js';
import { rowsOf } from '../support/trajectory-fixtures.js';

/** Runs per property; `PROPERTY_RUNS` and `PROPERTY_SEED` set them for a longer look. */
const numRuns = Number(process.env.PROPERTY_RUNS ?? 25);
/** A run takes a few milliseconds; the bound only ends a hang. */
const timeoutMs = 30_000 + numRuns * 500;
const seed = process.env.PROPERTY_SEED === undefined ? {} : { seed: Number(process.env.PROPERTY_SEED) };

const step: fc.Arbitrary<Step> = fc.record({ what: fc.nat(18), who: fc.nat(7), a: fc.nat(59), b: fc.nat(59) });
const steps = fc.array(step, { minLength: 1, maxLength: 40, size: 'max' });

/** Every promise about rows, checked against what the engine saw and said and against the reference. */
function verify(session: SyntheticSession): void {
  const { tree, reference, engine } = session;
  const plan = planRows(tree.turns);
  const rows = rowsOf(tree);
  const shapes = rows.map((row, i) => ({
    turns: plan.rows[i]!.turns.map(({ turnId }) => turnId),
    tokens: [...row.token_ids],
    promptLength: row.prompt_length,
  }));
  expect(shapes.sort(byText)).toEqual(reference.rows().sort(byText));
  const trained = new Map<string, number>();
  for (const row of rows) {
    verifyArrays(row, session);
    for (const turn of row.turns) if (turn.trained_here) trained.set(turn.turn_id, (trained.get(turn.turn_id) ?? 0) + 1);
  }
  verifyOrder(rows, session);
  const overwritten = reference.turns.filter((turn) =>
    reference.turns.some((next) => {
      const link = reference.linkOf(next);
      return link?.to === turn && link.realign;
    }),
  );
  for (const { id } of reference.turns) {
    const times = trained.get(id) ?? 0;
    if (overwritten.some((turn) => turn.id === id)) expect(times).toBeLessThanOrEqual(1);
    else expect([id, times]).toEqual([id, 1]);
  }
  expect([...trained.keys()].filter((id) => !engine.has(id))).toEqual([]);
  const summary = summarise(tree, plan, 0, 0);
  expect(summary.capture_error).toBeNull();
  expect(summary.tokens.sampled).toBe(session.sampledTokens);
  const lost = (summary.tokens.discarded.realigned ?? 0) + (summary.tokens.discarded.rewritten ?? 0);
  expect(summary.tokens.trained + lost).toBe(summary.tokens.committed);
  if (tree.settings.realignTokensMax === 0) expect(summary.capture_yield).toBe(1);
}

const byText = (a: object, b: object): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

function verifyArrays(row: TraceRecord, { engine }: SyntheticSession): void {
  const { token_ids, loss_mask, logprobs, prompt_length, response_length } = row;
  expect([token_ids.length, loss_mask.length, logprobs.length]).toEqual([
    prompt_length + response_length,
    response_length,
    response_length,
  ]);
  const mask = new Array<number>(response_length).fill(0);
  const probabilities = new Array<number>(response_length).fill(0);
  for (const turn of row.turns) {
    const { prompt, output, logprobs: said } = engine.get(turn.turn_id)!;
    expect([...token_ids.subarray(0, turn.start)]).toEqual(prompt);
    expect([...token_ids.subarray(turn.start, turn.end)]).toEqual(output);
    if (!turn.trained_here) continue;
    for (let i = 0; i < output.length; i++) {
      mask[turn.start - prompt_length + i] = 1;
      probabilities[turn.start - prompt_length + i] = said[i]!;
    }
  }
  expect([...loss_mask]).toEqual(mask);
  expect([...logprobs]).toEqual(probabilities);
}

/** One main row, last; the others depth first by time; shared turns trained in the main row, else in the first that has them. */
function verifyOrder(rows: readonly TraceRecord[], { reference }: SyntheticSession): void {
  expect(rows.map((row) => row.role === 'main')).toEqual(rows.map((_, i) => i === rows.length - 1));
  const inOrder = reference.rows().map(({ turns }) => turns.at(-1)!);
  const ends = rows.map((row) => row.turns.at(-1)!.turn_id);
  const main = ends.at(-1);
  expect(ends.slice(0, -1)).toEqual(inOrder.filter((id) => id !== main));
  for (const [index, row] of rows.entries()) {
    for (const turn of row.turns) {
      const having = rows.flatMap((other, i) => (other.turns.some(({ turn_id }) => turn_id === turn.turn_id) ? [i] : []));
      const home = having.includes(rows.length - 1) ? rows.length - 1 : having[0]!;
      expect([turn.turn_id, turn.trained_here, turn.parent_row]).toEqual([turn.turn_id, home === index, home === index ? null : home]);
      const first = reference.turns.find(({ id }) => id === turn.turn_id)!.duplicateOf;
      const firstHome = rows.findIndex((other) => other.turns.some(({ turn_id, trained_here }) => turn_id === first && trained_here));
      expect(turn.duplicate_of).toBe(first === null || firstHome < 0 ? null : firstHome);
    }
  }
}

function run(temper: (typeof TEMPERS)[number], policy: HistoryPolicy, realignTokensMax: number, script: readonly Step[]): SyntheticSession {
  const session = new SyntheticSession(temper, { policy, realignTokensMax });
  session.run(script);
  return session;
}

describe.each(TEMPERS)('a template that %s', (temper) => {
  test.each<[HistoryPolicy]>([['auto'], ['verbatim'], ['rerender']])(
    'under %s: every committed token is trained once, where the engine saw it',
    (policy) => {
      fc.assert(
        fc.property(steps, (script) => verify(run(temper, policy, 0, script))),
        { numRuns, ...seed },
      );
    },
    timeoutMs,
  );
});

describe.each([2, 8, 1024])('the seed-compatible policy with %i tokens', (realignTokensMax) => {
  test.each(TEMPERS.map((temper) => [temper]))(
    'on a template that %s: what is masked or given up is counted',
    (temper) => {
      fc.assert(
        fc.property(steps, (script) => verify(run(temper, 'rerender', realignTokensMax, script))),
        { numRuns: Math.ceil(numRuns / 3), ...seed },
      );
    },
    timeoutMs,
  );
});

test.each<[what: string, temper: (typeof TEMPERS)[number], realignTokensMax: number, script: [what: number, a: number, b: number][]]>([
  [
    'a reply that was edited away while a turn that continues it was in work',
    'keeps',
    1024,
    // biome-ignore format: one step a triple
    [[0, 0, 0], [1, 0, 0], [1, 0, 0], [8, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0], [14, 26, 0], [1, 0, 0], [9, 0, 0], [0, 0, 0]],
  ],
  [
    'a turn under an edited reply continues one further up',
    'keeps',
    2,
    // biome-ignore format: one step a triple
    [[0, 0, 0], [1, 1, 0], [1, 15, 40], [1, 0, 0], [1, 0, 0], [1, 0, 2], [14, 26, 0], [1, 0, 0]],
  ],
])('found before: %s', (_, temper, realignTokensMax, script) => {
  verify(
    run(
      temper,
      'rerender',
      realignTokensMax,
      script.map(([what, a, b]) => ({ what, who: 0, a, b })),
    ),
  );
});

test('the runs see all that can happen', () => {
  const seen = new Set<string>();
  for (const [i, script] of fc.sample(steps, { numRuns: 200, seed: 1 }).entries()) {
    const session = run(TEMPERS[i % TEMPERS.length]!, i % 2 === 0 ? 'auto' : 'rerender', [0, 8, 64][i % 3]!, script);
    for (const outcome of session.tree.books.outcomes.keys()) seen.add(outcome);
    for (const reason of session.tree.books.discarded.keys()) seen.add(reason);
    const rows = rowsOf(session.tree);
    for (const row of rows) seen.add(row.role);
    if (rows.some((row) => row.turns.some((turn) => turn.duplicate_of !== null))) seen.add('duplicate');
    if (rows.some((row) => row.turns.some((turn) => turn.parent_row !== null))) seen.add('shared');
    if (rows.some((row) => row.quality.discarded.realigned)) seen.add('realigned');
    if (rows.some((row) => row.turns.length > 5)) seen.add('long');
  }
  expect([...seen].sort()).toEqual(
    [
      'aux',
      'branch',
      'client_gone',
      'duplicate',
      'earlier',
      'engine_failed',
      'exact',
      'fork_history',
      'fork_template',
      'fork_tools',
    ].concat(['long', 'main', 'realign', 'realigned', 'rewritten', 'session_closed', 'shared', 'start', 'subagent', 'superseded']),
  );
});
