import type { Family } from './family.js';
import type { FamilyEntry, MakeFamily, TurnSample } from './family-entry.js';
import { tightTags } from './reasoning-split.js';
import type { ReplyShape } from './reply-shape.js';
import { type CallDialect, taggedCallsFamily } from './tagged-calls.js';
import { FIRST_TOOL, leadingMarker, trailingMarker } from './template-probe.js';

export interface FunctionTags {
  readonly name: string;
  readonly open: string;
  readonly close: string;
  readonly valuePad: string;
}

const QWEN3_CODER_TAGS: FunctionTags = { name: 'qwen3-coder', open: '<tool_call>', close: '</tool_call>', valuePad: '\n' };
const SEED_OSS_TAGS: FunctionTags = { name: 'seed-oss', open: '<seed:tool_call>', close: '</seed:tool_call>', valuePad: '' };

export const qwen3Coder: FamilyEntry = {
  name: QWEN3_CODER_TAGS.name,
  make: (shape) => functionTagsFamily(QWEN3_CODER_TAGS, shape),
  usual: { callLead: '\n\n', stops: ['<|im_end|>'] },
  recognise: (sample) => recogniseTags(sample, (open) => open !== SEED_OSS_TAGS.open),
};

export const seedOss: FamilyEntry = {
  name: SEED_OSS_TAGS.name,
  make: (shape) => functionTagsFamily(SEED_OSS_TAGS, shape),
  usual: { reasoning: tightTags('<seed:think>', '</seed:think>', '\n'), callLead: '\n\n', stops: ['<seed:eos>'] },
  recognise: (sample) => recogniseTags(sample, (open) => open === SEED_OSS_TAGS.open),
};

function recogniseTags({ text }: TurnSample, accepts: (open: string) => boolean): MakeFamily | null {
  const start = text.indexOf(`<function=${FIRST_TOOL}>`);
  const value = /<parameter=s>(\n?)a b(\n?)<\/parameter>/.exec(text);
  if (start < 0 || value === null) return null;
  const functionEnd = text.indexOf('</function>', start);
  const open = trailingMarker(text.slice(0, start));
  const close = functionEnd < 0 ? null : leadingMarker(text.slice(functionEnd + '</function>'.length));
  if (open === null || close === null || !accepts(open)) return null;
  const name = open === SEED_OSS_TAGS.open ? SEED_OSS_TAGS.name : QWEN3_CODER_TAGS.name;
  return (shape) => functionTagsFamily({ name, open, close, valuePad: value[1] ?? '' }, shape);
}

/**
 * Qwen3-Coder, Qwen3.5 and later, Nemotron 3, Seed-OSS:
 * `<tool_call>\n<function=f>\n<parameter=k>\nvalue\n</parameter>\n</function>\n</tool_call>`. Values are text, typed by the
 * tool's schema. A `<function=` without the outer tag is read and marked ill-formed.
 */
export function functionTagsFamily(tags: FunctionTags, shape: ReplyShape): Family {
  const dialect: CallDialect = {
    name: tags.name,
    open: [tags.open],
    close: [tags.close],
    oneCall: true,
    callOpen: /<function=([^<>\n]+)>/y,
    callPrefix: '<function=',
    callClose: '</function>',
    parameter: { open: /<parameter=([^<>\n]+)>/y, openPrefix: '<parameter=', close: '</parameter>', valuePad: tags.valuePad },
  };
  return taggedCallsFamily(dialect, shape);
}
