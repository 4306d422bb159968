import type { Message } from '../canonical/message.js';
import { CallPairing } from './call-pairing.js';
import { TreeNode } from './node.js';

/** What of a history is known below a node. */
export interface Reach {
  readonly sampled: number;
  readonly messages: number;
}

/** Twins below twins that are told apart by what followed them; deeper ones are told by fit and age alone. */
const NESTED_MAX = 100;
const NOTHING: Reach = { sampled: 0, messages: 0 };

/** Looks, for nodes that fit one message of a history equally well, how much of the history behind it is known below each. */
export class Lookahead {
  readonly #known = new Map<TreeNode, Reach>();
  #places: readonly number[] | null = null;
  #nested = 0;

  constructor(
    private readonly messages: readonly Message[],
    private readonly child: (
      parent: TreeNode,
      message: Message,
      call: number,
      reach: (node: TreeNode) => Reach,
    ) => TreeNode | 'ambiguous' | undefined,
  ) {}

  /** @param from index of the message that is to be known as the node's child */
  below(node: TreeNode, from: number): Reach {
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    if (this.#nested === NESTED_MAX) return NOTHING;
    this.#nested++;
    const { messages } = this;
    this.#places ??= callPlaces(messages);
    let reach = NOTHING;
    let end = node;
    for (let i = from; i < messages.length; i++) {
      const next = this.child(end, messages[i]!, this.#places[i]!, (twin) => this.below(twin, i + 1));
      if (!(next instanceof TreeNode)) break;
      reach = { sampled: reach.sampled + (next.turn === null ? 0 : 1), messages: reach.messages + 1 };
      const rest = this.#known.get(next);
      if (rest !== undefined) {
        reach = { sampled: reach.sampled + rest.sampled, messages: reach.messages + rest.messages };
        break;
      }
      end = next;
    }
    this.#nested--;
    this.#known.set(node, reach);
    return reach;
  }
}

/** The place of the call that each message answers, -1 where it answers none. */
function callPlaces(messages: readonly Message[]): readonly number[] {
  const pairing = new CallPairing();
  return messages.map((message) => {
    if (message.role === 'assistant') pairing.opens(message, message);
    return message.role === 'tool' ? pairing.take(message) : -1;
  });
}
