import { UNKNOWN_TO_COMPATIBILITY, UNKNOWN_TO_NORMALIZER } from './encoder-unicode.js';
import { asObject } from './model-directory-fields.js';
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
  if (from !== undefined) return unicodeForm(definition.type!, from);
  if (definition.type === 'Replace') {
    const literal = asObject(definition.pattern)?.String;
    const { content } = definition;
    if (typeof literal !== 'string' || literal === '' || typeof content !== 'string') return undefined;
    return { changesFrom: 0, normalize: (text) => text.replaceAll(literal, () => content) };
  }
  if (definition.type === 'Prepend' && typeof definition.prepend === 'string') {
    const { prepend } = definition;
    return { changesFrom: 0, normalize: (text) => (text === '' ? '' : prepend + text) };
  }
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

/** Whether normalised text never holds `literal`, one character: the last stage that could write it replaces it. */
export function removesText(definition: Component | null | undefined, literal: string): boolean {
  const stages = definition?.type === 'Sequence' ? (definition.normalizers as readonly Component[]) : definition ? [definition] : [];
  const at = stages.findLastIndex((stage) => stage.type === 'Replace' && asObject(stage.pattern)?.String === literal);
  if (at < 0 || [...literal].length !== 1 || String(stages[at]!.content).includes(literal)) return false;
  return stages.slice(at + 1).every((stage) => stage.type === 'Replace' && !String(stage.content).includes(literal));
}

function unicodeForm(form: string, changesFrom: number): Normalizer {
  const ranges = form.includes('K') ? [...UNKNOWN_TO_NORMALIZER, ...UNKNOWN_TO_COMPATIBILITY] : UNKNOWN_TO_NORMALIZER;
  const source = ranges.map(([first, last]) => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`).join('');
  const unknown = new RegExp(`[${source}]+`, 'gu');
  return {
    changesFrom,
    normalize: (text) => {
      let normal = '';
      let at = 0;
      for (const match of text.matchAll(unknown)) {
        normal += text.slice(at, match.index).normalize(form) + match[0];
        at = match.index + match[0].length;
      }
      return at === 0 ? text.normalize(form) : normal + text.slice(at).normalize(form);
    },
  };
}
