import type { ToolDefinition } from '../canonical/message.js';
import type { Family, ParsedReply, ReplyText } from './family.js';
import { type Hit, MarkerScan } from './marker-scan.js';
import { prefixLength, splitReasoning, suffixLength } from './reasoning-split.js';
import type { ContentTags, ReplyShape } from './reply-shape.js';
import { SpanBuilder } from './span-builder.js';

/** What a grammar works with while it reads a block of calls. */
export interface BlockContext {
  readonly scan: MarkerScan;
  readonly builder: SpanBuilder;
  /** Whether sampling was stopped at the end of the first call, so that nothing behind it is missing. */
  readonly stoppedAtCall: boolean;
  tool(name: string): ToolDefinition | undefined;
}

/**
 * A grammar whose calls stand in blocks that begin with a marker, anywhere in the content.
 */
export interface BlockGrammar {
  readonly name: string;
  readonly callEnd: string | null;
  readonly nativeIds: boolean;
  /** Markers that begin a block. */
  readonly openers: readonly string[];
  /** Markers that mean nothing outside a block: where one was sampled, the reply is ill-formed. */
  readonly strays: readonly string[];
  /** Reads the block that begins with `opener`; the builder stands before it, and behind the block when this returns. */
  readBlock(context: BlockContext, opener: Hit): void;
}

/**
 * After so many blocks that could not be read, the rest of a reply is not tried: a model that repeats the beginning of a
 * call for ever would else cost the square of its length.
 */
export const MAX_UNREAD_BLOCKS = 64;

/** A family of a block grammar. */
export function blockFamily(grammar: BlockGrammar, shape: ReplyShape): Family {
  return {
    name: grammar.name,
    callEnd: grammar.callEnd,
    nativeIds: grammar.nativeIds,
    parse: (reply) => parseBlocks(grammar, shape, reply),
  };
}

function parseBlocks(grammar: BlockGrammar, shape: ReplyShape, given: ReplyText): ParsedReply {
  const stoppedAtCall = grammar.callEnd !== null && given.text.slice(given.stopStart) === grammar.callEnd;
  const reply = stoppedAtCall ? { ...given, stopStart: given.text.length } : given;
  const scan = new MarkerScan(reply);
  const builder = new SpanBuilder(reply.text, scan.body.length);
  if (shape.reasoning !== null && !splitReasoning(reply, scan, builder, shape.reasoning)) return builder.finish(grammar.name);
  if (builder.position === 0) builder.markup(leadLength(scan.body, shape.contentLead));

  const context: BlockContext = { scan, builder, stoppedAtCall, tool: toolFinder(reply.tools) };
  const tags = shape.contentTags ?? null;
  const strays = [
    ...grammar.strays,
    ...(shape.reasoning === null ? [] : [shape.reasoning.open, shape.reasoning.close]),
    ...(tags === null ? [] : [tags.open, tags.close]),
  ];
  let behindBlock = false;
  let unread = 0;
  for (;;) {
    const from = builder.position;
    const hit = scan.nearest(grammar.openers, from);
    const stray = scan.nearest(strays, from);
    if (stray !== null && (hit === null || stray.start < hit.start)) {
      if (tags !== null && (stray.marker === tags.open || stray.marker === tags.close)) readContentTag(context, stray, tags);
      else {
        builder.content(stray.start);
        builder.unparsed(stray.end);
      }
      continue;
    }
    if (hit === null) break;
    const blank = scan.isBlank(from, hit.start);
    if (!blank) builder.content(behindBlock ? hit.start : hit.start - suffixLength(scan.body, from, hit.start, shape.callLead));
    builder.lead(hit.start);
    grammar.readBlock(context, hit);
    if (builder.position <= hit.start) builder.unparsed(hit.end);
    behindBlock = true;
    if (builder.endsUnparsed && ++unread >= MAX_UNREAD_BLOCKS) builder.unparsed(builder.end);
  }
  if (behindBlock && !builder.endsUnparsed && scan.isBlank(builder.position, builder.end)) builder.markup(builder.end);
  return builder.finish(grammar.name);
}

/** A tag around content is markup, with the white space that belongs to it. */
function readContentTag({ scan, builder }: BlockContext, tag: Hit, tags: ContentTags): void {
  const from = builder.position;
  if (tag.marker === tags.open) {
    if (!scan.isBlank(from, tag.start)) builder.content(tag.start);
    builder.markup(tag.end + prefixLength(scan.body, tag.end, tags.openPad));
  } else {
    builder.content(tag.start - suffixLength(scan.body, from, tag.start, tags.closePad));
    builder.markup(tag.end + prefixLength(scan.body, tag.end, tags.afterPad));
  }
}

/** A lead counts only when it is there whole. */
const leadLength = (text: string, lead: string): number => (prefixLength(text, 0, lead) === lead.length ? lead.length : 0);

/** Looks a tool up by name; the first of equal names wins. */
export function toolFinder(tools: readonly ToolDefinition[]): (name: string) => ToolDefinition | undefined {
  let byName: Map<string, ToolDefinition> | null = null;
  return (name) => {
    if (byName === null) {
      byName = new Map();
      for (const tool of tools) if (!byName.has(tool.name)) byName.set(tool.name, tool);
    }
    return byName.get(name);
  };
}
