import type { Family } from './family.js';
import type { FamilyEntry } from './family-entry.js';
import { tightTags } from './reasoning-split.js';
import type { ReplyShape } from './reply-shape.js';
import { type CallDialect, taggedCallsFamily } from './tagged-calls.js';
import { FIRST_TOOL, leadingMarker, trailingMarker } from './template-probe.js';

interface InvokeTags {
  readonly name: string;
  /** Tags of the section; none where calls stand by themselves. */
  readonly open: readonly string[];
  readonly close: readonly string[];
  /** Tag of a call and of a parameter, such as `invoke` and `parameter`. */
  readonly call: string;
  readonly parameter: string;
}

const MINIMAX_TAGS: InvokeTags = {
  name: 'minimax-m2',
  open: ['<minimax:tool_call>'],
  close: ['</minimax:tool_call>'],
  call: 'invoke',
  parameter: 'parameter',
};

const DSML = '｜DSML｜';
/** V3.2 calls the section `function_calls`, V4 `tool_calls`. */
const DSML_TAGS: InvokeTags = {
  name: 'deepseek-dsml',
  open: ['function_calls', 'tool_calls'].map((tag) => `<${DSML}${tag}>`),
  close: ['function_calls', 'tool_calls'].map((tag) => `</${DSML}${tag}>`),
  call: `${DSML}invoke`,
  parameter: `${DSML}parameter`,
};

/** DeepSeek V3.2 and V4, which say of every value whether it is a string or JSON. */
export const deepseekDsml: FamilyEntry = {
  name: DSML_TAGS.name,
  make: (shape) => invokeTagsFamily(DSML_TAGS, shape),
  usual: { reasoning: tightTags('<think>', '</think>'), callLead: '\n\n', stops: ['<｜end▁of▁sentence｜>'] },
  recognise: ({ text }) => (text.includes(`<${DSML}invoke name="${FIRST_TOOL}">`) ? (shape) => invokeTagsFamily(DSML_TAGS, shape) : null),
};

/** MiniMax M2, and every grammar of the same kind with other words. */
export const minimaxM2: FamilyEntry = {
  name: MINIMAX_TAGS.name,
  make: (shape) => invokeTagsFamily(MINIMAX_TAGS, shape),
  usual: { stops: ['[e~['] },
  recognise({ text, turnEnd }) {
    const call = new RegExp(`<([^\\s<>]+) name="${FIRST_TOOL}">`).exec(text);
    const parameter = /<([^\s<>]+) name="s">a b<\//.exec(text);
    if (call === null || parameter === null) return null;
    const tag = call[1] ?? '';
    const open = trailingMarker(text.slice(0, call.index));
    const close = leadingMarker(text.slice(text.lastIndexOf(`</${tag}>`) + tag.length + 3));
    const wrapped = open !== null && close !== null && close !== turnEnd && close.startsWith('</');
    const tags: InvokeTags = {
      name: open === MINIMAX_TAGS.open[0] ? MINIMAX_TAGS.name : 'invoke-tags',
      open: wrapped ? [open] : [],
      close: wrapped ? [close] : [],
      call: tag,
      parameter: parameter[1] ?? '',
    };
    return (shape) => invokeTagsFamily(tags, shape);
  },
};

/**
 * A section of calls with names in attributes:
 * `<section>\n<invoke name="f">\n<parameter name="k">v</parameter>\n</invoke>\n</section>`.
 */
function invokeTagsFamily(tags: InvokeTags, shape: ReplyShape): Family {
  const call = literal(tags.call);
  const dialect: CallDialect = {
    name: tags.name,
    open: tags.open,
    close: tags.close,
    oneCall: false,
    callOpen: new RegExp(`<${call} name="([^"<>\\n]+)"\\s*>`, 'y'),
    callPrefix: `<${tags.call} name=`,
    callClose: `</${tags.call}>`,
    parameter: {
      open: new RegExp(`<${literal(tags.parameter)} name="([^"<>\\n]+)"(?:\\s+string="(true|false)")?\\s*>`, 'y'),
      openPrefix: `<${tags.parameter} name=`,
      close: `</${tags.parameter}>`,
      valuePad: '',
    },
  };
  return taggedCallsFamily(dialect, shape);
}

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
