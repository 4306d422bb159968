import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../canonical/json-value.js';
import { isJsonObject } from '../canonical/json-value.js';
import type { Message, ToolCall, ToolDefinition } from '../canonical/message.js';
import type { EmptyContent } from './empty-content.js';
import type { SpecialMarks } from './special-marks.js';
import { SystemFolding } from './system-folding.js';

/**
 * The step between canonical messages and a chat template: the only place that knows what transformers does to
 * messages before the template runs.
 *
 * `transformers-5.24` (what `apply_chat_template` of that version does): members that are null are dropped, and
 * `reasoning_content`, `thinking` and `reasoning` are copied to one another. `bare`: null stays null and reasoning is
 * `reasoning_content` only, as up to 5.20.
 */
export type TemplateInputStyle = 'transformers-5.24' | 'bare';

export interface TemplateInputOptions {
  readonly style: TemplateInputStyle;
  /** What the template does with a call's arguments, found by probing. */
  readonly argumentsAs: 'dict' | 'string';
  /** Whether the template prints a system message behind the first turn in its place; else it is folded into its neighbour. */
  readonly takesMidListSystem: boolean;
  /** How a message that only calls tools is given without text, found by probing; `bare` gives it as it came. */
  readonly emptyContent: EmptyContent;
  /** Whether the template refuses ids of calls that are not nine letters or digits; others are replaced by such ones. */
  readonly nineCharacterIds: boolean;
  /** Marks special-token strings of texts, where these shall stay letters; `null` leaves texts as they are. */
  readonly marks: SpecialMarks | null;
}

const REASONING_KEYS: Readonly<Record<TemplateInputStyle, readonly string[]>> = {
  'transformers-5.24': ['reasoning_content', 'thinking', 'reasoning'],
  bare: ['reasoning_content'],
};

/**
 * Gives the template's form of messages and tools. A message object always gives the same Map object, so that a
 * renderer can recognise what it has seen by identity; the maps live as long as the messages.
 */
export class TemplateInput {
  readonly #messages = new WeakMap<Message, JsonObject>();
  readonly #tools = new WeakMap<readonly ToolDefinition[], readonly JsonValue[]>();

  readonly #folding = new SystemFolding();

  constructor(private readonly options: TemplateInputOptions) {}

  messages(messages: readonly Message[]): readonly JsonObject[] {
    const folded = this.options.takesMidListSystem ? messages : this.#folding.fold(messages);
    return folded.map((message) => this.#message(message));
  }

  /** Leaves the special-token strings of a message as they are: they are what was sampled, no text of a user. */
  keepSpecials(message: Message): void {
    this.#messages.set(message, messageInput(message, this.options));
  }

  #message(message: Message): JsonObject {
    let input = this.#messages.get(message);
    if (input === undefined) {
      input = marked(messageInput(message, this.options), this.options.marks);
      this.#messages.set(message, input);
    }
    return input;
  }

  /** `null` without tools, as transformers passes it. */
  tools(tools: readonly ToolDefinition[]): readonly JsonValue[] | null {
    if (tools.length === 0) return null;
    let input = this.#tools.get(tools);
    if (input === undefined) {
      input = tools.map((tool) => marked(toolInput(tool), this.options.marks));
      this.#tools.set(tools, input);
    }
    return input;
  }
}

/** Names of roles are the template's own words and hold no special string. */
const marked = (input: JsonObject, marks: SpecialMarks | null): JsonObject =>
  marks === null ? input : (marks.markJson(input) as JsonObject);

function messageInput(message: Message, options: TemplateInputOptions): JsonObject {
  const input = new Map<string, JsonValue>([['role', message.role]]);
  switch (message.role) {
    case 'system':
    case 'user':
      input.set('content', message.content);
      break;
    case 'assistant':
      if (message.content !== null || options.style === 'bare') input.set('content', message.content);
      else if (message.toolCalls.length === 0 || options.emptyContent === 'empty') input.set('content', '');
      else if (options.emptyContent === 'null') input.set('content', null);
      if (message.reasoning !== null) for (const key of REASONING_KEYS[options.style]) input.set(key, message.reasoning);
      if (message.toolCalls.length > 0) {
        input.set(
          'tool_calls',
          message.toolCalls.map((call) => callInput(call, options)),
        );
      }
      break;
    case 'tool':
      input.set('content', message.content);
      if (message.toolCallId !== null) input.set('tool_call_id', callId(message.toolCallId, options));
      if (message.name !== null) input.set('name', message.name);
      break;
  }
  return input;
}

/** Arguments that are no JSON object are given to the template as their text, whatever it prefers. */
function callInput(call: ToolCall, options: TemplateInputOptions): JsonObject {
  const args = options.argumentsAs === 'dict' && isJsonObject(call.value) ? call.value : call.arguments;
  const input = new Map<string, JsonValue>();
  if (call.id !== null) input.set('id', callId(call.id, options));
  input.set('type', 'function');
  input.set(
    'function',
    new Map<string, JsonValue>([
      ['name', call.name],
      ['arguments', args],
    ]),
  );
  return input;
}

/** The same id always gives the same nine characters, so that results keep their calls. */
const callId = (id: string, { nineCharacterIds }: TemplateInputOptions): string =>
  !nineCharacterIds || /^[A-Za-z0-9]{9}$/.test(id) ? id : createHash('sha256').update(id, 'utf8').digest('hex').slice(0, 9);

function toolInput(tool: ToolDefinition): JsonObject {
  const definition = new Map<string, JsonValue>([['name', tool.name]]);
  if (tool.description !== undefined) definition.set('description', tool.description);
  if (tool.parameters !== undefined) definition.set('parameters', tool.parameters);
  return new Map<string, JsonValue>([
    ['type', 'function'],
    ['function', definition],
  ]);
}
