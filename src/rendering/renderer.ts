import type { JsonObject } from '../canonical/json-value.js';
import type { Message, ToolDefinition } from '../canonical/message.js';
import type { RenderedTail, RenderMemo } from '../jinja/template.js';

/** A conversation as the model shall see it. */
export interface Conversation {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  readonly templateKwargs: JsonObject;
  /** Whether the text ends with the opening of the assistant's next turn. */
  readonly addGenerationPrompt: boolean;
  /** Frozen for a session, so that a date in the prompt does not change at midnight. */
  readonly nowMs: number;
}

/**
 * Messages → text, exact and without side effects. Two kinds: a chat template, and a coded renderer for models that
 * ship none.
 * @throws GatewayError `template_error` with the template's own message and line.
 */
export interface Renderer {
  readonly kind: 'template' | 'coded';
  readonly name: string;
  render(conversation: Conversation): string;
  /** The same text, only what follows the part that is known to be that of the memo's last render. */
  renderTail(conversation: Conversation, memo: RenderMemo): RenderedTail;
  /** The conversation with one assistant message given as the raw text that was sampled for it, stop token aside. */
  renderWithRaw(conversation: Conversation, index: number, rawText: string): string;
}
