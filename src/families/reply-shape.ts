import type { ReplyText } from './family.js';
import type { ReasoningTags } from './reasoning-split.js';

/** What a template prints around the parts of a reply, as found by probing. */
export interface ReplyShape {
  readonly reasoning: ReasoningTags | null;
  /** White space at the beginning of a reply without reasoning. */
  readonly contentLead: string;
  /** White space between content and the first call. */
  readonly callLead: string;
  /** Tags around the content itself, where the template prints some. */
  readonly contentTags?: ContentTags | null;
}

export interface ContentTags {
  readonly open: string;
  readonly close: string;
  /** White space between the tags and the content, and behind the closing one. */
  readonly openPad: string;
  readonly closePad: string;
  readonly afterPad: string;
}

/** A reply that is known as text only, without a stop. */
export const plainReply = (text: string): ReplyText => ({
  text,
  stopStart: text.length,
  isMarker: () => true,
  reasoningOpen: false,
  tools: [],
});
