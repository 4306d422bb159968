import type { FinishReason, TurnReply, TurnRequest } from '../../canonical/turn.js';
import { toolInputJson } from './tool-input.js';

/** A block of an answer, as both forms of the answer need it. */
export type ReplyBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly inputJson: string };

/** Reasoning, text, calls, each only where there is something. */
export function replyBlocks(reply: TurnReply): readonly ReplyBlock[] {
  const { reasoning, content, toolCalls } = reply.message;
  const blocks: ReplyBlock[] = [];
  if (reasoning) blocks.push({ type: 'thinking', thinking: reasoning, signature: reply.signature() });
  if (content) blocks.push({ type: 'text', text: content });
  toolCalls.forEach((call, i) => {
    blocks.push({ type: 'tool_use', id: call.id ?? `toolu_${i}`, name: call.name, inputJson: toolInputJson(call) });
  });
  return blocks;
}

/** The body of a Messages answer. */
export function formatMessagesReply(request: TurnRequest, reply: TurnReply): string {
  const content = `[${replyBlocks(reply).map(blockJson).join(',')}]`;
  return messageJson(reply.turnId, request.model, content, endOf(reply), usageOf(reply));
}

function blockJson(block: ReplyBlock): string {
  if (block.type !== 'tool_use') return JSON.stringify(block.type === 'text' ? { ...block, citations: null } : block);
  const head = JSON.stringify({ type: block.type, id: block.id, name: block.name, caller: { type: 'direct' } });
  return `${head.slice(0, -1)},"input":${block.inputJson}}`;
}

export interface ReplyEnd {
  readonly stop_reason: string | null;
  readonly stop_sequence: string | null;
}

export const endOf = (reply: TurnReply): ReplyEnd => ({ stop_reason: STOP_REASONS[reply.finishReason], stop_sequence: reply.stopString });

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  tool_calls: 'tool_use',
};

export const usageOf = (reply: TurnReply): object => usageJson(reply.promptTokens, reply.outputIds.length, reply.reasoningTokens);

/**
 * `input_tokens` is the whole prompt, as count_tokens counts it: clients add the cache counters to it, so these are 0
 * and the sum is true.
 */
export function usageJson(promptTokens: number, outputTokens: number, thinkingTokens: number): object {
  return {
    input_tokens: promptTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
    cache_creation: null,
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: null,
    output_tokens_details: thinkingTokens > 0 ? { thinking_tokens: thinkingTokens } : null,
  };
}

/** A message object; `content` is the JSON of its blocks. */
export function messageJson(turnId: string, model: string, content: string, end: ReplyEnd, usage: object): string {
  const head = JSON.stringify({ id: `msg_${turnId}`, type: 'message', role: 'assistant', model, container: null });
  const tail = JSON.stringify({ ...end, stop_details: null, diagnostics: null, context_management: null, usage });
  return `${head.slice(0, -1)},"content":${content},${tail.slice(1)}`;
}
