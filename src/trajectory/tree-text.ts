import type { Message } from '../canonical/message.js';
import type { RowRole } from '../canonical/trace.js';
import { isFork } from './books.js';
import type { TreeNode } from './node.js';
import { planRows } from './rows.js';
import { numbered, painter, preview } from './terminal.js';
import type { TrajectoryTree } from './tree.js';
import type { TurnRecord } from './turn.js';
import { outputLength } from './turn-ids.js';

export interface DrawOptions {
  /** Terminal colours. */
  readonly colour: boolean;
  /** Columns of a line, at least 60. Default 110. */
  readonly width?: number;
}

const TEXT_WIDTH_MIN = 16;
/** A last branch that stands deeper goes on at its depth, so that a history that branches at every turn stays readable. */
const INDENT_MAX = 24;

/**
 * A session's tree for people. Messages follow each other downwards; where a history branches its branches are set in. A sampled turn shows its id, tokens, finish reason, how its prompt continued what was
 * recorded, and at the end of a row the row's number and role.
 */
export function drawTree(tree: TrajectoryTree, options: DrawOptions): string {
  const paint = painter(options.colour);
  const width = Math.max(options.width ?? 110, 60);
  const ends = rowEnds(tree);
  const children = childrenOf(tree);
  const { books } = tree;
  const lines = [
    `${paint('bold', numbered(books.committedTurns, 'turn'))} · ${numbered(books.committed, 'token')} committed of ${books.sampled} sampled` +
      `${counts(' · discarded', books.discarded)}${counts(' · prompts', books.outcomes)}`,
  ];
  for (const root of tree.roots) {
    lines.push(`${paint('bold', preview(root.model, 40))} · ${numbered(root.tools.length, 'tool')}`);
    const open = block(children.get(root.top) ?? [], '');
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { node, bar, sign } = next;
      lines.push(line(node, `${bar}${sign}`));
      open.push(...block(children.get(node) ?? [], next.below));
    }
  }
  for (const turn of tree.open) {
    lines.push(
      paint(
        'dim',
        `○ ${turn.turnId} ${turn.state}, prompt ${numbered(turn.promptLength, 'token')}${turn.holders === 0 ? ', its client left' : ''}`,
      ),
    );
  }
  return `${lines.join('\n')}\n`;

  function line(node: TreeNode, lead: string): string {
    const { turn } = node;
    const message = node.message!;
    const facts = turn === null ? '' : turnFacts(turn, ends.get(turn));
    const label = turn === null ? message.role.padEnd(9) : `● ${turn.turnId} `;
    const room = Math.max(width - lead.length - label.length - facts.length - 2, TEXT_WIDTH_MIN);
    const text = preview(wordsOf(message), room);
    if (turn === null) return `${paint('dim', lead)}${paint(message.role === 'assistant' ? 'yellow' : 'cyan', label)}${text}`;
    return `${paint('dim', lead)}${paint('green', label)}${text}  ${paint(isFork(turn.outcome) ? 'red' : 'dim', facts)}`;
  }
}

interface Step {
  readonly node: TreeNode;
  readonly bar: string;
  readonly sign: string;
  readonly below: string;
}

/** Children as steps still to draw, last one first. */
function block(nodes: readonly TreeNode[], bar: string): Step[] {
  if (nodes.length < 2) return nodes.map((node) => ({ node, bar, sign: '', below: bar }));
  const behindLast = bar.length < INDENT_MAX ? `${bar}   ` : bar;
  return nodes
    .map((node, i) =>
      i < nodes.length - 1 ? { node, bar, sign: '├─ ', below: `${bar}│  ` } : { node, bar, sign: '└─ ', below: behindLast },
    )
    .toReversed();
}

function childrenOf(tree: TrajectoryTree): Map<TreeNode, TreeNode[]> {
  const children = new Map<TreeNode, TreeNode[]>();
  for (const node of tree.nodes) {
    const siblings = children.get(node.parent!);
    if (siblings === undefined) children.set(node.parent!, [node]);
    else siblings.push(node);
  }
  return children;
}

interface RowEnd {
  readonly index: number;
  readonly role: RowRole;
}

function rowEnds(tree: TrajectoryTree): ReadonlyMap<TurnRecord, RowEnd> {
  return new Map(planRows(tree.turns).rows.map((row) => [row.turns.at(-1)!, { index: row.index, role: row.role }]));
}

function turnFacts(turn: TurnRecord, end: RowEnd | undefined): string {
  const parts = [`${turn.promptLength}→${outputLength(turn)}`, turn.sampled.finishReason, turn.outcome];
  if (turn.duplicateOf !== null) parts.push(`twin of ${turn.duplicateOf.turnId}`);
  if (turn.sampled.illFormed) parts.push('ill-formed');
  if (end !== undefined) parts.push(`row ${end.index} ${end.role}`);
  return parts.join(' · ');
}

function wordsOf(message: Message): string {
  if (message.role !== 'assistant') return message.content;
  const calls = message.toolCalls.map((call) => `${call.name}(${call.arguments})`);
  return [message.content ?? '', ...calls].filter((part) => part !== '').join(' ');
}

function counts(title: string, map: ReadonlyMap<string, number>): string {
  return map.size === 0 ? '' : `${title} ${[...map].map(([name, count]) => `${name} ${count}`).join(', ')}`;
}
