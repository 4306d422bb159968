import type { Family } from './family.js';
import type { FamilyEntry, MakeFamily, TurnSample, UsualShape } from './family-entry.js';
import { tightTags } from './reasoning-split.js';
import type { ReplyShape } from './reply-shape.js';
import { type CallDialect, taggedCallsFamily } from './tagged-calls.js';
import { FIRST_TOOL, leadingMarker, trailingMarker } from './template-probe.js';

interface KeyValueTags {
  readonly name: string;
  readonly open: string;
  readonly close: string;
}

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';

/** The next turn's opener ends a reply. */
const STOPS = ['<|user|>', '<|observation|>', '<|endoftext|>'];
const LOOSE: UsualShape = { reasoning: tightTags('<think>', '</think>', '\n'), contentLead: '\n', stops: STOPS };
const TIGHT: UsualShape = { reasoning: tightTags('<think>', '</think>'), callLead: '', stops: STOPS };

/** GLM 4.5 and 4.6: the function's name has a line of its own. */
export const glm45: FamilyEntry = keyValueEntry('glm-4.5', LOOSE, (sample) => /<\/arg_value>\n<arg_key>/.test(sample.text));

/** GLM 4.7 and 5: no white space anywhere. */
export const glm47: FamilyEntry = keyValueEntry('glm-4.7', TIGHT, (sample) =>
  sample.text.includes(`${FIRST_TOOL}<arg_key>s</arg_key><arg_value>`),
);

/** Ling 3: as GLM, with a line break between a key and its value. */
export const ling: FamilyEntry = keyValueEntry('ling', { ...TIGHT, callLead: '\n', stops: ['<|role_end|>'] }, () => true);

function keyValueEntry(name: string, usual: UsualShape, isLaidOut: (sample: TurnSample) => boolean): FamilyEntry {
  return {
    name,
    make: (shape) => keyValueFamily({ name, open: OPEN, close: CLOSE }, shape),
    usual,
    recognise: (sample) => (isLaidOut(sample) ? recogniseTags(name, sample) : null),
  };
}

function recogniseTags(name: string, { text }: TurnSample): MakeFamily | null {
  if (!/<arg_key>s<\/arg_key>\s*<arg_value>a b<\/arg_value>/.test(text)) return null;
  const open = trailingMarker(text.slice(0, text.indexOf(FIRST_TOOL)));
  const object = text.indexOf('1.5}</arg_value>');
  const close = object < 0 ? null : leadingMarker(text.slice(object + '1.5}</arg_value>'.length));
  return open === null || close === null ? null : (shape) => keyValueFamily({ name, open, close }, shape);
}

/**
 * `<tool_call>f<arg_key>k</arg_key><arg_value>v</arg_value>…</tool_call>`: values are text, strings as they are and the
 * rest as JSON. White space between tags means nothing.
 */
function keyValueFamily(tags: KeyValueTags, shape: ReplyShape): Family {
  const dialect: CallDialect = {
    name: tags.name,
    open: [tags.open],
    close: [...new Set([tags.close, CLOSE])],
    oneCall: true,
    callOpen: /([^\s<>{}"'()]+)/y,
    callPrefix: null,
    callClose: null,
    parameter: { open: /<arg_key>([^<>]+)<\/arg_key>\s*<arg_value>/y, openPrefix: '<arg_key>', close: '</arg_value>', valuePad: '' },
  };
  return taggedCallsFamily(dialect, shape);
}
