import { deepseekV3, deepseekV31 } from './deepseek.js';
import type { Family } from './family.js';
import type { FamilyEntry } from './family-entry.js';
import { gemma4 } from './gemma4.js';
import { glm45, glm47, ling } from './glm.js';
import { harmony } from './harmony.js';
import { deepseekDsml, minimaxM2 } from './invoke-tags.js';
import { mistral } from './json-list.js';
import { kimiK2 } from './kimi-k2.js';
import { lfm2 } from './lfm2.js';
import { llama3Json, llama3Pythonic } from './llama3.js';
import { llama4 } from './llama4.js';
import { minimaxM3 } from './minimax-m3.js';
import { mistralArgs } from './mistral-args.js';
import { qwen3Coder, seedOss } from './qwen3-coder.js';
import { THINK_TAGS } from './reasoning-split.js';
import type { ReplyShape } from './reply-shape.js';
import { hermes } from './tagged-json.js';
import { textFamily } from './text.js';

/** A model whose grammar is not known. */
export const TEXT: FamilyEntry = { name: 'text', make: textFamily, recognise: () => null };

/** All grammars, in the order in which a template's print is held against them: the more particular ones first. */
export const FAMILIES: readonly FamilyEntry[] = [
  harmony,
  kimiK2,
  deepseekV3,
  deepseekV31,
  deepseekDsml,
  gemma4,
  minimaxM3,
  minimaxM2,
  seedOss,
  qwen3Coder,
  glm45,
  glm47,
  ling,
  llama4,
  mistralArgs,
  mistral,
  lfm2,
  llama3Pythonic,
  hermes,
  llama3Json,
  TEXT,
];

/** The family that a setting or a command names. */
export function familyNamed(name: string): FamilyEntry | undefined {
  return FAMILIES.find((entry) => entry.name === name);
}

/** The family as its models' publishers print it, with the texts that end a reply: for work without a template. */
export function usualFamily(entry: FamilyEntry): {
  readonly family: Family;
  readonly shape: ReplyShape;
  readonly stops: readonly string[];
} {
  const { stops = [], ...given } = entry.usual ?? {};
  const shape: ReplyShape = { reasoning: THINK_TAGS, contentLead: '', callLead: '\n', ...given };
  return { family: entry.make(shape), shape, stops: [...(entry.turnEnds ?? []), ...stops] };
}
