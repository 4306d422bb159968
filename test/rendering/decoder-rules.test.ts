import { describe, expect, it } from 'vitest';
import type { Decoder } from '../../src/rendering/decoder.js';
import { LibraryDecoder } from '../../src/rendering/decoder-library.js';
import { createDecoder } from '../../src/rendering/decoder-rules.js';
import type { Component } from '../../src/rendering/tokenizer-definition.js';

const TOKENS = ['▁a', 'b', '▁', '<0xE2>', '<0x82>', '<0xAC>', undefined, '▁▁c', '<0x20>', '<0x4G>'];
const replace = { type: 'Replace', pattern: { String: '▁' }, content: ' ' };
const sequence = (...decoders: readonly Component[]): Component => ({ type: 'Sequence', decoders });
const decoderOf = (definition: Component): Decoder => createDecoder(definition, TOKENS)!;

describe('createDecoder', () => {
  it('joins Metaspace tokens; the first loses its spaces unless none was added', () => {
    const ids = [7, 0, 2, 1];
    expect(decoderOf({ type: 'Metaspace', replacement: '▁', prepend_scheme: 'always' }).decode(ids)).toBe('c a b');
    expect(decoderOf({ type: 'Metaspace', add_prefix_space: true }).decode([6, 0, 0])).toBe('a a');
    expect(decoderOf({ type: 'Metaspace', prepend_scheme: 'never' }).decode(ids)).toBe('  c a b');
    expect(decoderOf({ type: 'Metaspace', add_prefix_space: false }).decode([0])).toBe(' a');
  });

  it('reads runs of byte tokens as one text, or as one U+FFFD each', () => {
    const decoder = decoderOf(sequence(replace, { type: 'ByteFallback' }, { type: 'Fuse' }));
    expect(decoder.decode([0, 3, 4, 5, 1])).toBe(' a€b');
    expect(decoder.decode([3, 4, 1, 5])).toBe('\ufffd\ufffdb\ufffd');
    expect(decoder.decode([3, 6, 4, 5])).toBe('€');
    expect(decoder.decode([9])).toBe('<0x4G>');
    expect([...decoder.decodeWithOffsets([0, 3, 4, 5, 1]).ends]).toEqual([2, 2, 2, 3, 4]);
    expect([...decoder.decodeWithOffsets([3, 6, 4, 1]).ends]).toEqual([1, 1, 2, 3]);
    expect([...decoder.decodeWithOffsets([6, 3, 4]).ends]).toEqual([0, 1, 2]);
    expect(decoder.tokenBytes(3)).toEqual(Uint8Array.of(0xe2));
  });

  it('strips the beginning of the whole text, wherever it comes from', () => {
    const decoder = decoderOf(
      sequence(replace, { type: 'ByteFallback' }, { type: 'Fuse' }, { type: 'Strip', content: ' ', start: 1, stop: 0 }),
    );
    expect(decoder.decode([2, 0])).toBe(' a');
    expect(decoder.decode([8, 0])).toBe(' a');
    expect(decoder.decode([1, 0])).toBe('b a');
    expect([...decoder.decodeWithOffsets([8, 8, 0]).ends]).toEqual([0, 1, 3]);
    const incremental = decoder.newDecoder();
    expect([2, 0, 3].map((id) => incremental.push(id))).toEqual(['', ' a', '']);
    expect(incremental.finish()).toBe('\ufffd');
  });

  it.each([
    [{ type: 'WordPiece' }],
    [sequence(replace, { type: 'Strip', content: ' ', start: 1, stop: 0 }, { type: 'Fuse' })],
    [sequence({ type: 'Fuse' }, { type: 'Strip', content: ' ', start: 0, stop: 1 })],
    [sequence({ type: 'Replace', pattern: { Regex: '.' }, content: '' }, { type: 'Fuse' })],
    [sequence({ type: 'Fuse' }, replace)],
    [null],
  ])('leaves %j to the library', (definition) => expect(createDecoder(definition, TOKENS)).toBeNull());
});

describe('LibraryDecoder', () => {
  const decoder = new LibraryDecoder(['un', '##like', undefined, 'ly'], (tokens) => tokens.join(' ').replaceAll(' ##', ''));

  it('gives the text at the end, and offsets where a prefix stays', () => {
    expect(decoder.decode([0, 1, 2, 3])).toBe('unlike ly');
    expect(decoder.decode([2])).toBe('');
    expect([...decoder.decodeWithOffsets([0, 1, 2, 3]).ends]).toEqual([2, 6, 6, 9]);
    const incremental = decoder.newDecoder();
    expect([0, 1, 3].map((id) => incremental.push(id)).join('')).toBe('');
    expect(incremental.finish()).toBe('unlike ly');
    expect(Buffer.from(decoder.tokenBytes(3)).toString()).toBe('ly');
  });
});
