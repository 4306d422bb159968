import { parseJson } from '../../src/canonical/json-parse.js';
import { compactJson } from '../../src/canonical/json-write.js';
import type { AssistantMessage, Message, ToolCall } from '../../src/canonical/message.js';

/** What real clients are known to do to a reply before they send it back (wire.md §7). */
export type Habit =
  | 'verbatim'
  | 'drops reasoning'
  | 'trims'
  | 'writes arguments anew'
  | 'renames ids'
  | 'empty content'
  | 'drops text beside calls'
  | 'repairs arguments'
  | 'names the turn';
export const HABITS: readonly Habit[] = [
  'verbatim',
  'drops reasoning',
  'trims',
  'writes arguments anew',
  'renames ids',
  'empty content',
  'drops text beside calls',
  'repairs arguments',
  'names the turn',
];

/** One entry of a client's history: a message of its own, or a reply that it got. */
export type Entry = { readonly own: Message } | { readonly reply: AssistantMessage; readonly turnId: string };

/** The history as a client with this habit sends it, newly made. */
export function sentBack(history: readonly Entry[], habit: Habit): Message[] {
  const renamed = new Map<string, string>();
  return history.map((entry) => {
    if ('reply' in entry) return echo(entry.reply, entry.turnId, habit, renamed);
    const { own } = entry;
    if (own.role !== 'tool' || own.toolCallId === null) return { ...own };
    return { ...own, toolCallId: renamed.get(own.toolCallId) ?? own.toolCallId };
  });
}

function echo(reply: AssistantMessage, turnId: string, habit: Habit, renamed: Map<string, string>): AssistantMessage {
  const copy = { ...reply, toolCalls: reply.toolCalls.map((call) => ({ ...call })) };
  switch (habit) {
    case 'drops reasoning':
      return { ...copy, reasoning: null };
    case 'trims':
      return { ...copy, content: copy.content?.trim() ?? null, reasoning: copy.reasoning?.trim() ?? null };
    case 'empty content':
      return { ...copy, content: copy.content === null || copy.content.trim() === '' ? ' ' : copy.content };
    case 'drops text beside calls':
      return copy.toolCalls.length > 0 ? { ...copy, content: null } : copy;
    case 'writes arguments anew':
      return {
        ...copy,
        toolCalls: copy.toolCalls.map((call) => (call.value === undefined ? call : { ...call, arguments: compactJson(call.value) })),
      };
    case 'repairs arguments':
      return { ...copy, toolCalls: copy.toolCalls.map((call) => (call.value === undefined ? argumentsOf(call, '{}') : call)) };
    case 'renames ids':
      return { ...copy, toolCalls: copy.toolCalls.map((call) => ({ ...call, id: rename(call.id, renamed) })) };
    case 'names the turn':
      return { ...copy, turnHint: turnId };
    case 'verbatim':
      return copy;
  }
}

function rename(id: string | null, renamed: Map<string, string>): string | null {
  if (id === null) return null;
  renamed.set(id, `own_${renamed.size}`);
  return renamed.get(id)!;
}

export const argumentsOf = (call: Omit<ToolCall, 'arguments' | 'value'>, text: string): ToolCall => ({
  ...call,
  arguments: text,
  value: jsonOf(text),
});

function jsonOf(text: string): ToolCall['value'] {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
