import { isJsonObject, type JsonObject, type JsonValue } from '../../canonical/json-value.js';
import type { AssistantMessage, Message, ToolCall, ToolDefinition, ToolMessage } from '../../canonical/message.js';
import { expandToolReferences } from '../deferred-tools.js';
import type { ParseOptions } from '../protocol.js';
import { invalidField, member, optionalBoolean } from '../request-fields.js';
import { blockString, eachBlock, unknownBlock } from './text.js';
import { toolUseCall } from './tool-input.js';

/** What blocks are read with, and what they were seen to need. */
export interface BlockContext extends ParseOptions {
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  /** Takes the name of every tool that a result refers to. */
  readonly references: string[];
}

/**
 * The messages that a user's content stands for: its tool results, in the order of the calls they answer, and then one of its text.
 * @param calls those of the last assistant message
 */
export function parseUser(
  content: JsonValue | undefined,
  path: string,
  calls: readonly ToolCall[],
  context: BlockContext,
): readonly Message[] {
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
  const text = resultText(member(block, 'content') ?? '', `${path}.content`, context);
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
function resultText(content: JsonValue, path: string, context: BlockContext): string {
  let text = '';
  let references: string[] = [];
  const flush = (): void => {
    if (references.length > 0) text += expandToolReferences(references, context.tools, path);
    references = [];
  };
  eachBlock(content, path, (block, type, at) => {
    if (type === 'tool_reference') {
      references.push(blockString(block, 'tool_name', at));
      context.references.push(references.at(-1)!);
      return;
    }
    if (type !== 'text') throw unknownBlock(type, at, 'text and tool_reference');
    flush();
    text += blockString(block, 'text', at);
  });
  flush();
  return text;
}

export function parseAssistant(content: JsonValue | undefined, path: string, context: BlockContext): AssistantMessage {
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
