import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../canonical/json-value.js';
import type { AssistantMessage, Message, ToolCall } from '../../canonical/message.js';
import { GatewayError } from '../../errors.js';
import { invalidField, member, shown, unsupported } from '../request-fields.js';
import { toolCall } from '../tool-arguments.js';

/**
 * Reads `messages` of a Chat request, in the shapes that real clients send.
 * @param known messages by their JSON, of which alone they depend
 */
export function parseMessages(value: JsonValue | undefined, known?: WeakMap<JsonObject, Message>): readonly Message[] {
  if (!isJsonArray(value) || value.length === 0) throw invalidField('messages', 'a list of at least one message', value);
  return value.map((item, i) => {
    const path = `messages[${i}]`;
    if (!isJsonObject(item)) throw invalidField(path, 'an object', item);
    const before = known?.get(item);
    if (before !== undefined) return before;
    const message = parseMessage(item, path);
    known?.set(item, message);
    return message;
  });
}

function parseMessage(message: JsonObject, path: string): Message {
  const role = message.get('role');
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: requiredText(message, path) };
    case 'user':
      return { role: 'user', content: requiredText(message, path) };
    case 'assistant':
      return parseAssistant(message, path);
    case 'tool':
    case 'function':
      return {
        role: 'tool',
        content: textOf(message.get('content'), `${path}.content`) ?? '',
        toolCallId: optionalText(message, 'tool_call_id', path),
        name: optionalText(message, 'name', path),
        isError: false,
      };
    default:
      throw invalidField(`${path}.role`, '"system", "developer", "user", "assistant", "tool" or "function"', role);
  }
}

function requiredText(message: JsonObject, path: string): string {
  const value = message.get('content');
  const text = textOf(value, `${path}.content`);
  if (text === null) throw invalidField(`${path}.content`, 'a string or a list of text parts', value);
  return text;
}

function optionalText(message: JsonObject, name: string, path: string): string | null {
  const value = member(message, name) ?? null;
  if (value !== null && typeof value !== 'string') throw invalidField(`${path}.${name}`, 'a string', value);
  return value;
}

/** Text parts joined without a separator; `null` for none. An empty list is `""`. */
function textOf(content: JsonValue | undefined, path: string): string | null {
  if (content === undefined || content === null) return null;
  if (typeof content === 'string') return content;
  if (!isJsonArray(content)) throw invalidField(path, 'a string or a list of text parts', content);
  let text = '';
  content.forEach((part, i) => {
    text += partText(part, `${path}[${i}]`);
  });
  return text;
}

function partText(part: JsonValue, path: string): string {
  if (typeof part === 'string') return part;
  if (!isJsonObject(part)) throw invalidField(path, 'a text part', part);
  const type = part.get('type');
  if (type === 'refusal') return '';
  if (typeof type !== 'string') throw invalidField(`${path}.type`, '"text"', type);
  if (type !== 'text') throw unsupported(path, `parts of type ${shown(type)} cannot be rendered, only text parts`);
  const text = part.get('text');
  if (typeof text !== 'string') throw invalidField(`${path}.text`, 'a string', text);
  return text;
}

function parseAssistant(message: JsonObject, path: string): AssistantMessage {
  const content = message.get('content');
  const isEmptyList = isJsonArray(content) && content.length === 0;
  return {
    role: 'assistant',
    content: isEmptyList ? null : textOf(content, `${path}.content`),
    reasoning: parseReasoning(message, path),
    toolCalls: parseToolCalls(message, path),
  };
}

/** `reasoning_content`, else `reasoning`; the latter may be another vendor's object, which is no text of the model. */
function parseReasoning(message: JsonObject, path: string): string | null {
  const reasoning = optionalText(message, 'reasoning_content', path);
  if (reasoning !== null) return reasoning;
  const other = message.get('reasoning');
  return typeof other === 'string' ? other : null;
}

function parseToolCalls(message: JsonObject, path: string): readonly ToolCall[] {
  const calls = member(message, 'tool_calls') ?? [];
  if (!isJsonArray(calls)) throw invalidField(`${path}.tool_calls`, 'a list', calls);
  const legacy = member(message, 'function_call');
  if (legacy !== undefined && calls.length === 0) return [parseFunction(legacy, null, `${path}.function_call`)];
  return calls.map((call, i) => {
    const at = `${path}.tool_calls[${i}]`;
    if (!isJsonObject(call)) throw invalidField(at, 'an object', call);
    const type = member(call, 'type') ?? 'function';
    if (type !== 'function')
      throw new GatewayError('unsupported_feature', `\`${at}\` must be a call of type "function"; no other can be rendered.`);
    return parseFunction(call.get('function'), optionalText(call, 'id', at), `${at}.function`);
  });
}

function parseFunction(value: JsonValue | undefined, id: string | null, path: string): ToolCall {
  if (!isJsonObject(value)) throw invalidField(path, 'an object with `name` and `arguments`', value);
  const name = value.get('name');
  if (typeof name !== 'string') throw invalidField(`${path}.name`, 'a string', name);
  const args = member(value, 'arguments') ?? '';
  if (typeof args !== 'string' && !isJsonObject(args)) throw invalidField(`${path}.arguments`, 'a string of JSON', args);
  return toolCall(id, name, args);
}
