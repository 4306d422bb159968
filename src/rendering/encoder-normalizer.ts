import type { Component } from './tokenizer-definition.js';

/** Changes a text before it is split. Text whose UTF-16 units are all below `changesFrom` stays as it is. */
export interface Normalizer {
  readonly changesFrom: number;
  normalize(text: string): string;
}

/** The first unit that a form changes or joins with another: U+0300 for NFC and NFKC's and NFD's letters before it. */
const FORMS: Readonly<Record<string, number>> = { NFC: 0x300, NFD: 0xc0, NFKC: 0xa0, NFKD: 0xa0 };

/** `null` for a tokenizer without a normaliser, `undefined` for one that only the library knows. */
export function readNormalizer(definition: Component | null | undefined): Normalizer | null | undefined {
  if (!definition) return null;
  const from = FORMS[definition.type ?? ''];
  if (from !== undefined) return { changesFrom: from, normalize: (text) => text.normalize(definition.type) };
  if (definition.type !== 'Sequence' || !Array.isArray(definition.normalizers)) return undefined;
  const parts: Normalizer[] = [];
  for (const part of definition.normalizers as readonly Component[]) {
    const normalizer = readNormalizer(part);
    if (normalizer === undefined) return undefined;
    if (normalizer !== null) parts.push(normalizer);
  }
  if (parts.length === 0) return null;
  return {
    changesFrom: Math.min(...parts.map((part) => part.changesFrom)),
    normalize: (text) => parts.reduce((current, part) => part.normalize(current), text),
  };
}
