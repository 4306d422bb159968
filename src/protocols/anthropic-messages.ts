import { formatMessagesReply } from './anthropic-messages/reply.js';
import { parseMessagesRequest } from './anthropic-messages/request.js';
import { finishMessagesStream, namedEvent, openMessagesStream, PING } from './anthropic-messages/stream.js';
import { anthropicError } from './error-reply.js';
import type { Protocol } from './protocol.js';

/** Anthropic's Messages, one shape for all versions of the header. */
export const anthropicMessages: Protocol = {
  name: 'anthropic-messages',
  parseRequest: parseMessagesRequest,
  formatReply: formatMessagesReply,
  openStream: openMessagesStream,
  finishStream: finishMessagesStream,
  heartbeat: PING,
  failStream: (error, requestId) => namedEvent('error', anthropicError(error, requestId).body),
  overflowMessage: (promptTokens, contextTokens) => `prompt is too long: ${promptTokens} tokens > ${contextTokens} maximum`,
  formatError: anthropicError,
};

/** The answer of count_tokens. */
export function formatTokenCount(promptTokens: number): string {
  return JSON.stringify({ input_tokens: promptTokens });
}
