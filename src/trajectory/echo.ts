import { jsonEquals } from '../canonical/json-equal.js';
import { isJsonArray, isJsonObject, JsonFloat, type JsonValue } from '../canonical/json-value.js';
import type { AssistantMessage } from '../canonical/message.js';
import { messageHash, sameAssistant, sameCall, solid } from './identity.js';

/**
 * How well a client's assistant message fits a message that we sampled.
 *
 * - `exact`: nothing that counts differs;
 * - `close`: only what clients are known to do to a reply: text or reasoning trimmed, reasoning dropped;
 * - `none`: another message.
 *
 * With `known` (an id of a call, or a thinking signature, named this very turn) more habits are forgiven, because
 * the turn need not be guessed: text beside calls that was dropped, numbers of arguments that a client's doubles cannot
 * hold, and calls whose arguments are not JSON, which clients replace by `{}` or by a note, or rename to `invalid`.
 */
export type EchoFit = 'exact' | 'close' | 'none';

export function echoFit(echo: AssistantMessage, shown: AssistantMessage, known: boolean): EchoFit {
  if (sameAssistant(echo, shown)) return 'exact';
  return textFits(echo, shown, known) && reasoningFits(echo, shown) && callsFit(echo, shown, known) ? 'close' : 'none';
}

function textFits(echo: AssistantMessage, shown: AssistantMessage, known: boolean): boolean {
  const text = trimmed(echo.content);
  return text === trimmed(shown.content) || (known && text === '' && echo.toolCalls.length > 0);
}

function reasoningFits(echo: AssistantMessage, shown: AssistantMessage): boolean {
  const reasoning = trimmed(echo.reasoning);
  return reasoning === '' || reasoning === trimmed(shown.reasoning);
}

function callsFit(echo: AssistantMessage, shown: AssistantMessage, known: boolean): boolean {
  if (echo.toolCalls.length !== shown.toolCalls.length) return false;
  return shown.toolCalls.every((call, i) => {
    const other = echo.toolCalls[i]!;
    if (sameCall(call, other)) return true;
    if (!known || other.id !== call.id) return false;
    if (call.value !== undefined) {
      return other.name === call.name && other.value !== undefined && jsonEquals(asDoubles(call.value), asDoubles(other.value));
    }
    return other.name === call.name || other.name === 'invalid';
  });
}

/** What a client makes of a value that reads numbers as doubles and writes those beyond them as `null`. */
function asDoubles(value: JsonValue): JsonValue {
  const x = value instanceof JsonFloat ? value.value : value;
  if (typeof x === 'number' || typeof x === 'bigint') return Number.isFinite(Number(x)) ? Number(x) : null;
  if (isJsonArray(value)) return value.map(asDoubles);
  return isJsonObject(value) ? new Map([...value].map(([name, item]) => [name, asDoubles(item)])) : value;
}

function trimmed(text: string | null): string {
  return solid(text).trim();
}

/** Equal for all messages that fit each other without `known`: trimmed text and calls, no reasoning. */
export function echoHash(message: AssistantMessage): number {
  return messageHash({ role: 'assistant', content: trimmed(message.content), reasoning: null, toolCalls: message.toolCalls }, -1);
}
