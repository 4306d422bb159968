import type { AssistantMessage } from '../canonical/message.js';
import { echoFit, echoHash } from './echo.js';
import { sameAssistant } from './identity.js';
import type { Reach } from './lookahead.js';
import { TreeNode } from './node.js';
import { NodeIndex } from './node-index.js';

/**
 * Recognises sampled messages in what clients send back. Ids that we issued and thinking signatures name the turn first and are
 * then verified; else content decides: an exact fit before a close one, and several different close fits are `ambiguous`.
 */
export class GeneratedNodes {
  readonly #index = new NodeIndex();
  readonly #byTurn = new Map<string, TreeNode>();
  /** By parent and id of a call; native ids of siblings may be alike and then name none of them. */
  readonly #byCall = new Map<string, TreeNode | typeof SEVERAL>();
  /** Client's message objects that were recognised before as an only child: with siblings, what follows decides anew. */
  readonly #recognised = new WeakMap<AssistantMessage, TreeNode>();

  add(parent: TreeNode, node: TreeNode, shown: AssistantMessage, turnId: string): void {
    if (parent.generated === null) parent.generated = [node];
    else parent.generated.push(node);
    this.#index.add(parent, node.hash, node);
    if (parent.message?.role === 'assistant') addPrefilled(parent);
    this.#byTurn.set(turnId, node);
    for (const { id } of shown.toolCalls) {
      if (id === null) continue;
      const key = callKey(parent, id);
      const before = this.#byCall.get(key);
      const free = before === undefined || before === node || (before !== SEVERAL && before.turn === null);
      this.#byCall.set(key, free ? node : SEVERAL);
    }
  }

  /**
   * @param reach how much of the history's next messages is known below a node: of twins that fit, the one with most is meant
   */
  find(parent: TreeNode, echo: AssistantMessage, reach: (node: TreeNode) => Reach): TreeNode | 'ambiguous' | undefined {
    if (parent.generated === null) return undefined;
    const isOnly = parent.generated.length === 1;
    const before = isOnly ? this.#recognised.get(echo) : undefined;
    if (before?.parent === parent && before.turn !== null) return before;
    const named = this.#named(parent, echo);
    const found = named !== undefined && echoFit(echo, shownBy(named), true) !== 'none' ? named : this.#fitting(parent, echo, reach);
    if (isOnly && found instanceof TreeNode) this.#recognised.set(echo, found);
    return found;
  }

  /** A prefilled assistant message and the rest that was sampled, sent back as one message. */
  findJoined(parent: TreeNode, echo: AssistantMessage): TreeNode | undefined {
    const fits = (parent.prefilled ?? []).flatMap((prefill) => {
      const prefix = prefill.message as AssistantMessage;
      return (prefill.generated ?? []).filter((node) => echoFit(echo, joined(prefix, shownBy(node)), false) !== 'none');
    });
    const node = fits[0];
    if (node === undefined || fits.length > 1) return undefined;
    node.joined ??= joined(node.parent!.message as AssistantMessage, node.message as AssistantMessage);
    return node;
  }

  /** The one turn below `parent` that the echo's signature and call ids name. */
  #named(parent: TreeNode, echo: AssistantMessage): TreeNode | undefined {
    const signed = echo.turnHint === undefined ? undefined : this.#byTurn.get(echo.turnHint);
    let named = signed?.parent === parent && signed.turn !== null ? signed : undefined;
    for (const { id } of echo.toolCalls) {
      const node = id === null ? undefined : this.#byCall.get(callKey(parent, id));
      if (node === undefined || (node !== SEVERAL && node.turn === null)) continue;
      if (node === SEVERAL || (named !== undefined && named !== node)) return undefined;
      named = node;
    }
    return named;
  }

  #fitting(parent: TreeNode, echo: AssistantMessage, reach: (node: TreeNode) => Reach): TreeNode | 'ambiguous' | undefined {
    const candidates = this.#index.find(parent, echoHash(echo)).filter((node) => node.turn !== null);
    const exact = candidates.filter((node) => echoFit(echo, shownBy(node), false) === 'exact');
    const close = candidates.filter((node) => echoFit(echo, shownBy(node), false) === 'close');
    const [first] = [...exact, ...close];
    if (first === undefined || exact.length + close.length === 1) return first;
    // A reply that was sampled below a node says more than a fit; a message that is known there says less.
    let best = { node: first, rank: [-1] };
    for (const [fit, nodes] of [close, exact].entries()) {
      for (const node of nodes) {
        const { sampled, messages } = reach(node);
        const rank = [sampled, fit, messages];
        if (isAtLeast(rank, best.rank)) best = { node, rank };
      }
    }
    const isSure = exact.length > 0 || best.rank[0]! > 0 || close.every((node) => sameAssistant(shownBy(node), shownBy(first)));
    return isSure ? best.node : 'ambiguous';
  }
}

/** Compares number by number, the first difference decides. */
function isAtLeast(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((x, i) => x !== b[i]);
  return at < 0 || a[at]! > b[at]!;
}

/** A generated node is found only after its turn was committed. */
const shownBy = (node: TreeNode): AssistantMessage => node.turn!.sampled.shown;

function addPrefilled(prefill: TreeNode): void {
  const above = prefill.parent!;
  above.prefilled ??= [];
  if (!above.prefilled.includes(prefill)) above.prefilled.push(prefill);
}

function joined(prefix: AssistantMessage, rest: AssistantMessage): AssistantMessage {
  return {
    role: 'assistant',
    content: `${prefix.content ?? ''}${rest.content ?? ''}`,
    reasoning: prefix.reasoning ?? rest.reasoning,
    toolCalls: rest.toolCalls,
  };
}

const SEVERAL = Symbol('several turns');
const callKey = (parent: TreeNode, id: string): string => `${parent.id} ${id}`;
