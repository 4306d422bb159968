import type { DriftOutcome } from '../canonical/trace.js';
import type { Located } from './message-tree.js';
import type { TreeNode } from './node.js';
import type { TurnRecord } from './turn.js';

/**
 * Why a prompt that continues no recorded ids does not, told from the tree alone.
 *
 * - a sampled turn stands above, and only results and questions follow: the template wrote history anew;
 * - a sampled turn stands above, but the client put an assistant message of its own after it, or the history leaves the tree below
 *   messages that it knows (compaction, an edited turn): the client did;
 * - the same first question was asked under other tools, model or template arguments: those changed;
 * - else it is a conversation of its own, or the same prompt once more.
 */
export function forkCause(located: Located, nearest: TurnRecord | null, askedElsewhere: () => boolean): DriftOutcome {
  const { messages, reached, end } = located;
  if (nearest !== null) return foreignSince(nearest, located) ? 'fork_history' : 'fork_template';
  if (reached.length === messages.length && end.generated !== null) return end.generated[0]!.turn!.outcome;
  if (reached.length > 0) return 'fork_history';
  return askedElsewhere() ? 'fork_tools' : 'start';
}

function foreignSince(nearest: TurnRecord, { end, messages, reached }: Located): boolean {
  if (messages.slice(reached.length).some((message) => message.role === 'assistant')) return true;
  for (let node: TreeNode | null = end; node !== null && node !== nearest.node; node = node.parent) {
    if (node.message?.role === 'assistant') return true;
  }
  return false;
}
