import type { JsonValue } from './json-value.js';

/**
 * One message of a conversation, whatever protocol it came by. Text parts are joined without a separator;
 * `developer` is `system`, `function` is `tool`; markers that only steer a vendor's cache are gone.
 */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

export interface SystemMessage {
  readonly role: 'system';
  readonly content: string;
}

export interface UserMessage {
  readonly role: 'user';
  readonly content: string;
}

export interface AssistantMessage {
  readonly role: 'assistant';
  /** `null` where the client sent none (`null`, an empty part list or no member). */
  readonly content: string | null;
  /** The text of the reasoning without its delimiters; `null` when there was no block, `""` for an empty one. */
  readonly reasoning: string | null;
  readonly toolCalls: readonly ToolCall[];
  /** Handle of the sampled turn taken from a verified thinking signature, a hint for identity. */
  readonly turnHint?: string;
}

export interface ToolMessage {
  readonly role: 'tool';
  readonly content: string;
  readonly toolCallId: string | null;
  /** Name of the function, where the client said it. */
  readonly name: string | null;
  readonly isError: boolean;
}

export interface ToolCall {
  /** As issued by us or as the client spelled it; never part of a message's identity. */
  readonly id: string | null;
  readonly name: string;
  /** The JSON text as sampled or as sent; it need not be JSON. */
  readonly arguments: string;
  /** The value of `arguments`, a double-encoded object decoded; `undefined` where the text is not JSON. */
  readonly value: JsonValue | undefined;
}

export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments, exactly as sent. */
  readonly parameters?: JsonValue;
}
