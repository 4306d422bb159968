import type { AssistantMessage } from '../canonical/message.js';
import { echoFit, echoHash } from './echo.js';
import { sameAssistant } from './identity.js';
import { TreeNode } from './node.js';
import { NodeIndex } from './node-index.js';

/**
 * Recognises sampled messages in what clients send back. Ids that we issued and thinking signatures name the turn first and are
 * then verified; else content decides: an exact fit before a close one, and several different close fits are `ambiguous`.
 */
export class GeneratedNodes {
  readonly #index = new NodeIndex();
  /** (parent, handle) → nodes, where a handle is a turn's id or the id of one of its calls. */
  readonly #handles = new Map<string, TreeNode[]>();
  /** Client's message objects that were recognised before; an object never changes its mind. */
  readonly #recognised = new WeakMap<AssistantMessage, TreeNode>();

  add(parent: TreeNode, node: TreeNode, shown: AssistantMessage, turnId: string): void {
    parent.generated ??= [];
    parent.generated.push(node);
    this.#index.add(parent, node.hash, node);
    if (parent.message?.role === 'assistant') addPrefilled(parent);
    for (const handle of new Set([turnHandle(turnId), ...shown.toolCalls.map((call) => call.id)])) {
      if (handle === null) continue;
      const key = handleKey(parent, handle);
      const nodes = this.#handles.get(key);
      if (nodes === undefined) this.#handles.set(key, [node]);
      else nodes.push(node);
    }
  }

  find(parent: TreeNode, echo: AssistantMessage): TreeNode | 'ambiguous' | undefined {
    if (parent.generated === null) return undefined;
    const before = this.#recognised.get(echo);
    if (before?.parent === parent && before.turn !== null) return before;
    const named = this.#named(parent, echo);
    const found = named !== undefined && echoFit(echo, shownBy(named), true) !== 'none' ? named : this.#fitting(parent, echo);
    if (found instanceof TreeNode) this.#recognised.set(echo, found);
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

  #named(parent: TreeNode, echo: AssistantMessage): TreeNode | undefined {
    const handles = [echo.turnHint === undefined ? null : turnHandle(echo.turnHint), ...echo.toolCalls.map((call) => call.id)];
    const nodes = new Set(handles.flatMap((handle) => (handle === null ? [] : (this.#handles.get(handleKey(parent, handle)) ?? []))));
    const [named, ...others] = [...nodes].filter((node) => node.turn !== null);
    return others.length === 0 ? named : undefined;
  }

  #fitting(parent: TreeNode, echo: AssistantMessage): TreeNode | 'ambiguous' | undefined {
    const candidates = this.#index.find(parent, echoHash(echo)).filter((node) => node.turn !== null);
    const exact = candidates.filter((node) => echoFit(echo, shownBy(node), false) === 'exact');
    if (exact.length > 0) return exact.at(-1);
    const close = candidates.filter((node) => echoFit(echo, shownBy(node), false) === 'close');
    const last = close.at(-1);
    if (last === undefined) return undefined;
    return close.every((node) => sameAssistant(shownBy(node), shownBy(last))) ? last : 'ambiguous';
  }
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

const turnHandle = (turnId: string): string => `turn ${turnId}`;
const handleKey = (parent: TreeNode, handle: string): string => `${parent.id} ${handle}`;
