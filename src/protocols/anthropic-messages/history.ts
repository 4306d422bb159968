import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../canonical/json-value.js';
import type { Message, ToolCall, ToolDefinition } from '../../canonical/message.js';
import type { ParseOptions } from '../protocol.js';
import { invalidField, unsupported } from '../request-fields.js';
import { type BlockContext, parseAssistant, parseUser } from './blocks.js';
import { systemMessage } from './text.js';

/** An entry of `messages` that was read, with what of the request around it the reading depended on. */
export interface ReadEntry {
  readonly messages: readonly Message[];
  /** Names of tools that results refer to, whose definitions are in the text. */
  readonly references: readonly string[];
  /** The calls that several results were ordered by; `null` where there is nothing to order. */
  readonly orderedBy: readonly ToolCall[] | null;
  readonly tools: ReadonlyMap<string, ToolDefinition>;
}
export type KnownEntries = WeakMap<JsonObject, ReadEntry>;

export interface ReadHistory {
  readonly messages: readonly Message[];
  readonly references: ReadonlySet<string>;
}

/**
 * Reads `messages`. An assistant entry is one message, a user entry its tool results and its text; system entries stay where they stand.
 * @param tools all tools of the request by name
 * @param known entries by their JSON; one is read again where what it depended on has changed
 */
export function parseHistory(
  value: JsonValue | undefined,
  options: ParseOptions,
  tools: ReadonlyMap<string, ToolDefinition>,
  known?: KnownEntries,
): ReadHistory {
  if (!isJsonArray(value) || value.length === 0) throw invalidField('messages', 'a list of at least one message', value);
  const messages: Message[] = [];
  const references = new Set<string>();
  let calls: readonly ToolCall[] = [];
  value.forEach((item, i) => {
    const path = `messages[${i}]`;
    if (!isJsonObject(item)) throw invalidField(path, 'an object', item);
    let entry = known?.get(item);
    if (entry === undefined || !stillHolds(entry, calls, tools)) {
      entry = parseEntry(item, path, calls, { ...options, tools, references: [] });
      known?.set(item, entry);
    }
    for (const message of entry.messages) {
      messages.push(message);
      if (message.role === 'assistant') calls = message.toolCalls;
    }
    for (const name of entry.references) references.add(name);
  });
  if (messages.at(-1)?.role === 'assistant') {
    throw unsupported(
      `messages[${value.length - 1}]`,
      'the last message is the assistant’s and a started answer cannot be continued; end with a user message',
    );
  }
  return { messages, references };
}

function parseEntry(item: JsonObject, path: string, calls: readonly ToolCall[], context: BlockContext): ReadEntry {
  const messages = parseMessage(item, path, calls, context);
  const { references, tools } = context;
  const results = messages.filter(({ role }) => role === 'tool').length;
  return { messages, references, tools, orderedBy: results > 1 ? calls : null };
}

function parseMessage(item: JsonObject, path: string, calls: readonly ToolCall[], context: BlockContext): readonly Message[] {
  const role = item.get('role');
  const content = item.get('content');
  switch (role) {
    case 'user':
      return parseUser(content, `${path}.content`, calls, context);
    case 'assistant':
      return [parseAssistant(content, `${path}.content`, context)];
    case 'system':
      return systemMessage(content, `${path}.content`);
    default:
      throw invalidField(`${path}.role`, '"user", "assistant" or "system"', role);
  }
}

function stillHolds(entry: ReadEntry, calls: readonly ToolCall[], tools: ReadonlyMap<string, ToolDefinition>): boolean {
  if (entry.references.length > 0 && entry.tools !== tools) return false;
  const { orderedBy } = entry;
  return (
    orderedBy === null || orderedBy === calls || (orderedBy.length === calls.length && orderedBy.every(({ id }, i) => id === calls[i]!.id))
  );
}
