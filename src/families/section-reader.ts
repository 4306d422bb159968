import type { BlockContext } from './block-reader.js';
import type { Hit } from './marker-scan.js';
import type { ReadCall } from './span-builder.js';

export interface CallAt {
  readonly call: ReadCall;
  readonly end: number;
  /** Whether the call had its closing tag. */
  readonly closed: boolean;
}

/** A block that holds any number of calls with tags of their own. */
export interface Section {
  readonly open: readonly string[];
  readonly close: readonly string[];
  /** What a call begins with. */
  readonly callOpen: string;
  readonly callClose: string;
  /** Reads the call at an offset; `null` where there is none that can be read. */
  readonly callAt: (context: BlockContext, start: number) => CallAt | null;
}

/**
 * Reads a section, or a run of calls that stand outside of one. White space between calls is markup; anything else is
 * left unparsed, and reading goes on with the next call.
 */
export function readSection(context: BlockContext, opener: Hit, section: Section): void {
  const { scan, builder } = context;
  const bare = !section.open.includes(opener.marker);
  if (!bare) {
    const first = scan.skipSpace(opener.end);
    const empty = scan.hereOneOf(section.close, first);
    if (empty !== null || first >= builder.end) {
      builder.unparsed(empty?.end ?? builder.end);
      return;
    }
    builder.markup(opener.end);
  } else if (section.open.length > 0) builder.illFormed();

  for (;;) {
    const at = scan.skipSpace(builder.position);
    const close = scan.hereOneOf(section.close, at);
    if (close !== null) {
      builder.markup(close.end);
      return;
    }
    if (at >= builder.end || scan.hereOneOf(section.open, at) !== null) {
      if (!bare && !context.stoppedAtCall) builder.illFormed();
      return;
    }
    const read = section.callAt(context, at);
    if (read !== null) {
      builder.markup(at);
      if (!read.closed) builder.illFormed();
      builder.call(read.end, read.call);
    } else if (bare && at > opener.start) return;
    else builder.unparsed(unreadEnd(context, at, section));
  }
}

/** Where a stretch of a section that is no call ends: behind a call's closing tag, before the next call or the section's end. */
function unreadEnd(context: BlockContext, start: number, section: Section): number {
  const { scan, builder } = context;
  const next = scan.nearest([section.callOpen, ...section.close, ...section.open], start + 1);
  const close = scan.next(section.callClose, start);
  if (close >= 0 && (next === null || close < next.start)) return close + section.callClose.length;
  return next?.start ?? builder.end;
}
