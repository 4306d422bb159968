import type { Message } from '../canonical/message.js';
import type { DriftOutcome } from '../canonical/trace.js';
import { sameMessage } from './identity.js';
import type { Located } from './message-tree.js';
import type { TreeNode } from './node.js';
import type { Root } from './root.js';
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
export function forkCause(located: Located, nearest: TurnRecord | null, roots: readonly Root[]): DriftOutcome {
  const { messages, reached, end, root } = located;
  if (nearest !== null) return foreignSince(nearest, located) ? 'fork_history' : 'fork_template';
  if (reached.length === messages.length && end.generated !== null) return end.generated[0]!.turn!.outcome;
  if (reached.length > 0) return 'fork_history';
  const opening = messages.slice(0, messages.findIndex((message) => message.role === 'user') + 1);
  const elsewhere = opening.length > 0 && roots.some((other) => other !== root && opens(other.top, opening));
  return elsewhere ? 'fork_tools' : 'start';
}

function foreignSince(nearest: TurnRecord, { end, messages, reached }: Located): boolean {
  if (messages.slice(reached.length).some((message) => message.role === 'assistant')) return true;
  for (let node: TreeNode | null = end; node !== null && node !== nearest.node; node = node.parent) {
    if (node.message?.role === 'assistant') return true;
  }
  return false;
}

/** Whether histories below `top` begin with these messages, judged by the branch that grew last. */
function opens(top: TreeNode, opening: readonly Message[]): boolean {
  let node: TreeNode | null = top;
  for (const message of opening) {
    node = node.latest;
    if (node === null || !sameMessage(node.message!, -1, message, -1)) return false;
  }
  return true;
}
