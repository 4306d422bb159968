import { isJsonObject, type JsonObject, type JsonValue } from '../../canonical/json-value.js';
import { compactJson } from '../../canonical/json-write.js';
import type { ToolCall } from '../../canonical/message.js';
import { holdsNaN, toolCall } from '../tool-arguments.js';

/** The member under which Claude Code itself hands back arguments that it could not read. */
const UNPARSED = '__unparsedToolInput';

/**
 * `tool_use.input` of a call as JSON: its value with order and spelling kept. Arguments that are no JSON object, which
 * the protocol has no place for, travel as text in `{"__unparsedToolInput": {"raw", "len"}}`.
 */
export function toolInputJson(call: ToolCall): string {
  if (isJsonObject(call.value) && !holdsNaN(call.value)) return compactJson(call.value);
  if (call.arguments.trim() === '') return '{}';
  return JSON.stringify({ [UNPARSED]: { raw: call.arguments, len: call.arguments.length } });
}

/** The call that a `tool_use` block came from. */
export function toolUseCall(id: string, name: string, input: JsonObject): ToolCall {
  const raw = input.size === 1 ? unparsedText(input.get(UNPARSED)) : null;
  return toolCall(id, name, raw ?? input);
}

function unparsedText(value: JsonValue | undefined): string | null {
  const raw = isJsonObject(value) ? value.get('raw') : undefined;
  return typeof raw === 'string' ? raw : null;
}
