import { type BlockContext, MAX_UNREAD_BLOCKS } from './block-reader.js';
import type { Hit, MarkerScan } from './marker-scan.js';
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

type Part = { readonly start: number; readonly end: number; readonly read: CallAt | null };

/**
 * Reads a section, or a run of calls that stand outside of one. White space between calls is markup; anything else is
 * left unparsed, and reading goes on with the next call. A section without a call that can be read is unparsed whole.
 */
export function readSection(context: BlockContext, opener: Hit, section: Section): void {
  const { builder } = context;
  const bare = !section.open.includes(opener.marker);
  const parts: Part[] = [];
  const closed = collect(context, bare ? opener.start : opener.end, bare, section, parts);
  const end = closed?.end ?? parts.at(-1)?.end ?? opener.end;
  if (parts.every((part) => part.read === null)) {
    builder.unparsed(end);
    return;
  }
  if (bare ? section.open.length > 0 : closed === null && !context.stoppedAtCall) builder.illFormed();
  for (const { start, end: partEnd, read } of parts) {
    builder.markup(start);
    if (read === null) builder.unparsed(partEnd);
    else {
      if (!read.closed) builder.illFormed();
      builder.call(partEnd, read.call);
    }
  }
  builder.markup(end);
}

/** Fills `parts` from `from` on; answers the closing tag, or `null` where the section ends without one. */
function collect(context: BlockContext, from: number, bare: boolean, section: Section, parts: Part[]): Hit | null {
  const { scan } = context;
  let unread = 0;
  for (let at = scan.skipSpace(from); ; at = scan.skipSpace(parts.at(-1)?.end ?? at)) {
    const close = scan.hereOneOf(section.close, at);
    if (close !== null) return close;
    if (at >= scan.body.length || scan.hereOneOf(section.open, at) !== null) return null;
    const read = section.callAt(context, at);
    if (read === null && bare && parts.length > 0) return null;
    if (read === null) unread++;
    const end = unread < MAX_UNREAD_BLOCKS ? unreadEnd(scan, at, section) : scan.body.length;
    parts.push({ start: at, end: read?.end ?? end, read });
  }
}

/** Where a stretch of a section that is no call ends: behind a call's closing tag, before the next call or the section's end. */
function unreadEnd(scan: MarkerScan, start: number, section: Section): number {
  const next = scan.nearest([section.callOpen, ...section.close, ...section.open], start + 1);
  const close = scan.next(section.callClose, start);
  if (close >= 0 && (next === null || close < next.start)) return close + section.callClose.length;
  return next?.start ?? scan.body.length;
}
