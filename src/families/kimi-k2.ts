import type { FamilyEntry } from './family-entry.js';
import { type MarkedDialect, markedJsonFamily } from './marked-json.js';
import { tightTags } from './reasoning-split.js';
import { FIRST_TOOL } from './template-probe.js';

/**
 * The function's name is part of the call's id, `functions.NAME:INDEX`, which the template prints back: the id has to
 * come back as it was sampled. Odd ids (`NAME:3`, `NAME`) still name a function.
 */
const DIALECT: MarkedDialect = {
  name: 'kimi-k2',
  nativeIds: true,
  sectionOpen: ['<|tool_calls_section_begin|>', '<|tool_call_section_begin|>'],
  sectionClose: ['<|tool_calls_section_end|>', '<|tool_call_section_end|>'],
  callOpen: '<|tool_call_begin|>',
  callClose: '<|tool_call_end|>',
  head: /(?<id>\s*(?:functions\.)?(?<name>[^<>:\s]+)(?::\d+)?\s*)<\|tool_call_argument_begin\|>/y,
  tail: /\s*/y,
};

export const kimiK2: FamilyEntry = {
  name: DIALECT.name,
  make: (shape) => markedJsonFamily(DIALECT, shape),
  usual: { reasoning: tightTags('<think>', '</think>'), callLead: '', stops: ['<|im_end|>'] },
  recognise: ({ text }) =>
    new RegExp(`<\\|tool_call_begin\\|>[^<]*${FIRST_TOOL}[^<]*<\\|tool_call_argument_begin\\|>`).test(text)
      ? (shape) => markedJsonFamily(DIALECT, shape)
      : null,
};
