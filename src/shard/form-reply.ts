import type { AssistantMessage, ToolCall } from '../canonical/message.js';
import type { Sampling, TurnReply, TurnRequest } from '../canonical/turn.js';
import type { GenerateResult } from '../engines/engine.js';
import { contentWithoutUnparsed, engineView } from '../families/engine-view.js';
import { finishReasonOf, type ReadReply, readReply } from '../rendering/reply-reader.js';
import type { PendingTurn } from '../trajectory/pending-turn.js';
import type { SampledTurn } from '../trajectory/turn.js';
import type { Session } from './session.js';
import type { ShardContext } from './shard-context.js';
import { openingOf, type TurnCall } from './turn-call.js';

/** What the pool says of a call beside its result. */
export interface EngineTimes {
  readonly replica: string | null;
  readonly queueMs: number;
  readonly engineMs: number;
  readonly firstTokenMs: number | null;
}

export interface FormedReply {
  /** For the tree. */
  readonly sampled: SampledTurn;
  /** For the client. */
  readonly reply: TurnReply;
}

/**
 * Reads what was sampled and makes of it the turn that is recorded and the reply that is shown.
 * @param promptText the end of what the template said; it decides whether reasoning is open
 */
export function formReply(
  turn: TurnCall,
  pending: PendingTurn,
  promptText: string,
  sampling: Sampling,
  result: GenerateResult,
  times: EngineTimes,
): FormedReply {
  const { request, session, context } = turn;
  const { model } = context;
  const { outputIds, logprobs, topLogprobs, cachedTokens } = result;
  const startedMs = performance.now();
  const read = readReply(
    {
      outputIds,
      finish: result.finish,
      stopStrings: sampling.stopStrings,
      eosTokenIds: model.endTokenIds,
      stopTokenIds: new Set(sampling.stopTokenIds),
      reasoningOpen: model.reasoningOpen(promptText),
      tools: [...request.tools, ...(request.deferredTools ?? [])],
    },
    model.tokenizer,
    model.family,
  );
  context.metrics.turnStageSeconds.observe({ stage: 'read' }, (performance.now() - startedMs) / 1000);
  const message = sampledMessage(read, session, model.family.nativeIds);
  const shown = shownMessage(message, read, request, context);
  // Models without an end token of their own stop at a string that no client asked for.
  const stopString = read.stop.stopString !== null && request.stopStrings.includes(read.stop.stopString) ? read.stop.stopString : null;
  const reason = finishReasonOf(read.stop, shown.toolCalls.length);
  const opening = openingOf(turn, pending);
  const finishReason = reason === 'stop_sequence' && stopString === null ? 'stop' : reason;
  return {
    sampled: {
      outputIds,
      logprobs,
      message,
      shown,
      finishReason,
      stop: { kind: read.stop.kind, tokenCount: read.stop.tokenCount },
      stopString,
      weightVersions: result.weightVersions,
      engine: context.engineName,
      replica: times.replica ?? '',
      engineRequestId: result.engineRequestId,
      logprobBasis: result.logprobBasis,
      cachedTokens,
      queueMs: times.queueMs,
      firstTokenMs: times.firstTokenMs,
      engineMs: times.engineMs,
      illFormed: read.parsed.illFormed,
      flags: result.flags,
    },
    reply: {
      turnId: opening.turnId,
      createdAtSeconds: opening.createdAtSeconds,
      promptTokens: opening.promptTokens,
      promptIds: opening.promptIds,
      outputIds,
      logprobs,
      topLogprobs,
      message: shown,
      finishReason,
      stopString,
      cachedTokens,
      reasoningTokens: read.reasoningTokens,
      signature: () => context.signatures.sign(session.id, pending.turnId),
      tokenText: (id) => model.tokenizer.tokenText(id),
    },
  };
}

function sampledMessage({ parsed }: ReadReply, session: Session, nativeIds: boolean): AssistantMessage {
  const toolCalls = parsed.toolCalls.map(
    (call): ToolCall => ({
      id: nativeIds && call.id !== null ? call.id : session.tree.callIds.issue(Math.random),
      name: call.name,
      arguments: call.arguments,
      value: call.value,
    }),
  );
  const content = parsed.content === '' && toolCalls.length > 0 ? null : parsed.content;
  return { role: 'assistant', content, reasoning: parsed.reasoning, toolCalls };
}

/** What the client sees of a message: as the chosen parser would have read it, without what it asked not to get. */
function shownMessage(
  message: AssistantMessage,
  read: ReadReply,
  request: TurnRequest,
  { settings, model }: ShardContext,
): AssistantMessage {
  const { parsed } = read;
  const view = engineView(parsed, { ...read, tools: request.tools }, settings.toolParsing, model.family);
  const content = settings.unparsedCalls === 'hidden' ? contentWithoutUnparsed(view, read.text) : view.content;
  const hidesCalls = request.toolChoice === 'none' && message.toolCalls.length > 0;
  if (content === parsed.content && view.toolCalls === parsed.toolCalls && !hidesCalls) return message;
  // A view leaves calls out or writes their arguments anew; what it keeps has the place, and so the id, of the call as sampled.
  const toolCalls = view.toolCalls.map((call) => {
    const sampled = message.toolCalls[parsed.toolCalls.findIndex(({ start }) => start === call.start)];
    return { id: sampled?.id ?? null, name: call.name, arguments: call.arguments, value: call.value };
  });
  return { ...message, content: content === '' && toolCalls.length > 0 ? null : content, toolCalls: hidesCalls ? [] : toolCalls };
}
