import { isJsonObject } from '../canonical/json-value.js';
import { type BlockContext, type BlockGrammar, blockFamily } from './block-reader.js';
import type { Family } from './family.js';
import type { Hit } from './marker-scan.js';
import type { ReplyShape } from './reply-shape.js';
import { type CallAt, readSection, type Section } from './section-reader.js';
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
  const { open, close, callPrefix, callClose } = dialect;
  const closers = [...close.filter((tag) => !open.includes(tag)), ...(callClose === null ? [] : [callClose])];
  const tags: CallEnds = { closers, openers: callPrefix === null ? open : [...open, callPrefix] };
  const grammar: BlockGrammar = {
    name: dialect.name,
    callEnd: dialect.oneCall ? (close[0] ?? null) : callClose,
    nativeIds: false,
    openers: tags.openers,
    strays: closers,
    readBlock: dialect.oneCall ? (context, opener) => readOneCall(context, opener, dialect, tags) : sectionReader(dialect, tags),
  };
  return blockFamily(grammar, shape);
}

function sectionReader(dialect: CallDialect, tags: CallEnds): BlockGrammar['readBlock'] {
  const section: Section = {
    open: dialect.open,
    close: dialect.close,
    callOpen: dialect.callPrefix ?? '',
    callClose: dialect.callClose ?? '',
    callAt: (context, start) => callAt(context, start, dialect, tags),
  };
  return (context, opener) => readSection(context, opener, section);
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
  const close = read === null ? null : scan.hereOneOf(dialect.close, scan.skipSpace(read.end));
  if (read === null || (close === null && isBareName(read, dialect))) {
    builder.unparsed(blockEnd(context, opener, dialect));
    return;
  }
  if (bare || close === null || !read.closed) builder.illFormed();
  builder.call(close?.end ?? read.end, read.call);
}

/** A name that nothing follows may have been cut. */
const isBareName = ({ call }: CallAt, dialect: CallDialect): boolean =>
  dialect.callPrefix === null && isJsonObject(call.value) && call.value.size === 0;

/** Where a block that cannot be read ends: behind its closing tag, before the next block, or at the end of the reply. */
function blockEnd(context: BlockContext, opener: Hit, dialect: CallDialect): number {
  const { scan, builder } = context;
  const close = scan.nearest(dialect.close, opener.end);
  const next = scan.nearest(dialect.open, opener.end);
  if (close !== null && (next === null || close.start <= next.start)) return close.end;
  return next?.start ?? builder.end;
}
