import type { ProtocolName } from '../canonical/turn.js';
import { anthropicMessages } from './anthropic-messages.js';
import { openaiChat } from './openai-chat.js';
import type { Protocol } from './protocol.js';

/** Every protocol, one line each. */
export const PROTOCOLS: Readonly<Record<ProtocolName, Protocol>> = {
  'openai-chat': openaiChat,
  'anthropic-messages': anthropicMessages,
};
