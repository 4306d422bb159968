import type { DecodedText, Decoder, IncrementalDecoder } from './decoder.js';

/**
 * Decoders of another kind, through the library. Nothing is known of how they join tokens, so a reply's text is certain only at its
 * end, and offsets come from decoding every prefix.
 */
export class LibraryDecoder implements Decoder {
  /** @param tokens by id @param join the library's decoder */
  constructor(
    private readonly tokens: readonly (string | undefined)[],
    private readonly join: (tokens: readonly string[]) => string,
  ) {}

  decode(ids: ArrayLike<number>): string {
    const tokens: string[] = [];
    for (let i = 0; i < ids.length; i++) {
      const token = this.tokens[ids[i]!];
      if (token !== undefined) tokens.push(token);
    }
    return tokens.length === 0 ? '' : this.join(tokens);
  }

  decodeWithOffsets(ids: ArrayLike<number>): DecodedText {
    const text = this.decode(ids);
    const all = Array.from(ids);
    const ends = new Int32Array(ids.length);
    let end = 0;
    for (let i = 0; i < ends.length; i++) {
      const prefix = this.decode(all.slice(0, i + 1));
      if (text.startsWith(prefix)) end = Math.max(end, prefix.length);
      ends[i] = end;
    }
    if (ends.length > 0) ends[ends.length - 1] = text.length;
    return { text, ends };
  }

  newDecoder(): IncrementalDecoder {
    const ids: number[] = [];
    return {
      push: (id) => {
        ids.push(id);
        return '';
      },
      finish: () => this.decode(ids),
    };
  }

  tokenBytes(id: number): Uint8Array {
    return new TextEncoder().encode(this.decode([id]));
  }
}
