import { type BlockContext, type BlockGrammar, blockFamily } from './block-reader.js';
import type { Family } from './family.js';
import type { FamilyEntry } from './family-entry.js';
import { callOfObject } from './json-call.js';
import { locateJson, locateObject } from './json-scan.js';
import type { Hit } from './marker-scan.js';
import type { ReplyShape } from './reply-shape.js';
import type { ReadCall } from './span-builder.js';
import { callsOpener, FIRST_TOOL, leadingMarker } from './template-probe.js';

interface ListTags {
  readonly name: string;
  readonly open: string;
  /** `null` where the list itself is the end. */
  readonly close: string | null;
  readonly nativeIds: boolean;
  /** Whether the objects stand in a list, else side by side. */
  readonly listed: boolean;
}

const MISTRAL: ListTags = { name: 'mistral', open: '[TOOL_CALLS]', close: null, nativeIds: true, listed: true };

/** Mistral up to v7, `[TOOL_CALLS] [{"name": "f", "arguments": {…}, "id": "…"}, …]`, and whoever puts a JSON list between tags. */
export const mistral: FamilyEntry = {
  name: MISTRAL.name,
  make: (shape) => jsonListFamily(MISTRAL, shape),
  usual: { reasoning: null, callLead: '', stops: ['</s>'] },
  recognise({ text, turnEnd }) {
    const list = printedList(text);
    const open = list === null ? null : callsOpener(text, list.start);
    if (list === null || open === null) return null;
    const behind = leadingMarker(text.slice(list.end));
    const close = behind === null || behind === turnEnd || !/^<[/|]/.test(behind) || open === MISTRAL.open ? null : behind;
    const nativeIds = text.slice(list.start, list.end).includes('"id"');
    return (shape) =>
      jsonListFamily(
        { name: open === MISTRAL.open ? MISTRAL.name : 'json-list', open, close, nativeIds, listed: text[list.start] === '[' },
        shape,
      );
  },
};

/** Where the list of calls stands in a print, or two objects that only white space parts. */
function printedList(text: string): { readonly start: number; readonly end: number } | null {
  const object = new RegExp(`\\{[^{}]*"(?:name|tool_name)"\\s*:\\s*"${FIRST_TOOL}"`).exec(text)?.index;
  if (object === undefined) return null;
  const bracket = text.slice(0, object).trimEnd().length - 1;
  if (text[bracket] === '[') return locateJson(text, bracket);
  const first = locateObject(text, object);
  const second = first === null ? null : locateObject(text, text.indexOf('{', first.end));
  if (first === null || second === null || text.slice(first.end, second.start).trim() !== '') return null;
  return { start: object, end: second.end };
}

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
  if (tags.listed !== (scan.body[start] === '[')) builder.illFormed();
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

/** The calls of the list, or of the objects that stand side by side, at `start`. */
function listedCalls(context: BlockContext, start: number): { items: readonly ListedCall[]; end: number } | null {
  const { scan } = context;
  const { body } = scan;
  const whole = body[start] === '[' ? locateJson(body, start) : null;
  if (body[start] === '[' && whole === null) return null;
  const items: ListedCall[] = [];
  for (let at = whole === null ? start : scan.skipSpace(start + 1); body[at] !== ']'; ) {
    const object = locateObject(body, at);
    const read = object === null ? null : callOfObject(object);
    if (object === null || read === null) return null;
    items.push({ start: object.start, end: object.end, ...read });
    at = scan.skipSpace(object.end);
    if (whole !== null && body[at] === ',') at = scan.skipSpace(at + 1);
    if (whole === null && body[at] !== '{') return { items, end: object.end };
  }
  return whole === null || items.length === 0 ? null : { items, end: whole.end };
}

function unreadEnd(context: BlockContext, opener: Hit, tags: ListTags): number {
  const { scan, builder } = context;
  const next = scan.next(tags.open, opener.end);
  const close = tags.close === null ? -1 : scan.next(tags.close, opener.end);
  if (tags.close !== null && close >= 0 && (next < 0 || close < next)) return close + tags.close.length;
  return next < 0 ? builder.end : next;
}
