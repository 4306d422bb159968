import { jsonEquals } from '../canonical/json-equal.js';
import type { JsonObject } from '../canonical/json-value.js';
import type { AssistantMessage, Message, ToolCall } from '../canonical/message.js';
import { HASH_SEED, hashJson, hashText, mix } from './text-hash.js';

/**
 * When two messages are the same message. Differences that do not count, by name:
 *
 * - `empty_text`: `null`, `""`, no member and white space alone are one and the same;
 * - `empty_reasoning`: the same for reasoning;
 * - `call_ids`: ids of calls are names, not content; a tool result belongs to the call that its id means (see `call-pairing.ts`);
 * - `json_spelling`: arguments compare as JSON values: order of keys, spacing, escapes, `1` against `1.0`;
 * - `blank_arguments`: no argument text at all is `{}`;
 * - `names`: `name` of a tool result is told by its call.
 *
 * Everything else counts: role, text to the last space, which calls in which order, `isError`.
 * What a protocol drops before (cache markers, billing lines, `refusal`, `annotations`) never gets here.
 */
export function sameMessage(a: Message, aCall: number, b: Message, bCall: number): boolean {
  if (a === b) return aCall === bCall;
  if (a.role !== b.role) return false;
  switch (a.role) {
    case 'assistant':
      return sameAssistant(a, b as AssistantMessage);
    case 'tool':
      return aCall === bCall && b.role === 'tool' && a.isError === b.isError && sameText(a.content, b.content);
    default:
      return sameText(a.content, b.content);
  }
}

/** Every member that counts, exactly as in {@link sameMessage}. */
export function sameAssistant(a: AssistantMessage, b: AssistantMessage): boolean {
  return sameText(a.content, b.content) && sameText(a.reasoning, b.reasoning) && sameCalls(a.toolCalls, b.toolCalls);
}

export function sameText(a: string | null, b: string | null): boolean {
  return a === b || solid(a) === solid(b);
}

export function sameCalls(a: readonly ToolCall[], b: readonly ToolCall[]): boolean {
  return a.length === b.length && a.every((call, i) => sameCall(call, b[i]!));
}

export function sameCall(a: ToolCall, b: ToolCall): boolean {
  return a.name === b.name && sameArguments(a, b);
}

export function sameArguments(a: ToolCall, b: ToolCall): boolean {
  if (a.arguments === b.arguments) return true;
  const x = argumentsValue(a);
  const y = argumentsValue(b);
  return x !== undefined && y !== undefined && jsonEquals(x, y);
}

/**
 * Hash of what {@link sameMessage} compares.
 * @param call place of the call that a tool result answers, -1 where unknown or not a tool result
 */
export function messageHash(message: Message, call: number): number {
  switch (message.role) {
    case 'assistant': {
      let hash = hashText(mix(HASH_SEED, 11), solid(message.content));
      hash = hashText(hash, solid(message.reasoning));
      for (const { name, ...rest } of message.toolCalls) hash = hashArguments(hashText(hash, name), { name, ...rest });
      return hash;
    }
    case 'tool':
      return hashText(mix(mix(HASH_SEED, 12), message.isError ? call + 0x1000 : call), solid(message.content));
    default:
      return hashText(mix(HASH_SEED, message.role === 'user' ? 13 : 14), solid(message.content));
  }
}

function hashArguments(hash: number, call: ToolCall): number {
  const value = argumentsValue(call);
  return value === undefined ? hashText(hash, call.arguments) : hashJson(hash, value);
}

const EMPTY_OBJECT: JsonObject = new Map();

function argumentsValue(call: ToolCall): ToolCall['value'] {
  return call.value === undefined && call.arguments.trim() === '' ? EMPTY_OBJECT : call.value;
}

const NOT_SPACE = /\S/;

/** The text, `""` where there is none or only white space. */
export function solid(text: string | null): string {
  return text !== null && NOT_SPACE.test(text) ? text : '';
}
