import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteDecoder } from '../../src/rendering/decoder-bytes.js';
import { incompleteTail, Utf16Counter } from '../../src/rendering/decoder-utf8.js';

/** Bytes that begin, continue and break characters, more often than chance would have it. */
const bytes = fc.array(
  fc.oneof(
    fc.constantFrom(0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff),
    fc.nat(255),
  ),
  { maxLength: 24 },
);
const lossy = (list: readonly number[]): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(list));

describe('UTF-8 in parts', () => {
  it('property: what is not held back never changes', () => {
    fc.assert(
      fc.property(bytes, bytes, (head, tail) => {
        const certain = head.slice(0, head.length - incompleteTail(Uint8Array.from(head)));
        expect(lossy([...head, ...tail]).startsWith(lossy(certain))).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('holds back only what more bytes could complete', () => {
    const tails: readonly (readonly [readonly number[], number])[] = [
      [[], 0],
      [[0x41], 0],
      [[0xe2], 1],
      [[0xe2, 0x82], 2],
      [[0xe2, 0x82, 0xac], 0],
      [[0xf0, 0x9f, 0x91], 3],
      [[0xf0, 0x9f, 0x91, 0x8d], 0],
      [[0xc3], 1],
      [[0xc1], 0],
      [[0xf5], 0],
      [[0xe0, 0x80], 0],
      [[0xed, 0xa0], 0],
      [[0xf4, 0x90], 0],
      [[0xf0, 0x8f], 0],
      [[0x80, 0x80, 0x80], 0],
    ];
    for (const [list, held] of tails) expect([list, incompleteTail(Uint8Array.from(list))]).toEqual([list, held]);
  });

  it('property: counts the units of the text, but for what is held back', () => {
    fc.assert(
      fc.property(bytes, fc.nat(24), (list, cut) => {
        const counter = new Utf16Counter();
        const all = Uint8Array.from(list);
        counter.add(all, 0, Math.min(cut, all.length));
        counter.add(all, Math.min(cut, all.length), all.length);
        expect(counter.units).toBe(lossy(list.slice(0, list.length - incompleteTail(all))).length);
      }),
      { numRuns: 3000 },
    );
  });

  it('property: tokens of any bytes decode as all their bytes do', () => {
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 8 }), (tokens) => {
        const decoder = new ByteDecoder([...tokens.map((list) => Uint8Array.from(list)), undefined]);
        const ids = [...tokens.keys(), tokens.length];
        const text = lossy(tokens.flat());
        expect(decoder.decode(ids)).toBe(text);
        expect(decoder.decodeWithOffsets(ids).text).toBe(text);
        const incremental = decoder.newDecoder();
        expect(ids.map((id) => incremental.push(id)).join('') + incremental.finish()).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  it('grows for long texts and gives the memory back', () => {
    const decoder = new ByteDecoder([new Uint8Array(1000).fill(0x61)]);
    expect(decoder.decode(new Int32Array(3000))).toBe('a'.repeat(3_000_000));
    expect(decoder.decode([0])).toBe('a'.repeat(1000));
  });
});
