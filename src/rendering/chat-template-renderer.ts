import type { JsonObject, JsonValue } from '../canonical/json-value.js';
import type { AssistantMessage, Message } from '../canonical/message.js';
import { GatewayError } from '../errors.js';
import { type LocalTime, localTime } from '../jinja/strftime.js';
import { compileTemplate, type RenderedTail, type RenderMemo, type Template, TemplateFailure } from '../jinja/template.js';
import type { Conversation, Renderer } from './renderer.js';
import type { TemplateInput } from './template-input.js';

export interface ChatTemplateOptions {
  /** Named templates of the model; `tool_use` is taken when there are tools and it exists, else `default`. */
  readonly templates: ReadonlyMap<string, string>;
  /** `bos_token` and the like, the template's variables. */
  readonly specialTokens: ReadonlyMap<string, JsonValue>;
  /** Template arguments for every conversation; a conversation's own win. */
  readonly templateKwargs: JsonObject;
  readonly input: TemplateInput;
}

/** Renders as transformers' `apply_chat_template(..., tokenize=False)` does. */
export class ChatTemplateRenderer implements Renderer {
  readonly kind = 'template';
  readonly name = 'chat template';
  readonly #compiled = new Map<string, Template>();

  constructor(private readonly options: ChatTemplateOptions) {
    for (const [name, source] of options.templates) this.#compiled.set(name, compile(name, source));
  }

  render(conversation: Conversation): string {
    return this.#run(conversation, conversation.messages, (template, context, now) => template.render(context, { now }));
  }

  renderTail(conversation: Conversation, memo: RenderMemo): RenderedTail {
    return this.#run(conversation, conversation.messages, (template, context, now) => template.renderTail(context, { now, memo }));
  }

  renderWithRaw(conversation: Conversation, index: number, rawText: string): string {
    const raw: AssistantMessage = { role: 'assistant', content: rawText, reasoning: null, toolCalls: [] };
    this.options.input.keepSpecials(raw);
    const messages = conversation.messages.map((message, at) => (at === index ? raw : message));
    return this.#run(conversation, messages, (template, context, now) => template.render(context, { now }));
  }

  #run<T>(conversation: Conversation, messages: readonly Message[], run: Run<T>): T {
    const tools = this.options.input.tools(conversation.tools);
    const template = (tools !== null && this.#compiled.get('tool_use')) || this.#compiled.get('default');
    if (template === undefined) {
      throw new GatewayError(
        'model_files',
        `Cannot choose a chat template: the model names ${[...this.#compiled.keys()].join(', ')}; one called "default" is needed.`,
      );
    }
    const context = new Map<string, JsonValue>([
      ['messages', this.options.input.messages(messages)],
      ['tools', tools],
      ['documents', null],
      ['add_generation_prompt', conversation.addGenerationPrompt],
    ]);
    for (const [name, value] of this.options.specialTokens) context.set(name, value);
    for (const [name, value] of this.options.templateKwargs) context.set(name, value);
    for (const [name, value] of conversation.templateKwargs) context.set(name, value);
    try {
      return run(template, context, () => localTime(conversation.nowMs));
    } catch (error) {
      if (error instanceof TemplateFailure) {
        throw new GatewayError('template_error', templateMessage(error), { cause: error });
      }
      throw error;
    }
  }
}

type Run<T> = (template: Template, context: ReadonlyMap<string, JsonValue>, now: () => LocalTime) => T;

function compile(name: string, source: string): Template {
  try {
    return compileTemplate(source);
  } catch (error) {
    if (error instanceof TemplateFailure) {
      throw new GatewayError('model_files', `Cannot compile the chat template "${name}": ${templateMessage(error)}`, { cause: error });
    }
    throw error;
  }
}

const templateMessage = (failure: TemplateFailure): string => `${failure.pythonClass}: ${failure.message} (line ${failure.line})`;
