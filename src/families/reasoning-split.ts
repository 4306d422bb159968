import type { ReplyText } from './family.js';
import type { MarkerScan } from './marker-scan.js';
import type { SpanBuilder } from './span-builder.js';

/** The delimiters of reasoning and the white space that the template itself prints around them. */
export interface ReasoningTags {
  readonly open: string;
  readonly close: string;
  /** Between the opening tag and the text. */
  readonly openPad: string;
  /** Between the text and the closing tag. */
  readonly closePad: string;
  /** Between the closing tag and the content. */
  readonly afterPad: string;
  /** What of `openPad` the generation prompt prints where it opens reasoning itself. */
  readonly promptPad: string;
}

export const THINK_TAGS: ReasoningTags = {
  open: '<think>',
  close: '</think>',
  openPad: '\n',
  closePad: '\n',
  afterPad: '\n\n',
  promptPad: '\n',
};

/** Tags without white space around them. */
export const tightTags = (open: string, close: string, afterPad = ''): ReasoningTags => ({
  open,
  close,
  openPad: '',
  closePad: '',
  afterPad,
  promptPad: '',
});

/**
 * Reads the reasoning at the beginning of a reply; the builder ends up where the rest starts. Answers false when the
 * reply ends inside it. A block elsewhere than at the beginning is left to the rest.
 */
export function splitReasoning(reply: ReplyText, scan: MarkerScan, builder: SpanBuilder, tags: ReasoningTags): boolean {
  const first = scan.skipSpace(0);
  const opens = scan.here(tags.open, first);
  if (!opens && !reply.reasoningOpen) return true;
  let start = opens ? first + tags.open.length : 0;
  const rest = tags.openPad.startsWith(tags.promptPad) ? tags.openPad.slice(tags.promptPad.length) : '';
  const pad = opens ? tags.openPad : rest;
  start += prefixLength(scan.body, start, pad);
  builder.markup(start);

  const close = scan.next(tags.close, start);
  if (close < 0) {
    builder.reasoning(builder.end);
    builder.illFormed();
    return false;
  }
  builder.reasoning(close - suffixLength(scan.body, start, close, tags.closePad));
  const behind = close + tags.close.length;
  builder.markup(behind + prefixLength(scan.body, behind, tags.afterPad));
  return true;
}

/** How much of `pad`, from its beginning, stands at `offset`. */
export function prefixLength(text: string, offset: number, pad: string): number {
  let n = 0;
  while (n < pad.length && text[offset + n] === pad[n]) n++;
  return n;
}

/** The longest end of `pad` that `text` has before `end`, not reaching before `start`. */
export function suffixLength(text: string, start: number, end: number, pad: string): number {
  for (let n = Math.min(pad.length, end - start); n > 0; n--) {
    if (text.startsWith(pad.slice(pad.length - n), end - n)) return n;
  }
  return 0;
}
