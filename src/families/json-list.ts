import { type BlockContext, type BlockGrammar, blockFamily } from './block-reader.js';
import type { Family } from './family.js';
import type { FamilyEntry } from './family-entry.js';
import { callOfObject } from './json-call.js';
import { locateJson, locateObject } from './json-scan.js';
import type { Hit } from './marker-scan.js';
import type { ReplyShape } from './reply-shape.js';
import type { ReadCall } from './span-builder.js';
import { FIRST_TOOL, leadingMarker, trailingMarker } from './template-probe.js';

interface ListTags {
  readonly name: string;
  readonly open: string;
  /** `null` where the list itself is the end. */
  readonly close: string | null;
  readonly nativeIds: boolean;
}

const MISTRAL: ListTags = { name: 'mistral', open: '[TOOL_CALLS]', close: null, nativeIds: true };

/** Mistral up to v7, `[TOOL_CALLS] [{"name": "f", "arguments": {…}, "id": "…"}, …]`, and whoever puts a JSON list between tags. */
export const mistral: FamilyEntry = {
  name: MISTRAL.name,
  make: (shape) => jsonListFamily(MISTRAL, shape),
  usual: { reasoning: null, callLead: '', stops: ['</s>'] },
  recognise({ text, turnEnd }) {
    const start = new RegExp(`\\[\\s*\\{[^{}]*"(?:name|tool_name)"\\s*:\\s*"${FIRST_TOOL}"`).exec(text)?.index;
    const list = start === undefined ? null : locateJson(text, start);
    if (start === undefined || list === null) return null;
    const open = trailingMarker(text.slice(0, start));
    const behind = leadingMarker(text.slice(list.end));
    const close = behind === null || behind === turnEnd || !/^<[/|]/.test(behind) || open === MISTRAL.open ? null : behind;
    if (open === null) return null;
    const nativeIds = text.slice(start, list.end).includes('"id"');
    return (shape) => jsonListFamily({ name: open === MISTRAL.open ? MISTRAL.name : 'json-list', open, close, nativeIds }, shape);
  },
};

function jsonListFamily(tags: ListTags, shape: ReplyShape): Family {
  const grammar: BlockGrammar = {
    name: tags.name,
    callEnd: null,
    nativeIds: tags.nativeIds,
    openers: [tags.open],
    strays: tags.close === null ? [] : [tags.close],
    readBlock: (context, opener) => readList(context, opener, tags),
  };
  return blockFamily(grammar, shape);
}

/** A list that cannot be read whole is not read at all: where one call ends would be a guess. */
function readList(context: BlockContext, opener: Hit, tags: ListTags): void {
  const { scan, builder } = context;
  const start = scan.skipSpace(opener.end);
  const calls = listedCalls(context, start);
  if (calls === null) {
    builder.unparsed(unreadEnd(context, opener, tags));
    return;
  }
  if (scan.body[start] !== '[') builder.illFormed();
  for (const item of calls.items) {
    builder.markup(item.start);
    if (!item.complete) builder.illFormed();
    builder.call(item.end, item.call);
  }
  const close = scan.skipSpace(calls.end);
  if (tags.close === null) builder.markup(calls.end);
  else if (scan.here(tags.close, close)) builder.markup(close + tags.close.length);
  else {
    builder.markup(calls.end);
    builder.illFormed();
  }
}

interface ListedCall {
  readonly start: number;
  readonly end: number;
  readonly call: ReadCall;
  readonly complete: boolean;
}

/** The calls of the list, or of the single object, that begins at `start`. */
function listedCalls(context: BlockContext, start: number): { items: readonly ListedCall[]; end: number } | null {
  const { body } = context.scan;
  const whole = locateJson(body, start);
  if (whole === null) return null;
  const items: ListedCall[] = [];
  let at = body[start] === '[' ? context.scan.skipSpace(start + 1) : start;
  while (at < whole.end && body[at] !== ']') {
    const object = locateObject(body, at);
    const read = object === null ? null : callOfObject(object);
    if (object === null || read === null) return null;
    items.push({ start: object.start, end: object.end, ...read });
    at = context.scan.skipSpace(object.end);
    if (body[at] === ',') at = context.scan.skipSpace(at + 1);
  }
  return items.length === 0 ? null : { items, end: whole.end };
}

function unreadEnd(context: BlockContext, opener: Hit, tags: ListTags): number {
  const { scan, builder } = context;
  const next = scan.next(tags.open, opener.end);
  const close = tags.close === null ? -1 : scan.next(tags.close, opener.end);
  if (tags.close !== null && close >= 0 && (next < 0 || close < next)) return close + tags.close.length;
  return next < 0 ? builder.end : next;
}
