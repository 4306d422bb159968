import { CharacterAlphabet } from './bpe-alphabet.js';
import type { Section } from './encoder.js';
import { BoundarySplitter, MergeBoundaries } from './encoder-boundaries.js';
import type { BpeParts } from './encoder-bpe.js';
import { unitsOf } from './encoder-buffers.js';
import { removesText } from './encoder-normalizer.js';
import { knownId, readMerges } from './encoder-plan-merges.js';
import { UnsupportedPattern } from './encoder-regex.js';
import { asObject } from './model-directory-fields.js';
import type { Component, TokenizerDefinition } from './tokenizer-definition.js';

const SPACE = '▁';

/**
 * BPE of characters with byte fallback, where spaces are `▁` (Gemma, Llama 2, Mistral 7B). Such a tokenizer does not split; pieces are cut
 * where no merge reaches across.
 * @throws UnsupportedPattern
 */
export function readCharacterBpe(
  definition: TokenizerDefinition,
  vocabulary: ReadonlyMap<string, number>,
): { readonly parts: BpeParts; readonly reason: string } {
  const { model, pre_tokenizer: preTokenizer } = definition;
  if (model.ignore_merges === true) throw new UnsupportedPattern('whole words are taken without merges');
  const isMetaspace = preTokenizer?.type === 'Metaspace';
  if (preTokenizer && !isMetaspace && !splitsNothing(preTokenizer, definition.normalizer)) {
    throw new UnsupportedPattern(`the pre-tokenizer is ${preTokenizer.type}`);
  }
  const boundaries = new MergeBoundaries();
  const merges = readMerges(model, vocabulary, (left, right) => boundaries.addMerge(left, right));
  if (isMetaspace && preTokenizer.split !== false) boundaries.splitBeforeSpaces();
  const idOfByte = Int32Array.from({ length: 256 }, (_, byte) => {
    return knownId(vocabulary, `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  });
  const characters = [...vocabulary].filter(([token]) => token.length === 1 || (token.length === 2 && token.codePointAt(0)! > 0xffff));
  return {
    parts: {
      newSplitter: () => new BoundarySplitter(boundaries),
      alphabet: new CharacterAlphabet(characters, idOfByte),
      merges,
      prepare: isMetaspace ? metaspace(preTokenizer) : null,
    },
    reason: 'BPE of characters, cut where no merge reaches across',
  };
}

/** A Split at a literal that the normaliser leaves none of. */
function splitsNothing(preTokenizer: Component, normalizer: Component | null | undefined): boolean {
  const literal = asObject(preTokenizer.pattern)?.String;
  return preTokenizer.type === 'Split' && preTokenizer.invert !== true && typeof literal === 'string' && removesText(normalizer, literal);
}

function metaspace(definition: Component): (section: Section) => Section {
  const scheme = definition.prepend_scheme ?? (definition.add_prefix_space === false ? 'never' : 'always');
  if ((definition.replacement ?? SPACE) !== SPACE) throw new UnsupportedPattern(`spaces become ${definition.replacement}`);
  return (section) => {
    const text = section.text.slice(section.start, section.end).replaceAll(' ', SPACE);
    const prepends = !text.startsWith(SPACE) && (scheme === 'always' || (scheme === 'first' && section.isFirst));
    const changed = prepends ? SPACE + text : text;
    return { text: changed, units: unitsOf(changed), start: 0, end: changed.length, isFirst: section.isFirst };
  };
}
