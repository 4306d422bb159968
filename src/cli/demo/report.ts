import type { FinishedSession } from '../../trainer/trace-encoding.js';
import type { DemoAgent } from './agent.js';
import type { Proof } from './proof.js';

/** What became of one agent's session. */
export interface Played {
  readonly agent: DemoAgent;
  readonly finished: FinishedSession;
}

/** One line per kind of agent and dialect, and a line for all. */
export function sessionTable(played: readonly Played[]): string {
  const keys = [...new Set(played.map(({ agent }) => keyOf(agent)))];
  const lines = keys.map((key) => [...key.split('|'), ...sums(played.filter(({ agent }) => keyOf(agent) === key))]);
  return columns([HEAD, ...lines, ['all', '', ...sums(played)]]);
}

const keyOf = (agent: DemoAgent): string => `${agent.kind}|${agent.dialect === 'chat' ? 'Chat' : 'Messages'}`;

const HEAD = ['agents', 'protocol', 'sessions', 'turns', 'rows', 'sampled', 'trained', 'yield'];

function sums(played: readonly Played[]): readonly string[] {
  const total = (of: (session: FinishedSession) => number): number => played.reduce((sum, { finished }) => sum + of(finished), 0);
  const committed = total(({ summary }) => summary.tokens.committed);
  const trained = total(({ summary }) => summary.tokens.trained);
  return [
    String(played.length),
    String(total(({ summary }) => summary.turns)),
    String(total(({ traces }) => traces.length)),
    String(committed),
    String(trained),
    percent(trained, committed),
  ];
}

/** `100 %` only where nothing is missing. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '–';
  return part === whole ? '100 %' : `${Math.min(99.99, (part / whole) * 100).toFixed(2)} %`;
}

const TEXT_COLUMNS = 2;

function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => (column < TEXT_COLUMNS ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join('  ');
  return rows.map((row) => line(row).trimEnd()).join('\n');
}

const DIFFERENCES_SHOWN = 10;

/** What the comparison with the engine's own record gave; the last line is the verdict. */
export function proofText(proof: Proof): string {
  const shown = proof.differences.slice(0, DIFFERENCES_SHOWN).map((difference) => `  ${difference}`);
  const more = proof.differences.length - shown.length;
  return [
    `The engine sampled ${proof.sampledTokens} tokens in ${proof.generations} generations; ${proof.provedTokens} of them are trained exactly once,`,
    'at their place, behind the prompt that the engine saw, with the log-probability that it gave.',
    `Differences: ${proof.differences.length}`,
    ...shown,
    ...(more > 0 ? [`  and ${more} more`] : []),
    `capture yield ${percent(proof.provedTokens, proof.sampledTokens)}`,
  ].join('\n');
}
