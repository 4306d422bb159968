import { openaiError } from './error-reply.js';
import { formatChatReply, type ReasoningField } from './openai-chat/reply.js';
import { parseChatRequest } from './openai-chat/request.js';
import { dataEvent, finishChatStream, openChatStream } from './openai-chat/stream.js';
import type { Protocol } from './protocol.js';

/** OpenAI's Chat Completions with the members of vLLM that trainers read. */
export const openaiChat = (reasoningField: ReasoningField): Protocol => ({
  name: 'openai-chat',
  parseRequest: parseChatRequest,
  formatReply: (request, reply) => formatChatReply(request, reply, reasoningField),
  openStream: openChatStream,
  finishStream: (request, reply) => finishChatStream(request, reply, reasoningField),
  heartbeat: ': keep-alive\n\n',
  failStream: (error) => dataEvent(openaiError(error).body),
  overflowMessage: (promptTokens, contextTokens) =>
    `This model's maximum context length is ${contextTokens} tokens. However, your messages resulted in ${promptTokens} tokens.`,
  formatError: openaiError,
});
