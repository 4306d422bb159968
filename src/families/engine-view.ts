import { writeJson } from '../canonical/json-write.js';
import type { Family, ParsedCall, ParsedReply, ReplyText, Span } from './family.js';

export type ToolParsing = 'strict' | 'vllm' | 'sglang';

/** Families whose parsers in vLLM give no call at all where one of them cannot be read. */
const ALL_OR_NOTHING: ReadonlySet<string> = new Set([
  'hermes',
  'tagged-json',
  'mistral',
  'json-list',
  'llama3-json',
  'llama3-pythonic',
  'llama4',
  'lfm2',
]);

/**
 * The calls and content that an engine's own parser would have given for the same text, for those who train with it;
 * reasoning, spans and `illFormed` stay ours. What each does is in the versions named:
 *
 * - `strict`: the reply as parsed here.
 * - `vllm` (0.12 to 0.32): where one call of a JSON grammar is broken, everything behind the reasoning is content and
 *   there are no calls; grammars of tags drop what they cannot read. Content ends before the first call. Arguments are
 *   written anew from their value.
 * - `sglang` (0.5): calls without a closing marker, calls that cannot be read and calls of functions that were not
 *   offered are dropped; content ends before the first call and is trimmed. Arguments are written anew.
 */
export function engineView(
  parsed: ParsedReply,
  reply: Pick<ReplyText, 'text' | 'stopStart' | 'tools'>,
  mode: ToolParsing,
  family: Pick<Family, 'name' | 'callEnd'>,
): ParsedReply {
  if (mode === 'strict') return parsed;
  const block = parsed.spans.find((span) => span.kind === 'tool_call' || span.kind === 'unparsed');
  if (block === undefined) return parsed;
  const before = contentBefore(parsed.spans, block.start, reply.text);
  if (mode === 'sglang') {
    const known = new Set(reply.tools.map((tool) => tool.name));
    const kept = parsed.toolCalls.filter((call) => known.has(call.name) && isClosed(call, reply.text, family.callEnd));
    return { ...parsed, content: before.trim(), toolCalls: kept.map(rewritten) };
  }
  const broken =
    parsed.spans.some((span) => span.kind === 'unparsed') || parsed.toolCalls.some((call) => call.error?.code === 'missing_arguments');
  if (broken && ALL_OR_NOTHING.has(family.name)) {
    return { ...parsed, content: reply.text.slice(contentStart(parsed.spans, reply.text), reply.stopStart), toolCalls: [] };
  }
  return { ...parsed, content: before, toolCalls: parsed.toolCalls.map(rewritten) };
}

/** The content without what could not be read, for agents that shall not see broken calls. */
export function contentWithoutUnparsed(parsed: ParsedReply, text: string): string {
  return parsed.spans
    .filter((span) => span.kind === 'content')
    .map((span) => text.slice(span.start, span.end))
    .join('');
}

const rewritten = (call: ParsedCall): ParsedCall => (call.value === undefined ? call : { ...call, arguments: writeJson(call.value) });

/** A call at the end of a grammar without closing markers is as closed as it can be. */
const isClosed = (call: ParsedCall, text: string, callEnd: string | null): boolean =>
  callEnd === null || text.slice(call.start, call.end).trimEnd().endsWith(callEnd);

/** Behind the tag that closes reasoning; white space that the template prints there is content to an engine. */
function contentStart(spans: readonly Span[], text: string): number {
  const last = spans.findLastIndex((span) => span.kind === 'reasoning');
  const close = spans[last + 1];
  if (close === undefined || close.kind !== 'markup') return last < 0 ? 0 : (spans[last]?.end ?? 0);
  if (last < 0 && !text.slice(close.start, close.end).includes('>')) return 0;
  return close.start + text.slice(close.start, close.end).trimEnd().length;
}

function contentBefore(spans: readonly Span[], block: number, text: string): string {
  const start = contentStart(spans, text);
  const words = spans.findLast((span) => span.kind === 'content' && span.end <= block);
  if (words === undefined) return '';
  const space = /^\s*/.exec(text.slice(words.end, block))?.[0] ?? '';
  return text.slice(start, words.end) + space;
}
