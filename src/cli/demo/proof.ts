import type { TraceRecord, TraceTurn } from '../../canonical/trace.js';
import type { LedgerEntry } from '../../sim/ledger.js';

/** What the proof reads of a row. */
export type ProvedRow = Pick<TraceRecord, 'session_id' | 'token_ids' | 'loss_mask' | 'logprobs' | 'prompt_length'> & {
  readonly turns: readonly Pick<TraceTurn, 'start' | 'end' | 'trained_here' | 'engine_request_id'>[];
};

export interface Proof {
  /** Generations that the engine finished, and their tokens. */
  readonly generations: number;
  readonly sampledTokens: number;
  /** Tokens trained exactly once, at their place, with their own log-probability. */
  readonly provedTokens: number;
  /** What does not agree, in sentences; empty when all does. */
  readonly differences: readonly string[];
}

/**
 * Compares rows with the engine's own record, id by id: prompt, output, log-probabilities (as float32) and mask of every
 * turn; and counts how often each sampled token is trained. Proved are those that are trained exactly once.
 */
export function prove(rows: readonly ProvedRow[], ledger: readonly LedgerEntry[]): Proof {
  const differences: string[] = [];
  const byRequest = new Map(ledger.map((entry) => [entry.requestId, entry]));
  const trained = new Map<LedgerEntry, number>();
  for (const row of rows) {
    let masked = 0;
    for (const turn of row.turns) {
      const entry = byRequest.get(bare(turn.engine_request_id ?? ''));
      if (!entry) {
        differences.push(`${row.session_id}: a turn names the engine request ${turn.engine_request_id}, which the engine does not know`);
        continue;
      }
      const wrong = compare(row, turn.start, turn.end, turn.trained_here, entry);
      if (wrong) differences.push(`${row.session_id}, request ${entry.requestId}: ${wrong}`);
      else if (turn.trained_here) trained.set(entry, (trained.get(entry) ?? 0) + 1);
      if (turn.trained_here) masked += turn.end - turn.start;
    }
    const ones = row.loss_mask.reduce((sum, bit) => sum + bit, 0);
    if (ones !== masked) differences.push(`${row.session_id}: the mask trains ${ones} tokens, the turns have ${masked}`);
  }
  let provedTokens = 0;
  for (const entry of ledger) {
    const times = trained.get(entry) ?? 0;
    if (times === 1) provedTokens += entry.outputIds.length;
    else differences.push(`request ${entry.requestId}: its ${entry.outputIds.length} tokens are trained ${times} times`);
  }
  const sampledTokens = ledger.reduce((sum, entry) => sum + entry.outputIds.length, 0);
  return { generations: ledger.length, sampledTokens, provedTokens, differences };
}

/** An engine may put its route's name before the id that it was given. */
const bare = (requestId: string): string => requestId.replace(/^(generate-tokens|cmpl)-/, '');

function compare(row: ProvedRow, start: number, end: number, trainedHere: boolean, entry: LedgerEntry): string | null {
  if (!same(row.token_ids, 0, start, entry.promptIds)) return `its prompt is not the row’s first ${start} tokens`;
  if (!same(row.token_ids, start, end, entry.outputIds)) return `its output is not the row’s tokens ${start} to ${end}`;
  for (let at = start; at < end; at++) {
    const inResponse = at - row.prompt_length;
    const bit = row.loss_mask[inResponse];
    if (bit !== (trainedHere ? 1 : 0)) return `the mask at ${at} is ${bit}`;
    if (trainedHere && row.logprobs[inResponse] !== entry.logprobs[at - start]) {
      return `the log-probability at ${at} is ${row.logprobs[inResponse]}, the engine said ${entry.logprobs[at - start]}`;
    }
  }
  return null;
}

function same(ids: Int32Array, start: number, end: number, expected: Int32Array): boolean {
  if (end - start !== expected.length) return false;
  for (let i = 0; i < expected.length; i++) if (ids[start + i] !== expected[i]) return false;
  return true;
}
