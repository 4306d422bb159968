import type { TurnRecord } from './turn.js';
import { fullLength, outputLength } from './turn-ids.js';

/** Turns of one row, first to last: each prompt starts with the prompt and output before it (or writes over that output). */
export type RowChain = readonly TurnRecord[];

export interface RowChains {
  /** Depth first by the time at which turns began. */
  readonly chains: readonly RowChain[];
  /** Turns that are longer than a row may be, by the turn that they would have followed; under `null` where there is none. */
  readonly cut: ReadonlyMap<TurnRecord | null, readonly TurnRecord[]>;
}

/**
 * All maximal chains of the committed turns. A chain ends at a turn that nothing continues; a chain whose own turns sampled nothing is left out.
 * @param maxRowTokens turns whose prompt and output are longer are in no chain
 */
export function rowChains(turns: readonly TurnRecord[], maxRowTokens = Number.POSITIVE_INFINITY): RowChains {
  const committed = new Set(turns);
  const fits = (turn: TurnRecord) => committed.has(turn) && fullLength(turn) <= maxRowTokens;
  const before = (turn: TurnRecord) => (turn.link !== null && fits(turn.link.to) ? turn.link.to : null);
  const after = new Map<TurnRecord | null, TurnRecord[]>();
  const cut = new Map<TurnRecord | null, TurnRecord[]>();
  for (const turn of turns.toSorted((a, b) => a.order - b.order)) {
    if (fits(turn)) push(after, before(turn), turn);
    else push(cut, lastFitting(turn, fits), turn);
  }
  prune(after, before);
  return { chains: walk(after), cut };
}

function push(map: Map<TurnRecord | null, TurnRecord[]>, key: TurnRecord | null, turn: TurnRecord): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [turn]);
  else list.push(turn);
}

function lastFitting(turn: TurnRecord, fits: (turn: TurnRecord) => boolean): TurnRecord | null {
  let at = turn.link?.to ?? null;
  while (at !== null && !fits(at)) at = at.link?.to ?? null;
  return at;
}

/** Removes ends of chains that sampled nothing and are not the only continuation of a turn that did. */
function prune(after: Map<TurnRecord | null, TurnRecord[]>, before: (turn: TurnRecord) => TurnRecord | null): void {
  const ends = [...after.values()].flat().filter((turn) => !after.has(turn));
  for (const end of ends) {
    let top = end;
    while (outputLength(top) === 0 && before(top) !== null && after.get(before(top))!.length === 1) top = before(top)!;
    if (outputLength(top) > 0) continue;
    const siblings = after.get(before(top))!;
    siblings.splice(siblings.indexOf(top), 1);
    if (siblings.length === 0) after.delete(before(top));
  }
}

function walk(after: ReadonlyMap<TurnRecord | null, readonly TurnRecord[]>): RowChain[] {
  const chains: RowChain[] = [];
  const path: TurnRecord[] = [];
  const open = (after.get(null) ?? []).toReversed().map((turn) => ({ turn, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    path.length = next.depth;
    path.push(next.turn);
    const following = after.get(next.turn);
    if (following === undefined) chains.push([...path]);
    else for (const turn of following.toReversed()) open.push({ turn, depth: path.length });
  }
  return chains;
}
