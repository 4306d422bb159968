/**
 * Text that ids stand for, as the Rust crate's `decode` gives it with special tokens kept. Unknown ids are nothing;
 * bytes that are no UTF-8 become U+FFFD.
 */
export interface Decoder {
  decode(ids: ArrayLike<number>): string;
  decodeWithOffsets(ids: ArrayLike<number>): DecodedText;
  newDecoder(): IncrementalDecoder;
  /** The bytes of one token alone; a view that must not be written to. */
  tokenBytes(id: number): Uint8Array;
}

export interface DecodedText {
  readonly text: string;
  /**
   * For each id the UTF-16 offset where its text ends, never falling; the last is `text.length`. A character made by several
   * tokens belongs to the one that completes it.
   */
  readonly ends: Int32Array;
}

/**
 * Decodes a reply while it grows. At any point the text given so far plus `finish()` is what `decode` says of the ids so far.
 */
export interface IncrementalDecoder {
  /** The text that this id made certain, whatever follows. */
  push(id: number): string;
  /** The rest, as if the reply ended here. Nothing may be pushed afterwards. */
  finish(): string;
}
