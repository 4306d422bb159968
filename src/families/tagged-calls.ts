import { type BlockContext, type BlockGrammar, blockFamily } from './block-reader.js';
import type { Family } from './family.js';
import type { Hit } from './marker-scan.js';
import type { ReplyShape } from './reply-shape.js';
import type { ReadCall } from './span-builder.js';
import { type CallEnds, callOfParameters, type ParameterDialect, readParameters } from './tagged-parameters.js';

/** A grammar that writes calls and parameters with tags. */
export interface CallDialect {
  readonly name: string;
  /** Opening tags of a block. The first is what the template prints, the others are accepted; so with `close`. */
  readonly open: readonly string[];
  readonly close: readonly string[];
  /** Whether a block holds one call, so that its tags belong to the call; else it is a section of calls. */
  readonly oneCall: boolean;
  /** Sticky; matches the opening of a call, its group is the function's name. */
  readonly callOpen: RegExp;
  /** What a call's own opening tag begins with; `null` where the bare name stands behind the block's tag. */
  readonly callPrefix: string | null;
  readonly callClose: string | null;
  readonly parameter: ParameterDialect;
}

export function taggedCallsFamily(dialect: CallDialect, shape: ReplyShape): Family {
  const closers = [
    ...dialect.close.filter((close) => !dialect.open.includes(close)),
    ...(dialect.callClose === null ? [] : [dialect.callClose]),
  ];
  const tags: CallEnds = { closers, openers: dialect.callPrefix === null ? dialect.open : [...dialect.open, dialect.callPrefix] };
  const read = dialect.oneCall ? readOneCall : readSection;
  const grammar: BlockGrammar = {
    name: dialect.name,
    callEnd: dialect.oneCall ? (dialect.close[0] ?? null) : dialect.callClose,
    nativeIds: false,
    openers: tags.openers,
    strays: closers,
    readBlock: (context, opener) => read(context, opener, dialect, tags),
  };
  return blockFamily(grammar, shape);
}

interface CallAt {
  readonly call: ReadCall;
  readonly end: number;
  readonly closed: boolean;
}

/** Reads the call at `start` up to and with its own closing tag. */
function callAt(context: BlockContext, start: number, dialect: CallDialect, tags: CallEnds): CallAt | null {
  const { scan } = context;
  dialect.callOpen.lastIndex = start;
  const name = dialect.callOpen.exec(scan.body)?.[1]?.trim();
  if (name === undefined || name === '') return null;
  const read = readParameters(scan, dialect.callOpen.lastIndex, tags, dialect.parameter);
  if (read === null) return null;
  const call = callOfParameters(name, read.parameters, context.tool(name));
  if (dialect.callClose === null) return { call, end: read.end, closed: read.closed };
  const close = scan.skipSpace(read.end);
  if (!scan.here(dialect.callClose, close)) return { call, end: read.end, closed: false };
  return { call, end: close + dialect.callClose.length, closed: read.closed };
}

function readOneCall(context: BlockContext, opener: Hit, dialect: CallDialect, tags: CallEnds): void {
  const { scan, builder } = context;
  const bare = !dialect.open.includes(opener.marker);
  const read = callAt(context, bare ? opener.start : scan.skipSpace(opener.end), dialect, tags);
  if (read === null) {
    builder.unparsed(blockEnd(context, opener, dialect));
    return;
  }
  const close = scan.hereOneOf(dialect.close, scan.skipSpace(read.end));
  if (bare || close === null || !read.closed) builder.illFormed();
  builder.call(close?.end ?? read.end, read.call);
}

/** Where a block that cannot be read ends: behind its closing tag, before the next block, or at the end of the reply. */
function blockEnd(context: BlockContext, opener: Hit, dialect: CallDialect): number {
  const { scan, builder } = context;
  const close = scan.nearest(dialect.close, opener.end);
  const next = scan.nearest(dialect.open, opener.end);
  if (close !== null && (next === null || close.start <= next.start)) return close.end;
  return next?.start ?? builder.end;
}

function readSection(context: BlockContext, opener: Hit, dialect: CallDialect, tags: CallEnds): void {
  const { scan, builder } = context;
  const bare = !dialect.open.includes(opener.marker);
  if (bare) {
    if (dialect.open.length > 0) builder.illFormed();
  } else {
    const first = scan.skipSpace(opener.end);
    const empty = scan.hereOneOf(dialect.close, first);
    if (empty !== null || first >= builder.end) {
      builder.unparsed(empty?.end ?? builder.end);
      return;
    }
    builder.markup(opener.end);
  }
  for (;;) {
    const at = scan.skipSpace(builder.position);
    const close = scan.hereOneOf(dialect.close, at);
    if (close !== null) {
      builder.markup(close.end);
      return;
    }
    if (at >= builder.end || scan.hereOneOf(dialect.open, at) !== null) {
      if (!bare && !context.stoppedAtCall) builder.illFormed();
      return;
    }
    const read = callAt(context, at, dialect, tags);
    if (read === null) {
      if (bare && at > opener.start) return;
      builder.unparsed(unreadEnd(context, at, dialect, tags));
    } else {
      builder.markup(at);
      if (!read.closed) builder.illFormed();
      builder.call(read.end, read.call);
    }
  }
}

/** Where a stretch of a section that is no call ends: behind the call's closing tag, or before the next call or the section's end. */
function unreadEnd(context: BlockContext, start: number, dialect: CallDialect, tags: CallEnds): number {
  const { scan, builder } = context;
  const next = scan.nearest([...dialect.close, ...tags.openers], start + 1);
  const close = dialect.callClose === null ? -1 : scan.next(dialect.callClose, start);
  if (close >= 0 && dialect.callClose !== null && (next === null || close < next.start)) return close + dialect.callClose.length;
  return next?.start ?? builder.end;
}
