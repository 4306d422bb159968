import { Buffer } from 'node:buffer';
import type { DecodedText, Decoder, IncrementalDecoder } from './decoder.js';
import { incompleteTail, Utf16Counter } from './decoder-utf8.js';

/** Decodes tokens that stand for bytes (ByteLevel): their bytes one after another, read as UTF-8. */
export class ByteDecoder implements Decoder {
  /** Bytes of all tokens; those of `id` are `blob[offsets[id]] … blob[offsets[id + 1] - 1]`. */
  private readonly blob: Uint8Array;
  private readonly offsets: Int32Array;
  /** Filled as tokens are met. */
  private readonly texts: (string | null | undefined)[];
  private scratch = Buffer.allocUnsafeSlow(8192);

  /** @param tokens bytes by id; holes are unknown ids */
  constructor(tokens: readonly (Uint8Array | undefined)[]) {
    this.texts = new Array(tokens.length).fill(undefined);
    this.offsets = new Int32Array(tokens.length + 1);
    let total = 0;
    for (let id = 0; id < tokens.length; id++) {
      this.offsets[id] = total;
      total += tokens[id]?.length ?? 0;
    }
    this.offsets[tokens.length] = total;
    this.blob = new Uint8Array(total);
    for (let id = 0; id < tokens.length; id++) this.blob.set(tokens[id] ?? [], this.offsets[id]);
  }

  decode(ids: ArrayLike<number>): string {
    const { blob, offsets } = this;
    let { scratch } = this;
    let length = 0;
    let seen = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (!(id >= 0 && id + 1 < offsets.length)) continue;
      const end = offsets[id + 1]!;
      let at = offsets[id]!;
      if (length + end - at > scratch.length) scratch = this.grow(length, end - at);
      while (at < end) {
        const byte = blob[at++]!;
        seen |= byte;
        scratch[length++] = byte;
      }
    }
    const text = scratch.toString(seen < 0x80 ? 'latin1' : 'utf8', 0, length);
    if (scratch.length > KEPT_BYTES) this.scratch = Buffer.allocUnsafeSlow(8192);
    return text;
  }

  decodeWithOffsets(ids: ArrayLike<number>): DecodedText {
    const { blob, offsets } = this;
    const text = this.decode(ids);
    const ends = new Int32Array(ids.length);
    let bytes = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (id >= 0 && id + 1 < offsets.length) bytes += offsets[id + 1]! - offsets[id]!;
      ends[i] = bytes;
    }
    if (bytes === text.length && !text.includes('\ufffd')) return { text, ends };
    const counter = new Utf16Counter();
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (id >= 0 && id + 1 < offsets.length) counter.add(blob, offsets[id]!, offsets[id + 1]!);
      ends[i] = counter.units;
    }
    if (ends.length > 0) ends[ends.length - 1] = text.length;
    return { text, ends };
  }

  /** Text of a token after which no character is left open, `null` for another. */
  wholeText(id: number): string | null {
    let text = this.texts[id];
    if (text === undefined) {
      const bytes = this.tokenBytes(id);
      text = incompleteTail(bytes) > 0 ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
      if (Number.isInteger(id) && id >= 0 && id + 1 < this.offsets.length) this.texts[id] = text;
    }
    return text;
  }

  newDecoder(): IncrementalDecoder {
    return new IncrementalByteDecoder(this);
  }

  tokenBytes(id: number): Uint8Array {
    if (!(id >= 0 && id + 1 < this.offsets.length)) return NO_BYTES;
    return this.blob.subarray(this.offsets[id], this.offsets[id + 1]);
  }

  private grow(length: number, more: number): Buffer<ArrayBuffer> {
    const grown = Buffer.allocUnsafeSlow(Math.max(this.scratch.length * 2, length + more));
    grown.set(this.scratch.subarray(0, length));
    this.scratch = grown;
    return grown;
  }
}

const KEPT_BYTES = 1 << 20;
const NO_BYTES = new Uint8Array(0);

/** Keeps back the bytes of a character that is not complete yet. */
class IncrementalByteDecoder implements IncrementalDecoder {
  private pending: Buffer = NOTHING;

  constructor(private readonly decoder: ByteDecoder) {}

  push(id: number): string {
    if (this.pending.length === 0) {
      const text = this.decoder.wholeText(id);
      if (text !== null) return text;
    }
    const added = this.decoder.tokenBytes(id);
    const bytes = Buffer.concat([this.pending, added]);
    const end = bytes.length - incompleteTail(bytes);
    this.pending = bytes.subarray(end);
    return bytes.toString('utf8', 0, end);
  }

  finish(): string {
    const rest = this.pending.toString('utf8');
    this.pending = NOTHING;
    return rest;
  }
}

const NOTHING = Buffer.alloc(0);
