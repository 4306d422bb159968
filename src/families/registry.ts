import type { FamilyEntry } from './family-entry.js';
import { qwen3Coder, seedOss } from './qwen3-coder.js';
import { hermes } from './tagged-json.js';
import { textFamily } from './text.js';

export const TEXT: FamilyEntry = { name: 'text', make: textFamily, recognise: () => null };

/** All grammars, in the order in which a template's print is held against them. */
export const FAMILIES: readonly FamilyEntry[] = [qwen3Coder, seedOss, hermes, TEXT];

export function familyNamed(name: string): FamilyEntry | undefined {
  return FAMILIES.find((entry) => entry.name === name);
}
