import { readFileSync } from 'node:fs';
import { Tokenizer } from '@huggingface/tokenizers';
import { describe, expect, it } from 'vitest';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';
import { SimVocabulary } from '../../src/sim/vocabulary.js';

interface PythonFixture {
  readonly encodings: readonly { readonly text: string; readonly ids: readonly number[] }[];
}

const python = JSON.parse(readFileSync(new URL('../fixtures/sim-model/python.json', import.meta.url), 'utf8')) as PythonFixture;
const vocabulary = new SimVocabulary(SIM_MODEL_DIR);
const file = (name: string) => JSON.parse(readFileSync(`${SIM_MODEL_DIR}/${name}`, 'utf8'));
const library = new Tokenizer(file('tokenizer.json'), file('tokenizer_config.json'));

describe('the embedded model’s vocabulary', () => {
  it.each(python.encodings.map(({ text, ids }) => [text, ids] as const))('encodes %j as Python does', (text, ids) => {
    expect(vocabulary.encode(text)).toEqual(ids);
    expect(vocabulary.decode(ids)).toBe(text);
    if (text !== '') expect(library.encode(text, { add_special_tokens: false }).ids).toEqual(ids);
  });

  it('has all 256 bytes, so that any text has a spelling', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const ids = vocabulary.encodeBytes(bytes);
    expect(Buffer.concat(ids.map((id) => vocabulary.bytesOf(id)))).toEqual(Buffer.from(bytes));
  });

  it('is padded behind the last token, ends with <|im_end|> and has 131072 tokens of context', () => {
    expect(vocabulary.vocabSize).toBeGreaterThan(vocabulary.spelledSize);
    expect(vocabulary.eosIds).toEqual([vocabulary.idOf('<|im_end|>'), vocabulary.idOf('<|endoftext|>')]);
    expect(vocabulary.contextTokens).toBe(131072);
  });

  it('is what scripts/make-sim-model.mjs writes', async () => {
    const { simModelFiles } = await import('../../scripts/make-sim-model.mjs' as string);
    for (const [name, text] of Object.entries(simModelFiles() as Record<string, string>)) {
      expect(readFileSync(`${SIM_MODEL_DIR}/${name}`, 'utf8'), name).toBe(text);
    }
  });

  it('reads the names of special tokens as letters when asked to', () => {
    const ids = vocabulary.encode('<|im_end|>', false);
    expect(ids).not.toContain(vocabulary.idOf('<|im_end|>'));
    expect(vocabulary.decode(ids)).toBe('<|im_end|>');
  });
});
