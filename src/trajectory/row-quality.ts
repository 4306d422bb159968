import type { DiscardReason, DriftOutcome, ForkCause, TraceQuality } from '../canonical/trace.js';
import { isFork, sum } from './books.js';
import type { PlannedRow, RowPlan } from './rows.js';
import { outputLength } from './turn-ids.js';

/** What a trainer should know of a row before it trains on it. Turns that are trained in another row are counted there. */
export function rowQuality(plan: RowPlan, row: PlannedRow): TraceQuality {
  const trained = [...row.trained];
  const repaired = sum(trained.map((turn) => turn.unknownLogprobs));
  const discarded: Partial<Record<DiscardReason, number>> = {};
  const realigned = sum([...row.overwritten].filter((turn) => !plan.trainedIn.has(turn)).map(outputLength));
  if (realigned > 0) discarded.realigned = realigned;
  if (row.cut.length > 0) discarded.max_row_tokens = sum(row.cut.map(outputLength));
  const drift: Partial<Record<DriftOutcome, number>> = {};
  const forks: Partial<Record<ForkCause, number>> = {};
  for (const { outcome } of row.turns) {
    drift[outcome] = (drift[outcome] ?? 0) + 1;
    if (isFork(outcome)) forks[outcome] = (forks[outcome] ?? 0) + 1;
  }
  const untrainable: string[] = [];
  if (sum(trained.map(outputLength)) === 0) untrainable.push('no_trained_tokens');
  if (repaired > 0) untrainable.push('unknown_logprobs');
  return {
    truncated: row.cut.length > 0 || row.turns.some((turn) => turn.sampled.finishReason === 'length'),
    cut_turns: row.cut.length,
    ill_formed_turns: row.turns.filter((turn) => turn.sampled.illFormed).length,
    repaired_logprobs: repaired,
    forks,
    drift,
    discarded,
    flags: [...new Set(row.turns.flatMap((turn) => turn.sampled.flags))],
    untrainable,
  };
}
