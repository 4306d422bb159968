import type { AssistantMessage, Message } from '../canonical/message.js';
import { CallPairing } from './call-pairing.js';
import { echoHash } from './echo.js';
import { GeneratedNodes } from './generated-nodes.js';
import { messageHash, sameMessage } from './identity.js';
import { Lookahead, type Reach } from './lookahead.js';
import { TreeNode } from './node.js';
import { NodeIndex } from './node-index.js';
import { type Root, type RootKey, rootHash, sameRoot } from './root.js';
import type { TurnRecord } from './turn.js';

/** Where a request's history stands in the tree. Finding it changes nothing. */
export interface Located {
  /** As first seen; not yet part of the tree when nobody committed a turn under it. */
  readonly root: Root;
  /** The history in its stored spelling: what is rendered. As long as the request's, call ids of results restored. */
  readonly messages: readonly Message[];
  /** Nodes of the leading messages that are known, one per message. */
  readonly reached: readonly TreeNode[];
  /** Places of the calls that results answer, one per message, -1 elsewhere. */
  readonly calls: readonly number[];
  /** The node of the last known message, the root's top where none is known. */
  readonly end: TreeNode;
  /** An assistant message that fits several sampled siblings stopped the search. */
  readonly ambiguous: boolean;
}

/** What the caller knows already: the first `count` messages say the same as those of an earlier request with the same root. */
export interface KnownHistory {
  readonly located: Located;
  readonly count: number;
}

/** The messages of a session: finds histories in O(new) and adds what a committed turn brings. */
export class MessageTree {
  readonly #roots = new Map<number, Root[]>();
  readonly #index = new NodeIndex();
  readonly #generated = new GeneratedNodes();
  readonly #nodes: TreeNode[] = [];
  #lastRoot: Root | null = null;
  #nextId = 0;

  /** All nodes below the roots, in order of creation. */
  get nodes(): readonly TreeNode[] {
    return this.#nodes;
  }

