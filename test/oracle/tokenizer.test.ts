import { beforeAll, describe, expect, it } from 'vitest';
import { loadModelDirectory } from '../../src/rendering/model-directory.js';
import { isControlToken } from '../../src/rendering/special-tokens.js';
import { loadTokenizer, type Tokenizer } from '../../src/rendering/tokenizer.js';
import { askRustCrate, hasRustCrate, type OracleAnswer, realTokenizers } from '../support/tokenizer-cache.js';
import { adversarialTexts, pathologicalTexts, seededRandom } from '../support/tokenizer-texts.js';

const TEXTS = 1000;
const SEQUENCES = 600;

if (!hasRustCrate || realTokenizers.length === 0) {
  describe('tokenizers against the Rust crate', () => {
    it.skip('skipped: run `node scripts/prepare-tokenizers.mjs` first (needs a package registry and Python 3)', () => {});
  });
} else {
  describe.each(realTokenizers)('%s against the Rust crate', (_name, directory) => {
    let tokenizer: Tokenizer;
    let texts: readonly string[];
    let sequences: readonly (readonly number[])[];
    let forTexts: OracleAnswer;
    let forSequences: OracleAnswer;
    beforeAll(() => {
      tokenizer = loadTokenizer(loadModelDirectory(directory));
      const contents = tokenizer.addedTokens.map((token) => token.content);
      texts = [...adversarialTexts(TEXTS, contents.slice(0, 60), 7), ...pathologicalTexts(20_000)];
      sequences = randomSequences(tokenizer, SEQUENCES);
      [forTexts, forSequences] = askRustCrate([
        { model: directory, texts },
        { model: directory, ids: sequences },
      ]) as [OracleAnswer, OracleAnswer];
    });

    it('encodes and decodes alike', () => {
      expect(forTexts.version).toBe('0.23.2');
      for (const [i, text] of texts.entries()) {
        const ids = forTexts.ids[i]!;
        expect({ text, ids: [...tokenizer.encode(text)] }).toEqual({ text, ids });
        expect({ ids, text: tokenizer.decode(ids) }).toEqual({ ids, text: forTexts.decoded[i] });
      }
      for (const [i, ids] of sequences.entries())
        expect({ ids, text: tokenizer.decode(ids) }).toEqual({ ids, text: forSequences.decoded[i] });
    });

    it('encodes every character alike, beside letters, spaces, digits and its like', () => {
      const characters = charactersInUse();
      const lists = Array.from({ length: Math.ceil(characters.length / 64) }, (_, i) => characters.slice(i * 64, (i + 1) * 64));
      const all = lists.map((list) => list.map((it) => `x${it}y ${it} ${it}B 1${it}\n${it}${it}\u0301`).join(' '));
      const [answer] = askRustCrate([{ model: directory, texts: all }]);
      for (const [i, text] of all.entries()) {
        const ids = tokenizer.encode(text);
        if (!sameIds(ids, answer!.ids[i]!)) expect({ text, ids: [...ids] }).toEqual({ text, ids: answer!.ids[i] });
      }
    });

    it('encodes alike in slices', async () => {
      for (const [i, text] of texts.entries()) {
        if (i % 10 === 0 || text.length > 10_000) expect([...(await tokenizer.encodeInSlices(text, 1))]).toEqual(forTexts.ids[i]);
      }
    });

    it('decodes incrementally and by offsets to the whole at every cut', () => {
      for (const ids of [...sequences, ...forTexts.ids.filter((list) => list.length <= 80)]) {
        const whole = tokenizer.decode(ids);
        const { text, ends } = tokenizer.decodeWithOffsets(ids);
        expect(text).toBe(whole);
        const decoder = tokenizer.newDecoder();
        let certain = '';
        for (let cut = 0; cut < ids.length; cut++) {
          certain += decoder.push(ids[cut]!);
          expect(whole.startsWith(certain)).toBe(true);
          expect(ends[cut]!).toBeGreaterThanOrEqual(cut === 0 ? 0 : ends[cut - 1]!);
          const again = tokenizer.newDecoder();
          const prefix = ids.slice(0, cut + 1);
          expect(prefix.map((id) => again.push(id)).join('') + again.finish()).toBe(tokenizer.decode(prefix));
        }
        expect(certain + decoder.finish()).toBe(whole);
      }
    });

    it('keeps every control token out of plain text', () => {
      const control = tokenizer.addedTokens.filter((token) => isControlToken(token) && token.content !== '<unk>');
      const ids = new Set(control.map((token) => token.id));
      for (const { content } of control) {
        for (const text of [content, `a ${content} b${content}\n${content}`]) {
          const plain = tokenizer.encodeWithoutSpecials(text);
          expect({ text, control: [...plain].filter((id) => ids.has(id)) }).toEqual({ text, control: [] });
          expect(tokenizer.decode(plain)).toBe(text.replaceAll('▁', tokenizer.fastPath === 'byte-level-bpe' ? '▁' : ' '));
        }
      }
    });

    it('may start at control tokens', () => expect(tokenizer.splitsAtSpecialTokens).toBe(true));
  });
}

/** Ids of all kinds, many of them parts of characters, and every added token alone and between others. */
function randomSequences(tokenizer: Tokenizer, count: number): readonly (readonly number[])[] {
  const random = seededRandom(5);
  const sequences: number[][] = [];
  while (sequences.length < count) {
    const length = 1 + Math.floor(random() * 16);
    sequences.push(Array.from({ length }, () => Math.floor(random() * (random() < 0.5 ? 600 : tokenizer.vocabularySize))));
  }
  for (const { id } of tokenizer.addedTokens.slice(0, 400)) sequences.push([id], [300, id, 5]);
  return sequences;
}

/** Every code point but surrogates, unassigned planes and most of the private ones. */
function charactersInUse(): readonly string[] {
  const characters: string[] = [];
  for (let point = 0; point < 0x110000; point++) {
    const isSparse = (point >= 0x40000 && point < 0xe0000) || point >= 0xf0000;
    if ((point & 0x1ff800) !== 0xd800 && !(isSparse && point % 4099 !== 0)) characters.push(String.fromCodePoint(point));
  }
  return characters;
}

function sameIds(a: Int32Array, b: readonly number[]): boolean {
  return a.length === b.length && b.every((id, i) => id === a[i]);
}
