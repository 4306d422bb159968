import type { AssistantMessage, Message } from '../canonical/message.js';
import type { Root } from './root.js';
import type { TurnRecord } from './turn.js';

/**
 * One message in a session's tree; a node without a message is where a root's histories begin.
 * A node with a `turn` is a generated node: an assistant message that we sampled.
 */
export class TreeNode {
  /** Children that were sampled, oldest first; `null` where there are none. */
  generated: TreeNode[] | null = null;
  /** The child that was added last by a client's message. */
  latest: TreeNode | null = null;
  /** Assistant messages of clients below this node that were continued by sampling; `null` where there are none. */
  prefilled: TreeNode[] | null = null;
  /** The turn sampled here; set once, when the turn is committed. */
  turn: TurnRecord | null = null;
  /** A prefilled assistant message and the sampled rest as one message, when a client sent them so. */
  joined: AssistantMessage | null = null;

  #message: Message | null;

  constructor(
    /** Order of creation in the session. */
    readonly id: number,
    readonly root: Root,
    readonly parent: TreeNode | null,
    message: Message | null,
    /** Place of the call that a tool result answers, else -1. */
    readonly call: number,
    readonly hash: number,
    /** Number of messages up to and with this one. */
    readonly depth: number,
  ) {
    this.#message = message;
  }

  /** The stored spelling, which is what is rendered; `null` at the root. */
  get message(): Message | null {
    return this.#message;
  }

  /** Turns a sampled message into one that its client edited. */
  demote(message: AssistantMessage): void {
    this.#message = message;
    this.turn = null;
    const siblings = this.parent!.generated!.filter((node) => node !== this);
    this.parent!.generated = siblings.length === 0 ? null : siblings;
  }
}

/** Nodes from the first message to `end`, in order. */
export function pathTo(end: TreeNode): TreeNode[] {
  const path = new Array<TreeNode>(end.depth);
  for (let node: TreeNode | null = end; node !== null && node.parent !== null; node = node.parent) path[node.depth - 1] = node;
  return path;
}
