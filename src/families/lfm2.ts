import { type BlockContext, type BlockGrammar, blockFamily } from './block-reader.js';
import type { FamilyEntry } from './family-entry.js';
import type { Hit } from './marker-scan.js';
import { putCalls, readPythonCalls } from './python-calls.js';
import { tightTags } from './reasoning-split.js';
import type { ReplyShape } from './reply-shape.js';
import { FIRST_TOOL, leadingMarker, trailingMarker } from './template-probe.js';

interface ListTags {
  readonly open: string;
  readonly close: string;
}

const TAGS: ListTags = { open: '<|tool_call_start|>', close: '<|tool_call_end|>' };

/** LFM2 and whoever puts Python calls between tags: `<|tool_call_start|>[f(s='a', n=1), g()]<|tool_call_end|>`. */
export const lfm2: FamilyEntry = {
  name: 'lfm2',
  make: (shape) => pythonListFamily(TAGS, shape),
  usual: { reasoning: tightTags('<think>', '</think>'), callLead: '', stops: ['<|im_end|>'] },
  recognise({ text, turnEnd }) {
    const start = new RegExp(`\\[\\s*${FIRST_TOOL}\\(`).exec(text)?.index;
    if (start === undefined) return null;
    const open = trailingMarker(text.slice(0, start));
    const close = leadingMarker(text.slice(text.lastIndexOf(')]') + 2));
    if (open === null || close === null || close === turnEnd || open === '<|python_start|>') return null;
    return (shape) => pythonListFamily({ open, close }, shape);
  },
};

function pythonListFamily(tags: ListTags, shape: ReplyShape) {
  const grammar: BlockGrammar = {
    name: 'lfm2',
    callEnd: null,
    nativeIds: false,
    openers: [tags.open],
    strays: [tags.close],
    readBlock: (context, opener) => readList(context, opener, tags),
  };
  return blockFamily(grammar, shape);
}

function readList({ scan, builder }: BlockContext, opener: Hit, tags: ListTags): void {
  const calls = readPythonCalls(scan, scan.skipSpace(opener.end));
  const behind = calls === null ? opener.end : scan.skipSpace(calls.end);
  if (calls !== null && scan.here(tags.close, behind)) {
    putCalls(builder, calls);
    builder.markup(behind + tags.close.length);
    return;
  }
  const close = scan.next(tags.close, opener.end);
  const next = scan.next(tags.open, opener.end);
  const closed = close >= 0 && (next < 0 || close < next);
  if (calls === null || closed) builder.unparsed(closed ? close + tags.close.length : next < 0 ? builder.end : next);
  else {
    putCalls(builder, calls);
    builder.illFormed();
  }
}
