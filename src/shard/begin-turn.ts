import type { Sampling, TurnRequest } from '../canonical/turn.js';
import { GatewayError } from '../errors.js';
import type { LoadedModel } from '../rendering/model.js';
import type { BuiltPrompt, RecordedTurn } from '../rendering/prompt-builder.js';
import type { PromptMemory } from '../rendering/prompt-memory.js';
import type { PromptForm } from '../trajectory/drift.js';
import { turnsAbove } from '../trajectory/drift.js';
import type { Located } from '../trajectory/message-tree.js';
import type { TurnRecord } from '../trajectory/turn.js';
import { fullIds, fullLength } from '../trajectory/turn-ids.js';
import { effectiveSampling } from './effective-sampling.js';
import { encodePrompt } from './encode-prompt.js';
import type { Session } from './session.js';
import type { ShardContext } from './shard-context.js';

/** A prompt that is ready, before anything was opened or counted. */
export interface PreparedPrompt {
  readonly located: Located;
  readonly built: BuiltPrompt;
  readonly form: PromptForm;
  readonly promptTokens: number;
  /** Those of them that were encoded for this turn; the others stood in the tree. */
  readonly encodedTokens: number;
}

/**
 * Identity, rendering and encoding: the same for a turn and for `count_tokens`. The tree stays as it is.
 * @param memories whether a turn follows, which may take over what the branch's last render left
 */
export async function preparePrompt(
  session: Session,
  request: TurnRequest,
  context: ShardContext,
  memories: 'take' | 'leave',
): Promise<PreparedPrompt> {
  const { model, settings } = context;
  if (request.messages.length === 0)
    throw new GatewayError('invalid_request', 'Cannot render `messages`: the list is empty, one message is needed.');
  if (request.messages.at(-1)?.role === 'assistant') {
    throw new GatewayError(
      'unsupported_feature',
      'Cannot continue an assistant message: the last message has role "assistant" (prefill); end with a user or tool message.',
    );
  }
  const root = { model: context.modelName(), tools: request.tools, templateKwargs: request.templateKwargs };
  const located = session.tree.locate(root, request.messages);
  const added = request.messages.length - located.reached.length;
  if (session.tree.nodes.length + added > settings.limits.treeNodes) {
    throw new GatewayError(
      'turn_limit',
      `Cannot add ${added} messages: the session's tree holds ${session.tree.nodes.length} of ${settings.limits.treeNodes} (limits.treeNodes).`,
    );
  }
  const base: TurnRecord | null = turnsAbove(located.end).next().value ?? null;
  const startedMs = performance.now();
  const built = model.prompts.build({
    messages: located.messages,
    tools: located.root.tools,
    templateKwargs: request.templateKwargs,
    nowMs: session.openedAtMs,
    policy: session.tree.settings.policy,
    base: base === null ? null : recorded(base, memories === 'take' ? session.takeMemory(base) : null, model),
  });
  const renderedMs = performance.now();
  const tailIds = await encodePrompt(built, base, model);
  context.metrics.turnStageSeconds.observe({ stage: 'render' }, (renderedMs - startedMs) / 1000);
  context.metrics.turnStageSeconds.observe({ stage: 'encode' }, (performance.now() - renderedMs) / 1000);
  const form = promptForm(built, base, tailIds);
  const promptTokens = form.kind === 'extends' ? fullLength(form.base) + form.delta.length : form.ids.length;
  return { located, built, form, promptTokens, encodedTokens: tailIds.length };
}

function recorded(base: TurnRecord, memory: PromptMemory | null, { reasoningOpen, callEndTokenId }: LoadedModel): RecordedTurn {
  const { stop, outputIds } = base.sampled;
  return {
    messageIndex: base.node.depth - 1,
    memory,
    outputIds,
    stopTokens: stop.kind === 'eos' || stop.kind === 'stop_token' ? stop.tokenCount : 0,
    stopEndsCall: stop.kind === 'stop_token' && outputIds.at(-1) === callEndTokenId,
    message: base.sampled.message,
    reasoningOpen,
  };
}

/** The proof's words for the tree: an output kept whole is extended, anything else is a whole prompt. */
function promptForm(built: BuiltPrompt, base: TurnRecord | null, tailIds: Int32Array): PromptForm {
  if (!built.continues || base === null) {
    const asked = base === null || built.proof === 'rerender';
    return asked ? { kind: 'whole', ids: tailIds } : { kind: 'whole', ids: tailIds, cause: 'fork_template' };
  }
  if (built.droppedTokens > 0) {
    const kept = fullIds(base);
    const start = kept.length - built.droppedTokens;
    const ids = new Int32Array(start + tailIds.length);
    ids.set(kept.subarray(0, start));
    ids.set(tailIds, start);
    return { kind: 'whole', ids, cause: 'fork_template' };
  }
  const { proof } = built;
  if (proof !== 'exact' && proof !== 'raw' && proof !== 'delta' && proof !== 'verbatim')
    throw new RangeError(`"${proof}" proves no continuation`);
  return { kind: 'extends', base, delta: tailIds, proof };
}

/** What a prompt leaves of a session's context for the reply, 0 = it is too long, and the limit that a refusal names: the prompt is above it. */
export function turnRoom(
  session: Session,
  promptTokens: number,
  context: ShardContext,
): { readonly limitTokens: number; readonly roomTokens: number } {
  const contextTokens = Math.min(context.contextTokens(), session.created.maxContextTokens ?? Number.POSITIVE_INFINITY);
  const promptMax = Math.min(contextTokens - 1, context.promptTokensMax() ?? Number.POSITIVE_INFINITY);
  return {
    limitTokens: promptTokens > contextTokens ? contextTokens : promptMax,
    roomTokens: promptTokens > promptMax ? 0 : contextTokens - promptTokens,
  };
}

/** @throws GatewayError `unsupported_feature` where sampling cannot be stopped behind one call */
export function turnSampling(session: Session, request: TurnRequest, roomTokens: number, { model, settings }: ShardContext): Sampling {
  const callEnd = request.parallelToolCalls ? null : model.callEndTokenId;
  if (!request.parallelToolCalls && callEnd === null && request.toolChoice !== 'none' && model.family.name !== 'text') {
    const name = request.protocol === 'openai-chat' ? 'parallel_tool_calls' : 'tool_choice.disable_parallel_tool_use';
    throw new GatewayError(
      'unsupported_feature',
      `\`${name}\` cannot be honoured: this model (${model.family.name}) ends a call with letters, at which sampling cannot stop; leave it out.`,
    );
  }
  return effectiveSampling({
    defaults: settings.sampling,
    request: request.sampling,
    session: session.created.sampling,
    requestStops: [...request.stopStrings, ...model.stopStrings],
    roomTokens,
    stopTokenIds: callEnd === null ? model.stopTokenIds : [...model.stopTokenIds, callEnd],
  });
}