  get roots(): readonly Root[] {
    return [...this.#roots.values()].flat();
  }

  locate(key: RootKey, messages: readonly Message[], known?: KnownHistory): Located {
    const root = this.#findRoot(key) ?? this.#detachedRoot(key);
    const sure =
      known !== undefined && known.located.root === root ? Math.min(known.count, known.located.reached.length, messages.length) : 0;
    const reached = known === undefined ? [] : known.located.reached.slice(0, sure);
    const calls = known === undefined ? [] : known.located.calls.slice(0, sure);
    const stored = known === undefined ? [] : known.located.messages.slice(0, sure);
    const pairing = pairingAfter(messages, stored);
    const ahead = new Lookahead(messages, (parent, message, call, reach) => this.#child(parent, message, call, reach));
    let end = reached.at(-1) ?? root.top;
    let searching = true;
    let ambiguous = false;
    for (let i = sure; i < messages.length; i++) {
      const message = messages[i]!;
      const call = message.role === 'tool' ? pairing.take(message) : -1;
      const found = searching ? this.#child(end, message, call, (node) => ahead.below(node, i + 1)) : undefined;
      let spelled = message.role === 'tool' ? pairing.restored(message, call) : message;
      if (found instanceof TreeNode) {
        spelled = spelledBelow(end, found);
        end = found;
        reached.push(found);
      } else if (searching) {
        searching = false;
        ambiguous = found === 'ambiguous';
      }
      if (message.role === 'assistant') pairing.opens(message, spelled as AssistantMessage);
      calls.push(call);
      stored.push(spelled);
    }
    return { root, messages: stored, reached, calls, end, ambiguous };
  }

  /** Adds what of a located history is not in the tree yet, and returns the node of its last message. */
  grow(located: Located): TreeNode {
    const root = this.#adopt(located.root);
    let node = located.reached.length === 0 ? root.top : located.end;
    for (let i = located.reached.length; i < located.messages.length; i++) {
      const message = located.messages[i]!;
      const call = located.calls[i]!;
      node = this.#plainChild(node, message, call) ?? this.#add(node, message, call);
    }
    return node;
  }

  /** Adds a sampled message below the end of its history. The node's `turn` is the caller's to set. */
  addGenerated(parent: TreeNode, message: AssistantMessage, shown: AssistantMessage, turnId: string): TreeNode {
    const node = new TreeNode(this.#nextId++, parent.root, parent, message, -1, echoHash(shown), parent.depth + 1);
    this.#nodes.push(node);
    this.#generated.add(parent, node, shown, turnId);
    return node;
  }

  /** Whether the messages up to the first question of a user were said under another root. */
  askedElsewhere({ root, messages }: Located): boolean {
    const opening = messages.slice(0, messages.findIndex((message) => message.role === 'user') + 1);
    if (opening.length === 0) return false;
    return this.roots.some((other) => {
      let node: TreeNode | undefined = other === root ? undefined : other.top;
      for (const message of opening) node = node && this.#plainChild(node, message, -1);
      return node !== undefined;
    });
  }

  /**
   * Puts the client's assistant message, with which a history leaves the tree, in the place of the only sampled message beside it.
   * @param tokensMax only outputs below this length are replaced
   * @returns the turn that lost its place
   */
  absorbRewrite({ messages, reached, end }: Located, tokensMax: number): TurnRecord | null {
    const message = messages[reached.length];
    const [node, ...others] = end.generated ?? [];
    if (message?.role !== 'assistant' || node === undefined || others.length > 0 || this.#hasAssistant(end)) return null;
    const turn = node.turn!;
    if (turn.sampled.outputIds.length >= tokensMax) return null;
    node.demote(message);
    this.#index.add(end, messageHash(message, -1), node);
    end.latest = node;
    return turn;
  }

  #hasAssistant(parent: TreeNode): boolean {
    return (
      parent.latest !== null &&
      this.#nodes.some((node) => node.parent === parent && node.turn === null && node.message?.role === 'assistant')
    );
  }

  /** @param reach how much of the history is known below a node: twins that said the same are told apart by what followed them */
  #child(parent: TreeNode, message: Message, call: number, reach: (node: TreeNode) => Reach): TreeNode | 'ambiguous' | undefined {
    if (message.role !== 'assistant') return this.#plainChild(parent, message, call);
    const generated = this.#generated.find(parent, message, reach);
    if (generated instanceof TreeNode) return generated;
    return this.#plainChild(parent, message, call) ?? this.#generated.findJoined(parent, message) ?? generated;
  }

  #plainChild(parent: TreeNode, message: Message, call: number): TreeNode | undefined {
    const { latest } = parent;
    if (latest === null) return undefined;
    if (sameMessage(latest.message!, latest.call, message, call)) return latest;
    return this.#index.find(parent, messageHash(message, call)).find((node) => sameMessage(node.message!, node.call, message, call));
  }

  #add(parent: TreeNode, message: Message, call: number): TreeNode {
    const hash = messageHash(message, call);
    const node = new TreeNode(this.#nextId++, parent.root, parent, message, call, hash, parent.depth + 1);
    this.#nodes.push(node);
    this.#index.add(parent, hash, node);
    parent.latest = node;
    return node;
  }

  #findRoot(key: RootKey): Root | undefined {
    if (this.#lastRoot !== null && sameRoot(this.#lastRoot, key)) return this.#lastRoot;
    const found = this.#roots.get(rootHash(key))?.find((root) => sameRoot(root, key));
    if (found !== undefined) this.#lastRoot = found;
    return found;
  }

  #detachedRoot(key: RootKey): Root {
    const { model, tools, templateKwargs } = key;
    const root = { model, tools, templateKwargs, hash: rootHash(key) } as { -readonly [K in keyof Root]: Root[K] };
    root.top = new TreeNode(this.#nextId++, root, null, null, -1, root.hash, 0);
    return root;
  }

  #adopt(root: Root): Root {
    const same = this.#roots.get(root.hash) ?? [];
    const found = same.find((other) => sameRoot(other, root));
    if (found !== undefined) return found;
    this.#roots.set(root.hash, [...same, root]);
    return root;
  }
}

/** A node that was reached past its parent stands for both messages. */
const spelledBelow = (above: TreeNode, node: TreeNode): Message => (node.parent === above ? node.message! : node.joined!);

/** The calls that are open after the messages whose stored spelling is known. */
function pairingAfter(messages: readonly Message[], stored: readonly Message[]): CallPairing {
  const pairing = new CallPairing();
  const last = stored.findLastIndex(({ role }) => role === 'assistant');
  if (last < 0) return pairing;
  pairing.opens(messages[last] as AssistantMessage, stored[last] as AssistantMessage);
  for (let i = last + 1; i < stored.length; i++) {
    const message = messages[i]!;
    if (message.role === 'tool') pairing.take(message);
  }
  return pairing;
}
