import type { DriftOutcome, ForkCause } from '../canonical/trace.js';
import type { TreeNode } from './node.js';
import type { PromptDelta, PromptSegment, RowLink, TurnRecord } from './turn.js';
import { commonWithTurn, fullLength, owned, promptIds } from './turn-ids.js';

/** See design §5: `auto` keeps sampled ids where the template still says the same, `verbatim` always, `rerender` never. */
export type HistoryPolicy = 'auto' | 'verbatim' | 'rerender';

/** How it was shown that recorded ids stand at the start of a prompt. */
export type SpliceProof = 'exact' | 'raw' | 'delta' | 'verbatim';

/**
 * The prompt of a new turn, as the caller made it.
 *
 * - `extends`: all of `base`'s prompt and output, then `delta`; `segments` cover `delta`;
 * - `whole`: ids of a render of everything; `segments` cover `ids`; `cause` where the caller knows why nothing was kept.
 */
export type PromptForm =
  | {
      readonly kind: 'extends';
      readonly base: TurnRecord;
      readonly delta: Int32Array;
      readonly proof: SpliceProof;
      readonly segments?: readonly PromptSegment[];
    }
  | { readonly kind: 'whole'; readonly ids: Int32Array; readonly cause?: ForkCause; readonly segments?: readonly PromptSegment[] };

/** What can be said of a prompt before its output is known. */
export interface Drift {
  readonly prompt: PromptDelta;
  /** The nearest sampled turn above. */
  readonly nearest: TurnRecord | null;
  /** The nearest sampled turn above whose prompt and output stand at the start of this prompt. */
  readonly clean: TurnRecord | null;
  /** How, where `clean` is the nearest. */
  readonly proof: SpliceProof;
  /** The prompt differs from the nearest turn only from somewhere in its output on. */
  readonly insideLastOutput: boolean;
  readonly segments: readonly PromptSegment[] | null;
}

/** Sampled turns from a node upwards, nearest first. */
export function* turnsAbove(node: TreeNode): Generator<TurnRecord> {
  for (let at: TreeNode | null = node; at !== null; at = at.parent) if (at.turn !== null) yield at.turn;
}

/**
 * Compares a prompt with the turns above it.
 * @param keepers turns elsewhere that may share a long start with the prompt, so that it need not be stored again
 */
export function measureDrift(form: PromptForm, historyEnd: TreeNode, keepers: readonly TurnRecord[]): Drift {
  const segments = form.segments ?? null;
  const nearest = turnsAbove(historyEnd).next().value ?? null;
  if (form.kind === 'extends') {
    const { base, delta, proof } = form;
    const baseLength = fullLength(base);
    const prompt = { base, baseLength, delta: owned(delta), promptLength: baseLength + delta.length };
    return { prompt, nearest, clean: base, proof, insideLastOutput: false, segments };
  }
  const { ids } = form;
  let clean: TurnRecord | null = null;
  let shared = 0;
  let keeper: TurnRecord | null = null;
  let insideLastOutput = false;
  for (const turn of turnsAbove(historyEnd)) {
    if (turn !== nearest && !endsAlike(ids, turn)) continue;
    const common = commonWithTurn(ids, turn);
    if (common > shared) [shared, keeper] = [common, turn];
    if (turn === nearest) insideLastOutput = common >= turn.promptLength && common < fullLength(turn) && ids.length > turn.promptLength;
    if (common === fullLength(turn)) {
      clean = turn;
      break;
    }
  }
  if (clean === null) {
    for (const turn of keepers) {
      const common = commonWithTurn(ids, turn);
      if (common > shared) [shared, keeper] = [common, turn];
    }
  }
  const base = shared === 0 ? null : holderOf(keeper!, shared);
  const prompt: PromptDelta = { base, baseLength: shared, delta: ids.slice(shared), promptLength: ids.length };
  return { prompt, nearest, clean, proof: 'exact', insideLastOutput, segments };
}

/** The turn that itself stores the last of a turn's first `length` ids, so that chains of bases stay short. */
function holderOf(turn: TurnRecord, length: number): TurnRecord {
  let holder = turn;
  while (holder.base !== null && length <= holder.baseLength) holder = holder.base;
  return holder;
}

/** The same prompt compared anew, after a turn above it lost its place. */
export function remeasureDrift(drift: Drift, historyEnd: TreeNode): Drift {
  const { nearest, clean, proof, insideLastOutput } = measureDrift({ kind: 'whole', ids: promptIds(drift.prompt) }, historyEnd, []);
  return { ...drift, nearest, clean, proof, insideLastOutput };
}

/** A cheap look before the whole comparison: is the turn's output where it would have to be? */
function endsAlike(ids: Int32Array, turn: TurnRecord): boolean {
  const { outputIds } = turn.sampled;
  if (fullLength(turn) > ids.length) return false;
  return outputIds.every((id, i) => ids[turn.promptLength + i] === id);
}

/**
 * Decides what the turn continues, once its output is known. A `rerender` gateway writes over the last output when the difference
 * begins inside it and the new output is shorter than `realignTokensMax` ids (0 = never): the rule of the seed system, border included.
 * An empty output writes over nothing.
 */
export function settleDrift(
  drift: Drift,
  otherwise: DriftOutcome,
  outputTokens: number,
  realignTokensMax: number,
): { readonly link: RowLink | null; readonly outcome: DriftOutcome; readonly segments: readonly PromptSegment[] | null } {
  const { nearest, clean, insideLastOutput } = drift;
  if (clean !== null && clean === nearest) return linked(drift, { to: clean, kind: 'clean' }, drift.proof);
  if (nearest !== null && insideLastOutput && outputTokens > 0 && outputTokens < realignTokensMax) {
    return linked(drift, { to: nearest, kind: 'realign' }, 'realign');
  }
  return clean === null ? { link: null, outcome: otherwise, segments: null } : linked(drift, { to: clean, kind: 'clean' }, otherwise);
}

function linked(drift: Drift, link: RowLink, outcome: DriftOutcome) {
  const tail = drift.prompt.promptLength - (link.kind === 'clean' ? fullLength(link.to) : link.to.promptLength);
  return { link, outcome, segments: lastSegments(drift.segments, tail) };
}

/** The segments of the last `length` tokens. */
export function lastSegments(segments: readonly PromptSegment[] | null, length: number): readonly PromptSegment[] | null {
  if (segments === null) return null;
  const kept: PromptSegment[] = [];
  let left = length;
  for (let i = segments.length - 1; i >= 0 && left > 0; i--) {
    const { kind, length: whole } = segments[i]!;
    kept.unshift({ kind, length: Math.min(whole, left) });
    left -= whole;
  }
  return kept;
}
