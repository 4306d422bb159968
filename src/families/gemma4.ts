import { writeJson } from '../canonical/json-write.js';
import { type BlockContext, type BlockGrammar, blockFamily } from './block-reader.js';
import type { Family } from './family.js';
import type { FamilyEntry, MakeFamily } from './family-entry.js';
import { readBraces } from './gemma-values.js';
import type { Hit } from './marker-scan.js';
import type { ReplyShape } from './reply-shape.js';
import { FIRST_TOOL, leadingMarker, trailingMarker } from './template-probe.js';

export interface GemmaTags {
  readonly name: string;
  readonly open: string;
  readonly close: string;
  /** What stands on both sides of a string. */
  readonly quote: string;
}

const TAGS: GemmaTags = { name: 'gemma4', open: '<|tool_call>', close: '<tool_call|>', quote: '<|"|>' };

/** Gemma 4, and FunctionGemma with other tags: `<|tool_call>call:f{n:1,s:<|"|>a<|"|>}<tool_call|>`. */
export const gemma4: FamilyEntry = {
  name: TAGS.name,
  make: (shape) => gemmaFamily(TAGS, shape),
  usual: {
    reasoning: { open: '<|channel>thought', close: '<channel|>', openPad: '\n', closePad: '\n', afterPad: '', promptPad: '' },
    callLead: '',
    stops: ['<turn|>', '<|tool_response>'],
  },
  recognise({ text }): MakeFamily | null {
    const start = text.indexOf(`call:${FIRST_TOOL}{`);
    const quote = /s:(<[^<>]+>)a b(<[^<>]+>)/.exec(text);
    if (start < 0 || quote?.[1] === undefined) return null;
    const open = trailingMarker(text.slice(0, start));
    const end = quote.index + text.slice(quote.index).search(/\}\s*</) + 1;
    const close = leadingMarker(text.slice(end));
    if (open === null || close === null) return null;
    const tags: GemmaTags = { name: open === TAGS.open ? TAGS.name : 'function-gemma', open, close, quote: quote[1] };
    return (shape) => gemmaFamily(tags, shape);
  },
};

function gemmaFamily(tags: GemmaTags, shape: ReplyShape): Family {
  const grammar: BlockGrammar = {
    name: tags.name,
    callEnd: tags.close,
    nativeIds: false,
    openers: [tags.open],
    strays: [tags.close],
    readBlock: (context, opener) => readCall(context, opener, tags),
  };
  return blockFamily(grammar, shape);
}

const HEAD = /\s*call:([^\s{}<>]+)\s*(?=\{)/y;

function readCall(context: BlockContext, opener: Hit, tags: GemmaTags): void {
  const { scan, builder } = context;
  HEAD.lastIndex = opener.end;
  const name = HEAD.exec(scan.body)?.[1];
  const read = name === undefined ? null : readBraces(scan, HEAD.lastIndex, tags.quote);
  const behind = read === null ? opener.end : scan.skipSpace(read.end);
  if (name !== undefined && read !== null && (scan.here(tags.close, behind) || behind >= builder.end || scan.here(tags.open, behind))) {
    const closed = scan.here(tags.close, behind);
    if (!closed) builder.illFormed();
    const error = read.unquoted === null ? null : { code: 'unquoted_value', message: `the value ${read.unquoted} has no quotes` };
    builder.call(closed ? behind + tags.close.length : read.end, {
      name,
      arguments: writeJson(read.value),
      value: read.value,
      error,
      id: null,
    });
    return;
  }
  const close = scan.next(tags.close, opener.end);
  const next = scan.next(tags.open, opener.end);
  const closed = close >= 0 && (next < 0 || close < next);
  builder.unparsed(closed ? close + tags.close.length : next < 0 ? builder.end : next);
}
