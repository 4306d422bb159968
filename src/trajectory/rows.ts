import type { DiscardReason, RowRole, SpawnLink, TraceSummary } from '../canonical/trace.js';
import { sum } from './books.js';
import { rowRoles } from './roles.js';
import { type RowChain, rowChains } from './row-chains.js';
import { firstTurn, type Spawn, spawnLinks } from './spawn-links.js';
import type { TrajectoryTree } from './tree.js';
import type { TurnRecord } from './turn.js';
import { outputLength } from './turn-ids.js';

/** One row before its arrays are made. */
export interface PlannedRow {
  readonly index: number;
  readonly role: RowRole;
  readonly turns: RowChain;
  /** Turns trained in this row. */
  readonly trained: ReadonlySet<TurnRecord>;
  /** Turns whose output the next turn of the row wrote over. */
  readonly overwritten: ReadonlySet<TurnRecord>;
  /** Turns that would have followed and are longer than a row may be. */
  readonly cut: readonly TurnRecord[];
  readonly spawnedBy: SpawnLink | null;
}

/** The rows of a session and where each turn is trained. Small: arrays are made when a record is asked for. */
export interface RowPlan {
  readonly rows: readonly PlannedRow[];
  /** Row that trains a turn. */
  readonly trainedIn: ReadonlyMap<TurnRecord, number>;
  /** Tokens of committed turns that no row trains, by reason. */
  readonly untrained: ReadonlyMap<DiscardReason, number>;
  readonly trainedTokens: number;
}

/**
 * Lays out the rows of a session: depth first by time, the main row last. A turn in several rows is trained in the main row if that has
 * it, else in the first that has it.
 */
export function planRows(turns: readonly TurnRecord[], maxRowTokens?: number): RowPlan {
  const { chains, cut } = rowChains(turns, maxRowTokens);
  const spawns = spawnLinks(turns);
  const roles = rowRoles(chains, turns, (chain) => spawns.has(firstTurn(chain[0]!)));
  const main = roles.indexOf('main');
  const order = [...chains.keys()].filter((row) => row !== main);
  if (main >= 0) order.push(main);
  const overwritten = order.map((row) => overwrittenIn(chains[row]!));
  const trainedIn = new Map<TurnRecord, number>();
  const last = order.length - 1;
  for (const index of [last, ...order.keys()]) {
    if (index < 0) break;
    for (const turn of chains[order[index]!]!) {
      if (!overwritten[index]!.has(turn) && !trainedIn.has(turn)) trainedIn.set(turn, index);
    }
  }
  const rows = order.map((row, index): PlannedRow => {
    const chain = chains[row]!;
    return {
      index,
      role: roles[row]!,
      turns: chain,
      trained: new Set(chain.filter((turn) => trainedIn.get(turn) === index)),
      overwritten: overwritten[index]!,
      cut: chain.filter((turn) => trainedIn.get(turn) === index).flatMap((turn) => cut.get(turn) ?? []),
      spawnedBy: spawnLink(spawns.get(firstTurn(chain[0]!)), trainedIn),
    };
  });
  return { rows, trainedIn, untrained: untrained(turns, trainedIn, cut), trainedTokens: sum([...trainedIn.keys()].map(outputLength)) };
}

function overwrittenIn(chain: RowChain): Set<TurnRecord> {
  return new Set(chain.slice(1).flatMap((turn) => (turn.link?.kind === 'realign' ? [turn.link.to] : [])));
}

function spawnLink(spawn: Spawn | undefined, trainedIn: ReadonlyMap<TurnRecord, number>): SpawnLink | null {
  const row = spawn === undefined ? undefined : trainedIn.get(spawn.turn);
  return row === undefined ? null : { row, turn: spawn!.turn.turnId, tool_call_id: spawn!.callId, certainty: spawn!.certainty };
}

function untrained(
  turns: readonly TurnRecord[],
  trainedIn: ReadonlyMap<TurnRecord, number>,
  cut: ReadonlyMap<TurnRecord | null, readonly TurnRecord[]>,
): Map<DiscardReason, number> {
  const tooLong = new Set([...cut.values()].flat());
  const tokens = new Map<DiscardReason, number>();
  for (const turn of turns) {
    if (trainedIn.has(turn) || outputLength(turn) === 0) continue;
    const reason = tooLong.has(turn) ? 'max_row_tokens' : 'realigned';
    tokens.set(reason, (tokens.get(reason) ?? 0) + outputLength(turn));
  }
  return tokens;
}

/** The books of a session, closed: sampled = trained + discarded, or `capture_error` says what is missing. */
export function summarise(tree: TrajectoryTree, plan: RowPlan, openedAtMs: number, finishedAtMs: number): TraceSummary {
  const { books } = tree;
  const discarded = new Map(books.discarded);
  for (const [reason, tokens] of plan.untrained) discarded.set(reason, (discarded.get(reason) ?? 0) + tokens);
  const waiting = sum(tree.open.map((turn) => turn.sampled?.outputIds.length ?? 0));
  const accounted = plan.trainedTokens + sum(discarded.values()) + waiting;
  return {
    opened_at: openedAtMs / 1000,
    finished_at: finishedAtMs / 1000,
    turns: books.committedTurns,
    rows: plan.rows.length,
    tokens: { sampled: books.sampled, committed: books.committed, trained: plan.trainedTokens, discarded: Object.fromEntries(discarded) },
    capture_yield: books.committed === 0 ? 1 : plan.trainedTokens / books.committed,
    capture_error: accounted === books.sampled ? null : `${books.sampled} tokens were sampled and ${accounted} are accounted for`,
    aborted_turns: books.discardedTurns,
    forks: books.forks,
    drift: Object.fromEntries(books.outcomes),
  };
}
