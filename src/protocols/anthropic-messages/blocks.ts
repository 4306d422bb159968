import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../canonical/json-value.js';
import type { AssistantMessage, Message, ToolCall, ToolDefinition, ToolMessage } from '../../canonical/message.js';
import { expandToolReferences } from '../deferred-tools.js';
import type { ParseOptions } from '../protocol.js';
import { invalidField, member, optionalBoolean, unsupported } from '../request-fields.js';
import { blockString, eachBlock, systemMessage, unknownBlock } from './text.js';
import { toolUseCall } from './tool-input.js';

export interface BlockContext extends ParseOptions {
  readonly tools: ReadonlyMap<string, ToolDefinition>;
}

/**
 * Reads `messages`. A user message becomes its tool results, in the order of the calls they answer, and then one
 * message of its text; system messages stay where they stand.
 */
export function parseMessages(value: JsonValue | undefined, context: BlockContext): readonly Message[] {
  if (!isJsonArray(value) || value.length === 0) throw invalidField('messages', 'a list of at least one message', value);
  const messages: Message[] = [];
  let calls: readonly ToolCall[] = [];
  value.forEach((item, i) => {
    const path = `messages[${i}]`;
    if (!isJsonObject(item)) throw invalidField(path, 'an object', item);
    const role = item.get('role');
    const content = item.get('content');
    if (role === 'user') messages.push(...parseUser(content, `${path}.content`, calls, context));
    else if (role === 'assistant') {
      const message = parseAssistant(content, `${path}.content`, context);
      calls = message.toolCalls;
      messages.push(message);
    } else if (role === 'system') messages.push(...systemMessage(content, `${path}.content`));
    else throw invalidField(`${path}.role`, '"user", "assistant" or "system"', role);
  });
  if (messages.at(-1)?.role === 'assistant') {
    throw unsupported(
      `messages[${value.length - 1}]`,
      'the last message is the assistant’s and a started answer cannot be continued; end with a user message',
    );
  }
  return messages;
}

function parseUser(content: JsonValue | undefined, path: string, calls: readonly ToolCall[], context: BlockContext): readonly Message[] {
  const results: ToolMessage[] = [];
  let text: string | null = null;
  eachBlock(content, path, (block, type, at) => {
    if (type === 'text') text = (text ?? '') + blockString(block, 'text', at);
    else if (type === 'tool_result') results.push(parseToolResult(block, at, context));
    else throw unknownBlock(type, at, 'text and tool_result');
  });
  const place = (result: ToolMessage): number => {
    const at = calls.findIndex((call) => call.id === result.toolCallId);
    return at === -1 ? calls.length : at;
  };
  results.sort((a, b) => place(a) - place(b));
  return text === null && results.length > 0 ? results : [...results, { role: 'user', content: text ?? '' }];
}

function parseToolResult(block: JsonObject, path: string, context: BlockContext): ToolMessage {
  const isError = optionalBoolean(block, 'is_error', false);
  const text = resultText(member(block, 'content') ?? '', `${path}.content`, context.tools);
  return {
    role: 'tool',
    content: isError ? markError(text) : text,
    toolCallId: blockString(block, 'tool_use_id', path),
    name: null,
    isError,
  };
}

/** Templates have no place for the flag, so the text says it, unless it does already. */
function markError(text: string): string {
  return /^\s*(?:<tool_use_error>|error\b)/i.test(text) ? text : `Error: ${text}`;
}

/** Text blocks joined, each run of references replaced by the definitions of the tools. */
function resultText(content: JsonValue, path: string, tools: ReadonlyMap<string, ToolDefinition>): string {
  let text = '';
  let references: string[] = [];
  const flush = (): void => {
    if (references.length > 0) text += expandToolReferences(references, tools, path);
    references = [];
  };
  eachBlock(content, path, (block, type, at) => {
    if (type === 'tool_reference') {
      references.push(blockString(block, 'tool_name', at));
      return;
    }
    if (type !== 'text') throw unknownBlock(type, at, 'text and tool_reference');
    flush();
    text += blockString(block, 'text', at);
  });
  flush();
  return text;
}

function parseAssistant(content: JsonValue | undefined, path: string, context: BlockContext): AssistantMessage {
  let text: string | null = null;
  let reasoning: string | null = null;
  let turnHint: string | null = null;
  const toolCalls: ToolCall[] = [];
  eachBlock(content, path, (block, type, at) => {
    switch (type) {
      case 'text':
        text = (text ?? '') + blockString(block, 'text', at);
        break;
      case 'thinking': {
        reasoning = (reasoning ?? '') + (member(block, 'thinking') === undefined ? '' : blockString(block, 'thinking', at));
        const signature = block.get('signature');
        if (typeof signature === 'string' && signature !== '') turnHint ??= context.verifySignature(signature);
        break;
      }
      case 'redacted_thinking':
        break;
      case 'tool_use': {
        const input = member(block, 'input') ?? new Map();
        if (!isJsonObject(input)) throw invalidField(`${at}.input`, 'an object', input);
        toolCalls.push(toolUseCall(blockString(block, 'id', at), blockString(block, 'name', at), input));
        break;
      }
      default:
        throw unknownBlock(type, at, 'text, thinking and tool_use');
    }
  });
  // Some clients keep the signature of a block and empty its text: then the text was dropped, not sampled empty.
  const dropped = turnHint !== null && reasoning === '';
  return { role: 'assistant', content: text, reasoning: dropped ? null : reasoning, toolCalls, ...(turnHint === null ? {} : { turnHint }) };
}
