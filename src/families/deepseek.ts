import type { FamilyEntry } from './family-entry.js';
import { type MarkedDialect, markedJsonFamily } from './marked-json.js';
import { tightTags } from './reasoning-split.js';
import { FIRST_TOOL } from './template-probe.js';

const END = '<｜end▁of▁sentence｜>';
const MARKERS = {
  nativeIds: false,
  sectionOpen: ['<｜tool▁calls▁begin｜>'],
  sectionClose: ['<｜tool▁calls▁end｜>'],
  callOpen: '<｜tool▁call▁begin｜>',
  callClose: '<｜tool▁call▁end｜>',
} as const;

const V3: MarkedDialect = {
  ...MARKERS,
  name: 'deepseek-v3',
  head: /[^<\n]*<｜tool▁sep｜>(?<name>[^<\n]+)\s*```(?:json)?\s*/y,
  tail: /\s*```/y,
};

const V31: MarkedDialect = { ...MARKERS, name: 'deepseek-v3.1', head: /(?<name>[^<\n]+)<｜tool▁sep｜>/y, tail: /\s*/y };

/** DeepSeek V3 and R1: the kind of call, the name, and the JSON in a fence. */
export const deepseekV3: FamilyEntry = {
  name: V3.name,
  make: (shape) => markedJsonFamily(V3, shape),
  usual: { callLead: '', stops: [END] },
  recognise: ({ text }) => (text.includes(`<｜tool▁sep｜>${FIRST_TOOL}\n`) ? (shape) => markedJsonFamily(V3, shape) : null),
};

/** DeepSeek V3.1: name and JSON side by side. */
export const deepseekV31: FamilyEntry = {
  name: V31.name,
  make: (shape) => markedJsonFamily(V31, shape),
  usual: { reasoning: tightTags('<think>', '</think>'), callLead: '', stops: [END] },
  recognise: ({ text }) => (text.includes(`${FIRST_TOOL}<｜tool▁sep｜>`) ? (shape) => markedJsonFamily(V31, shape) : null),
};
