import type { ProtocolName } from '../canonical/turn.js';
import { anthropicMessages } from './anthropic-messages.js';
import type { ReasoningField } from './openai-chat/reply.js';
import { openaiChat } from './openai-chat.js';
import type { Protocol } from './protocol.js';

export type Protocols = Readonly<Record<ProtocolName, Protocol>>;

/** Every protocol, one line each, as the settings `wire.*` want them. */
export const createProtocols = (wire: { readonly reasoning: ReasoningField }): Protocols => ({
  'openai-chat': openaiChat(wire.reasoning),
  'anthropic-messages': anthropicMessages,
});
