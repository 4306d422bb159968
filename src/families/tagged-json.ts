import { type BlockContext, type BlockGrammar, blockFamily } from './block-reader.js';
import type { Family } from './family.js';
import type { FamilyEntry } from './family-entry.js';
import { callOfObject } from './json-call.js';
import { locateObject } from './json-scan.js';
import type { Hit } from './marker-scan.js';
import type { ReplyShape } from './reply-shape.js';
import { callsOpener, FIRST_TOOL, leadingMarker } from './template-probe.js';

export interface TaggedJsonTags {
  readonly name: string;
  readonly open: string;
  readonly close: string;
}

const HERMES_TAGS: TaggedJsonTags = { name: 'hermes', open: '<tool_call>', close: '</tool_call>' };

export const hermes: FamilyEntry = {
  name: HERMES_TAGS.name,
  make: (shape) => taggedJsonFamily(HERMES_TAGS, shape),
  usual: { stops: ['<|im_end|>'] },
  recognise({ text, turnEnd }) {
    const start = new RegExp(`\\{\\s*"name"\\s*:\\s*"${FIRST_TOOL}"`).exec(text)?.index;
    const object = start === undefined ? null : locateObject(text, start);
    if (start === undefined || object === null) return null;
    const open = callsOpener(text, start);
    const close = leadingMarker(text.slice(object.end));
    if (open === null || close === null || close === turnEnd) return null;
    return (shape) => taggedJsonFamily({ name: open === HERMES_TAGS.open ? HERMES_TAGS.name : 'tagged-json', open, close }, shape);
  },
};

/**
 * Hermes, Qwen 2.5, Qwen3 and all who put one JSON object between two tags:
 * `<tool_call>\n{"name": "f", "arguments": {…}}\n</tool_call>`, repeated for parallel calls.
 */
export function taggedJsonFamily(tags: TaggedJsonTags, shape: ReplyShape): Family {
  const grammar: BlockGrammar = {
    name: tags.name,
    callEnd: tags.close,
    nativeIds: false,
    openers: [tags.open],
    strays: [tags.close],
    readBlock: (context, opener) => readTagged(context, opener, tags),
  };
  return blockFamily(grammar, shape);
}

function readTagged(context: BlockContext, opener: Hit, tags: TaggedJsonTags): void {
  const { scan, builder } = context;
  const object = locateObject(scan.body, scan.skipSpace(opener.end));
  const read = object === null ? null : callOfObject(object);
  const behind = object?.end ?? opener.end;
  const close = scan.next(tags.close, behind);
  const next = scan.next(tags.open, behind);
  const closed = close >= 0 && (next < 0 || close < next);
  if (read === null || object === null || (closed && !scan.isBlank(object.end, close))) {
    builder.unparsed(closed ? close + tags.close.length : next >= 0 ? next : builder.end);
    return;
  }
  if (!closed || !read.complete) builder.illFormed();
  builder.call(closed ? close + tags.close.length : object.end, read.call);
}
