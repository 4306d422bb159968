import type { Message } from '../canonical/message.js';
import type { DriftOutcome } from '../canonical/trace.js';
import { turnsAbove } from './drift.js';
import type { TreeNode } from './node.js';
import { preview } from './terminal.js';
import type { TrajectoryTree } from './tree.js';
import type { TurnRecord } from './turn.js';
import { outputLength } from './turn-ids.js';

export { drawTree } from './tree-text.js';

/** A session's tree as plain JSON: flat lists, because a tree may be deeper than readers of JSON go. Times in seconds since the epoch. */
export interface TreeView {
  readonly turns: readonly TurnView[];
  readonly nodes: readonly NodeView[];
  readonly roots: readonly RootView[];
  readonly open_turns: readonly OpenTurnView[];
  readonly tokens: { readonly sampled: number; readonly committed: number; readonly discarded: Readonly<Record<string, number>> };
  readonly drift: Readonly<Record<string, number>>;
  readonly late_results: number;
}

export interface RootView {
  readonly root: number;
  readonly model: string;
  readonly tools: readonly string[];
}

export interface NodeView {
  readonly node: number;
  /** The message before it, or the root for a first message. */
  readonly parent: number;
  readonly root: number;
  readonly role: Message['role'];
  readonly kind: 'message' | 'generated';
  readonly turn_id: string | null;
  readonly characters: number;
  readonly preview: string;
  readonly tool_calls: readonly { readonly id: string | null; readonly name: string }[];
}

export interface TurnView {
  readonly turn_id: string;
  readonly node: number;
  /** The turn before it in the conversation. */
  readonly parent_turn: string | null;
  /** The turn before it in its row. */
  readonly row_parent: string | null;
  readonly outcome: DriftOutcome;
  readonly prompt_tokens: number;
  readonly new_prompt_tokens: number;
  readonly output_tokens: number;
  readonly finish_reason: string;
  readonly stop: string;
  readonly duplicate_of: string | null;
  readonly ill_formed: boolean;
  readonly protocol: string;
  readonly started_at: number;
  readonly committed_at: number;
}

export interface OpenTurnView {
  readonly turn_id: string;
  readonly state: 'running' | 'finished';
  /** Calls that wait for it; 0 = its client left. */
  readonly holders: number;
  readonly prompt_tokens: number;
  readonly started_at: number;
}

const PREVIEW_LENGTH = 120;

/** The whole tree, for `GET /sessions/{id}/tree`. */
export function treeJson(tree: TrajectoryTree): TreeView {
  return {
    turns: tree.turns.map(turnView),
    nodes: tree.nodes.map(nodeView),
    roots: tree.roots.map((root) => ({ root: root.top.id, model: root.model, tools: root.tools.map((tool) => tool.name) })),
    open_turns: tree.open.map((turn) => ({
      turn_id: turn.turnId,
      state: turn.state === 'running' ? 'running' : 'finished',
      holders: turn.holders,
      prompt_tokens: turn.promptLength,
      started_at: turn.startedAtMs / 1000,
    })),
    tokens: { sampled: tree.books.sampled, committed: tree.books.committed, discarded: Object.fromEntries(tree.books.discarded) },
    drift: Object.fromEntries(tree.books.outcomes),
    late_results: tree.books.lateResults,
  };
}

function nodeView(node: TreeNode): NodeView {
  const message = node.message!;
  const text = message.content ?? '';
  return {
    node: node.id,
    parent: node.parent!.id,
    root: node.root.top.id,
    role: message.role,
    kind: node.turn === null ? 'message' : 'generated',
    turn_id: node.turn?.turnId ?? null,
    characters: text.length,
    preview: preview(text, PREVIEW_LENGTH),
    tool_calls: message.role === 'assistant' ? message.toolCalls.map(({ id, name }) => ({ id, name })) : [],
  };
}

function turnView(turn: TurnRecord): TurnView {
  return {
    turn_id: turn.turnId,
    node: turn.node.id,
    parent_turn: turnsAbove(turn.historyEnd).next().value?.turnId ?? null,
    row_parent: turn.link?.to.turnId ?? null,
    outcome: turn.outcome,
    prompt_tokens: turn.promptLength,
    new_prompt_tokens: turn.delta.length,
    output_tokens: outputLength(turn),
    finish_reason: turn.sampled.finishReason,
    stop: turn.sampled.stop.kind,
    duplicate_of: turn.duplicateOf?.turnId ?? null,
    ill_formed: turn.sampled.illFormed,
    protocol: turn.protocol,
    started_at: turn.startedAtMs / 1000,
    committed_at: turn.committedAtMs / 1000,
  };
}
