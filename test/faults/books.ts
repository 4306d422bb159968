import { expect } from 'vitest';
import type { TraceRecord } from '../../src/canonical/trace.js';
import { type FaultKind, faultGroup, isFaultKind } from '../../src/sim/faults.js';
import type { LedgerEntry } from '../../src/sim/ledger.js';

/** What became of every token that the engine says it sampled. */
export interface Balance {
  readonly sampled: number;
  readonly trained: number;
  /** In an answer that the gateway could read and did not use: it must have counted them as discarded. */
  readonly discarded: number;
  /** In an answer that was destroyed on its way, by fault; a gateway cannot know of them. */
  readonly destroyed: Readonly<Record<string, number>>;
  /** The answers that `discarded` sums up, greatest first. */
  readonly unused: readonly { readonly entry: LedgerEntry; readonly tokens: number }[];
  /** The engine was told to stop by a closed connection, and answered nobody. */
  readonly unanswered: number;
}

/** Logprobs that these faults make unusable are recorded as unknown. */
const REPAIRED: ReadonlySet<string> = new Set([
  'nan_logprobs',
  'null_logprobs',
  'infinite_logprobs',
  'clamped_logprobs',
  'positive_logprobs',
]);

/**
 * Holds the rows of all sessions against the engine's ledger, which knows nothing of the gateway.
 * Every trained turn is one generation, or several that continue each other, id by id and logprob by logprob; no generation is trained twice.
 */
export function balance(ledger: readonly LedgerEntry[], rows: readonly TraceRecord[]): Balance {
  const entries = ledger.filter((entry) => entry.promptIds.length > 1 && entry.outputIds.length > 0);
  const byPrompt = new Map<string, LedgerEntry[]>();
  for (const entry of entries) {
    const key = keyOf(entry.promptIds);
    byPrompt.set(key, [...(byPrompt.get(key) ?? []), entry]);
  }
  const trained = new Set<LedgerEntry>();
  for (const row of rows) {
    for (const turn of row.turns) {
      const what = `turn ${turn.turn_id} of row ${row.row_index} of ${row.session_id}`;
      const at = turn.start - row.prompt_length;
      const mask = row.loss_mask.subarray(at, at + turn.end - turn.start);
      expect(
        mask.every((value) => value === (turn.trained_here ? 1 : 0)),
        `the mask of ${what}`,
      ).toBe(true);
      if (!turn.trained_here) continue;
      const parts = cover(row.token_ids, turn.start, turn.end, byPrompt, trained);
      expect(parts, `the engine sampled ${what}, and it is trained once`).not.toBeNull();
      let from = at;
      for (const part of parts!) {
        trained.add(part);
        const logprobs = row.logprobs.subarray(from, from + shownIds(part).length);
        const wrong = logprobs.findIndex(
          (value, i) => value !== part.logprobs[i] && !(Number.isNaN(value) && REPAIRED.has(part.fault ?? '')),
        );
        expect(wrong, `the logprobs of ${what}`).toBe(-1);
        from += shownIds(part).length;
      }
    }
  }
  const destroyed: Record<string, number> = {};
  const unused: { readonly entry: LedgerEntry; readonly tokens: number }[] = [];
  let unanswered = 0;
  for (const entry of entries) {
    if (trained.has(entry)) continue;
    const { length } = entry.outputIds;
    const told = toldTokens(entry);
    if (told === null) destroyed[entry.fault!] = (destroyed[entry.fault!] ?? 0) + length;
    else if (!entry.delivered) unanswered += length;
    else unused.push({ entry, tokens: told });
  }
  const sum = (all: Iterable<LedgerEntry>): number => [...all].reduce((total, entry) => total + shownIds(entry).length, 0);
  unused.sort((a, b) => b.tokens - a.tokens);
  const discarded = unused.reduce((total, { tokens }) => total + tokens, 0);
  return { sampled: sum(entries), trained: sum(trained), discarded, unused, destroyed, unanswered };
}

/** What the answer says was sampled, where it can be believed: an end token that an engine leaves out is not seen by anyone. */
const shownIds = ({ fault, outputIds, finish }: LedgerEntry): Int32Array =>
  fault === 'missing_eos' && finish.reason === 'stop' ? outputIds.subarray(0, -1) : outputIds;

/** How many ids the answer showed; `null` where the fault left no answer that could be read. */
function toldTokens({ route, fault, outputIds, finish }: LedgerEntry): number | null {
  if (fault === null || !isFaultKind(fault)) return outputIds.length;
  const destroyers: readonly FaultKind[] = [
    'reset_mid',
    'truncated_json',
    'html_200',
    'error_200',
    'empty_200',
    'empty_body',
    'finish_error',
  ];
  // SGLang's logprobs name their ids, so that an answer without a list of ids still shows them.
  if (fault === 'no_ids' && route === '/generate') return outputIds.length;
  if (destroyers.includes(fault) || fault === 'no_ids' || fault === 'no_output') return null;
  if (fault === 'extra_eos' && finish.reason === 'stop') return outputIds.length + 1;
  if (fault === 'missing_eos' && finish.reason === 'stop') return outputIds.length - 1;
  return faultGroup(fault) === 'connection' ? null : outputIds.length;
}

/** The generations, in order, whose outputs are `ids[start, end)`, each with the prompt that stands before it; `null` = there are none. */
function cover(
  ids: Int32Array,
  start: number,
  end: number,
  byPrompt: ReadonlyMap<string, readonly LedgerEntry[]>,
  used: ReadonlySet<LedgerEntry>,
): LedgerEntry[] | null {
  if (start === end) return [];
  for (const entry of byPrompt.get(keyOf(ids.subarray(0, start))) ?? []) {
    const shown = shownIds(entry);
    const next = start + shown.length;
    if (used.has(entry) || next > end || !isPrefix(entry.promptIds, ids, 0) || !isPrefix(shown, ids, start)) continue;
    const rest = cover(ids, next, end, byPrompt, used);
    if (rest !== null) return [entry, ...rest];
  }
  return null;
}

const isPrefix = (part: Int32Array, ids: Int32Array, at: number): boolean => part.every((id, i) => id === ids[at + i]);

function keyOf(ids: Int32Array): string {
  let hash = 0x811c9dc5;
  for (const id of ids) hash = Math.imul(hash ^ id, 0x01000193);
  return `${ids.length}:${hash >>> 0}`;
}
