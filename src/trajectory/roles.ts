import type { RowRole } from '../canonical/trace.js';
import { turnsAbove } from './drift.js';
import { pathTo } from './node.js';
import { sameTools } from './root.js';
import type { RowChain } from './row-chains.js';
import type { TurnRecord } from './turn.js';

/**
 * What each row is to its session, the first that fits:
 *
 * - `superseded`: its last turn was sampled from a prompt that was sampled more than once, and another sample was continued, not this one;
 * - `main`: of the rows with the tools and the system text of the session's first request that has tools (of its first request where
 *   none has), the one whose last turn was committed last; exactly one row;
 * - `earlier`: a stretch of the main thread before its history was rewritten: by the template (its last turn is in the history of
 *   the main row), or by the client (same tools and system text, over before the main row began, no prompt in common with the thread);
 * - `branch`: has sampled turns in common with another row;
 * - `subagent`: a tool call spawned it;
 * - `aux`: one question, one answer, never continued;
 * - `subagent`: anything else.
 */
export function rowRoles(chains: readonly RowChain[], turns: readonly TurnRecord[], spawned: (chain: RowChain) => boolean): RowRole[] {
  const family = new Family(turns);
  const superseded = chains.map((chain) => family.isSuperseded(lastOf(chain)));
  const main = mainRow(chains, turns, (row) => !superseded[row]);
  const thread = mainThread(chains, main, family, (row) => !superseded[row] && !spawned(chains[row]!));
  const uses = new Map<TurnRecord, number>();
  for (const turn of chains.flat()) uses.set(turn, (uses.get(turn) ?? 0) + 1);
  return chains.map((chain, row) => {
    if (row === main) return 'main';
    if (superseded[row]) return 'superseded';
    if (thread.has(row)) return 'earlier';
    if (chain.some((turn) => uses.get(turn)! > 1)) return 'branch';
    if (spawned(chain)) return 'subagent';
    return family.isSingle(lastOf(chain)) ? 'aux' : 'subagent';
  });
}

const lastOf = (chain: RowChain): TurnRecord => chain.at(-1)!;

function mainRow(chains: readonly RowChain[], turns: readonly TurnRecord[], eligible: (row: number) => boolean): number {
  const inOrder = turns.toSorted((a, b) => a.order - b.order);
  const first = inOrder.find((turn) => turn.node.root.tools.length > 0) ?? inOrder[0];
  const latest = (rows: number[]) => rows.reduce((a, b) => (lastOf(chains[b]!).commitOrder > lastOf(chains[a]!).commitOrder ? b : a));
  const rows = [...chains.keys()];
  const likely = rows.filter(eligible);
  const ofThread = first === undefined ? [] : likely.filter((row) => sameThread(lastOf(chains[row]!), first));
  const candidates = [ofThread, likely, rows].find((some) => some.length > 0);
  return candidates === undefined ? -1 : latest(candidates);
}

/** Rows that are earlier stretches of the main thread. */
function mainThread(chains: readonly RowChain[], main: number, family: Family, eligible: (row: number) => boolean): Set<number> {
  const found = new Set<number>();
  if (main < 0) return found;
  const end = lastOf(chains[main]!);
  const begunAfter = chains[main]![0]!.begunAfter;
  const history = new Set(turnsAbove(end.node));
  const prompts = new Set(chains[main]!.map(firstSample));
  const rows = [...chains.keys()].filter((row) => row !== main && eligible(row));
  for (const row of rows.sort((a, b) => lastOf(chains[b]!).commitOrder - lastOf(chains[a]!).commitOrder)) {
    const chain = chains[row]!;
    const last = lastOf(chain);
    const over = last.commitOrder < begunAfter && sameThread(last, end) && !chain.some((turn) => prompts.has(firstSample(turn)));
    if (!history.has(last) && !(over && !(family.isSingle(last) && last.node.root.tools.length === 0))) continue;
    found.add(row);
    for (const turn of turnsAbove(last.node)) history.add(turn);
    for (const turn of chain) prompts.add(firstSample(turn));
  }
  return found;
}

function sameThread(a: TurnRecord, b: TurnRecord): boolean {
  return a === b || (sameTools(a.node.root.tools, b.node.root.tools) && systemText(a) === systemText(b));
}

/** The system messages before anything else, joined. */
function systemText(turn: TurnRecord): string {
  const texts: string[] = [];
  for (const { message } of pathTo(turn.historyEnd)) {
    if (message!.role !== 'system') break;
    texts.push(message!.content);
  }
  return texts.join('\n');
}

/** Which turns were continued, and which prompts were sampled more than once. */
class Family {
  readonly #continued = new Set<TurnRecord>();
  readonly #continuedPrompts = new Set<TurnRecord>();

  constructor(turns: readonly TurnRecord[]) {
    for (const turn of turns) {
      const above = turnsAbove(turn.historyEnd).next().value;
      if (above === undefined) continue;
      this.#continued.add(above);
      this.#continuedPrompts.add(firstSample(above));
    }
  }

  isSuperseded(turn: TurnRecord): boolean {
    return !this.#continued.has(turn) && this.#continuedPrompts.has(firstSample(turn));
  }

  /** One question and one answer: nothing sampled before it, nothing after. */
  isSingle(turn: TurnRecord): boolean {
    return !this.#continued.has(turn) && turnsAbove(turn.historyEnd).next().done === true;
  }
}

const firstSample = (turn: TurnRecord): TurnRecord => turn.duplicateOf ?? turn;
