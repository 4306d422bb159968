import { describe, expect, it } from 'vitest';
import { type Normalizer, readNormalizer, removesText } from '../../src/rendering/encoder-normalizer.js';

const form = (type: string): Normalizer => readNormalizer({ type })!;
const replace = (from: string, content: string): { readonly type: string; readonly pattern: unknown; readonly content: string } => ({
  type: 'Replace',
  pattern: { String: from },
  content,
});

describe('normalizer', () => {
  it('knows the Unicode forms', () => {
    expect(form('NFC').normalize('e\u0301 a\u0323\u0307')).toBe('é ạ\u0307');
    expect(form('NFD').normalize('é')).toBe('e\u0301');
    expect(form('NFKC').normalize('ﬁ①')).toBe('fi1');
    expect(form('NFKD').normalize('ﬁé')).toBe('fie\u0301');
  });

  // Answers of tokenizers 0.23.2 (normalizers.NFC, NFD, NFKC), whose tables are older than Node's.
  it('leaves alone what the Rust crate does not know', () => {
    expect(form('NFC').normalize('a\u0899\u0301')).toBe('a\u0899\u0301');
    expect(form('NFC').normalize('e\u0301a\u0c3c\u0301e\u0301')).toBe('éa\u0c3c\u0301é');
    expect(form('NFC').normalize('\u{113c2}\u{113c2}')).toBe('\u{113c2}\u{113c2}');
    expect(form('NFD').normalize('\u{105c9}é')).toBe('\u{105c9}e\u0301');
    expect(form('NFKC').normalize('\u{1fbf0}①')).toBe('\u{1fbf0}1');
  });

  it('runs a sequence in order; text below all limits stays', () => {
    const normalizer = readNormalizer({
      type: 'Sequence',
      normalizers: [{ type: 'Prepend', prepend: '▁' }, replace(' ', '▁'), replace('$&', '$')],
    })!;
    expect(normalizer.normalize('a b$&')).toBe('▁a▁b$');
    expect(normalizer.normalize('')).toBe('');
    expect(normalizer.changesFrom).toBe(0);
    expect(readNormalizer({ type: 'Sequence', normalizers: [{ type: 'NFC' }, { type: 'NFKC' }] })!.changesFrom).toBe(0xa0);
  });

  it('tells none from unknown', () => {
    expect(readNormalizer(null)).toBeNull();
    expect(readNormalizer({ type: 'Sequence', normalizers: [] })).toBeNull();
    expect(readNormalizer({ type: 'Lowercase' })).toBeUndefined();
    expect(readNormalizer({ type: 'Sequence', normalizers: [{ type: 'NFC' }, { type: 'Strip' }] })).toBeUndefined();
    expect(readNormalizer({ type: 'Replace', pattern: { Regex: 'a' }, content: '' })).toBeUndefined();
  });

  it('knows when a text cannot be there any more', () => {
    expect(removesText(replace(' ', '▁'), ' ')).toBe(true);
    expect(removesText(replace(' ', ' ▁'), ' ')).toBe(false);
    expect(removesText({ type: 'Sequence', normalizers: [replace(' ', '▁'), replace('x', ' ')] }, ' ')).toBe(false);
    expect(removesText({ type: 'Sequence', normalizers: [replace('x', ' '), replace(' ', '▁')] }, ' ')).toBe(true);
    expect(removesText({ type: 'Sequence', normalizers: [replace(' ', '▁'), { type: 'NFKC' }] }, ' ')).toBe(false);
    expect(removesText(null, ' ')).toBe(false);
  });
});
