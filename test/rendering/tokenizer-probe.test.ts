import { describe, expect, it } from 'vitest';
import type { AddedToken } from '../../src/rendering/special-tokens.js';
import { startsAtControlTokens } from '../../src/rendering/tokenizer-probe.js';

const token = (content: string, id: number, flags: Partial<AddedToken> = {}): AddedToken => ({
  id,
  content,
  special: true,
  normalized: false,
  lstrip: false,
  rstrip: false,
  singleWord: false,
  ...flags,
});

/** A tokenizer of single characters with the given tokens cut out, longest first. */
function encoderOf(tokens: readonly AddedToken[]): (text: string) => Int32Array {
  const byLength = [...tokens].sort((a, b) => b.content.length - a.content.length);
  return (text) => {
    const ids: number[] = [];
    for (let at = 0; at < text.length; ) {
      const found = byLength.find(({ content }) => text.startsWith(content, at));
      ids.push(found?.id ?? 1000 + text.charCodeAt(at));
      at += found?.content.length ?? 1;
    }
    return Int32Array.from(ids);
  };
}

const starts = (...tokens: readonly AddedToken[]): boolean => startsAtControlTokens(tokens, encoderOf(tokens));

describe('startsAtControlTokens', () => {
  it('holds for tokens that are cut out first', () => {
    expect(starts(token('<a>', 1), token('<b>', 2), token('<a>\n', 3), token('\n\n', 4))).toBe(true);
  });

  it('fails where a token can begin inside another', () => {
    expect(starts(token('<a>', 1), token('x<a>', 2))).toBe(false);
    expect(starts(token('<a>', 1), token('b<a', 2))).toBe(false);
    expect(starts(token('aba', 1))).toBe(false);
  });

  it('fails for tokens that look at what stands before them, and without tokens', () => {
    expect(starts(token('<a>', 1, { lstrip: true }))).toBe(false);
    expect(starts(token('<a>', 1, { singleWord: true }))).toBe(false);
    expect(starts()).toBe(false);
    expect(starts(token('\n\n', 1))).toBe(false);
  });

  it('fails for a tokenizer that marks the beginning of every text', () => {
    const tokens = [token('<a>', 1)];
    const encode = encoderOf(tokens);
    expect(startsAtControlTokens(tokens, (text) => Int32Array.of(7, ...encode(text)))).toBe(false);
  });

  it('fails for a tokenizer that reads over a token', () => {
    const tokens = [token('<a>', 1)];
    const encode = encoderOf(tokens);
    expect(startsAtControlTokens(tokens, (text) => encode(text.replace('\n<a>', '<a>')))).toBe(false);
  });
});
