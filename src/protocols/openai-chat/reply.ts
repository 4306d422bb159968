import type { ToolCall } from '../../canonical/message.js';
import type { FinishReason, TurnReply, TurnRequest } from '../../canonical/turn.js';
import { logprobsJson } from './logprobs.js';

/** The member that carries reasoning: clients read one name or the other. */
export type ReasoningField = 'reasoning_content' | 'reasoning' | 'both';

export function reasoningMembers(reasoning: string, field: ReasoningField): object {
  if (field === 'both') return { reasoning_content: reasoning, reasoning };
  return { [field]: reasoning };
}

/** The body of a Chat answer. */
export function formatChatReply(request: TurnRequest, reply: TurnReply, field: ReasoningField): string {
  const { message } = reply;
  const body = JSON.stringify({
    role: 'assistant',
    content: visibleContent(reply),
    refusal: null,
    ...(message.reasoning === null ? {} : reasoningMembers(message.reasoning, field)),
    ...(message.toolCalls.length === 0 ? {} : { tool_calls: message.toolCalls.map(callJson) }),
  });
  const head = JSON.stringify({
    id: chatId(reply.turnId),
    object: 'chat.completion',
    created: reply.createdAtSeconds,
    model: request.model,
  });
  const choice = `{"index":0,"message":${body},${choiceTail(request, reply)}}`;
  const promptIds = request.returnTokenIds ? `,"prompt_token_ids":${idsJson(reply.promptIds())}` : '';
  return `${head.slice(0, -1)},"choices":[${choice}],"usage":${JSON.stringify(chatUsage(reply))}${promptIds}}`;
}

export const chatId = (turnId: string): string => `chatcmpl-${turnId}`;

/** `null` where there are only calls. */
export function visibleContent(reply: TurnReply): string | null {
  const { content, toolCalls } = reply.message;
  return toolCalls.length > 0 && !content ? null : (content ?? '');
}

export function callJson(call: ToolCall, i: number): object {
  return { id: callId(call, i), type: 'function', function: { name: call.name, arguments: call.arguments } };
}

/** SDKs need an id on every call; a call without one was never issued by us and is told apart by its place. */
export const callId = (call: ToolCall, i: number): string => call.id ?? `call_${i}`;

/** The members of a choice that a whole answer and the last chunk of a stream share, without braces. */
export function choiceTail(request: TurnRequest, reply: TurnReply): string {
  const logprobs = request.topLogprobs === null ? 'null' : logprobsJson(reply, request.topLogprobs, request.returnTokenIds);
  const ids = request.returnTokenIds ? `,"token_ids":${idsJson(reply.outputIds)}` : '';
  const reason = FINISH_REASONS[reply.finishReason];
  return `"logprobs":${logprobs},"finish_reason":"${reason}","stop_reason":${JSON.stringify(reply.stopString)}${ids}`;
}

const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
};

export const idsJson = (ids: Int32Array): string => `[${ids.join(',')}]`;

export function chatUsage(reply: TurnReply): object {
  const [prompt, completion] = [reply.promptTokens, reply.outputIds.length];
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: reply.cachedTokens === null ? null : { cached_tokens: reply.cachedTokens },
    completion_tokens_details: { reasoning_tokens: reply.reasoningTokens },
  };
}
