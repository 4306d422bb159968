import type { AssistantMessage, Message } from '../canonical/message.js';
import { GatewayError } from '../errors.js';
import type { RenderedTail } from '../jinja/template.js';
import type { Conversation, Renderer } from './renderer.js';

/**
 * A renderer in code, for base models without a chat template: `Role: text`, turns parted by a blank line, in the manner
 * of tinker-cookbook's role-colon format. A reply ends at {@link ROLE_COLON_STOP}. Tools are refused: the format has no
 * place for them.
 */
export class RoleColonRenderer implements Renderer {
  readonly kind = 'coded';
  readonly name = 'role-colon';

  render(conversation: Conversation): string {
    if (conversation.tools.length > 0) {
      throw new GatewayError(
        'template_error',
        'Cannot render tools: the role-colon format has no place for them; use a model with a chat template.',
      );
    }
    const turns = conversation.messages.map(turn);
    if (conversation.addGenerationPrompt) turns.push('Assistant:');
    return turns.join('\n\n');
  }

  /** Costs little: nothing is remembered. */
  renderTail(conversation: Conversation): RenderedTail {
    return { reusedPrefixLength: 0, tail: this.render(conversation) };
  }

  renderWithRaw(conversation: Conversation, index: number, rawText: string): string {
    const raw: AssistantMessage = {
      role: 'assistant',
      content: rawText.startsWith(' ') ? rawText.slice(1) : rawText,
      reasoning: null,
      toolCalls: [],
    };
    return this.render({ ...conversation, messages: conversation.messages.map((message, at) => (at === index ? raw : message)) });
  }
}

/** Stop string of a reply: the next speaker's opening. */
export const ROLE_COLON_STOP = '\n\nUser:';

function turn(message: Message): string {
  switch (message.role) {
    case 'system':
      return `System: ${message.content}`;
    case 'user':
      return `User: ${message.content}`;
    case 'assistant':
      if (message.toolCalls.length > 0) {
        throw new GatewayError(
          'template_error',
          `Cannot render the tool call "${message.toolCalls[0]?.name}": the role-colon format has no place for it.`,
        );
      }
      return `Assistant: ${message.content ?? ''}`;
    case 'tool':
      throw new GatewayError('template_error', 'Cannot render a tool result: the role-colon format has no place for it.');
  }
}
