import { Buffer } from 'node:buffer';
import type { DecodedText, Decoder, IncrementalDecoder } from './decoder.js';
import { incompleteTail, utf16Length } from './decoder-utf8.js';

/** Decodes tokens that stand for bytes (ByteLevel): their bytes one after another, read as UTF-8. */
export class ByteDecoder implements Decoder {
  /** Bytes of all tokens; those of `id` are `blob[offsets[id]] … blob[offsets[id + 1] - 1]`. */
  private readonly blob: Uint8Array;
  private readonly offsets: Int32Array;
  private scratch = Buffer.allocUnsafeSlow(8192);

  /** @param tokens bytes by id; holes are unknown ids */
  constructor(tokens: readonly (Uint8Array | undefined)[]) {
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
    const text = this.decode(ids);
    const ends = new Int32Array(ids.length);
    let isPlain = true;
    let total = 0;
    for (let i = 0; i < ids.length; i++) {
      total += this.tokenBytes(ids[i]!).length;
      ends[i] = total;
    }
    if (total !== text.length) isPlain = false;
    if (isPlain) return { text, ends };
    const decoder = new IncrementalByteDecoder(this);
    let length = 0;
    for (let i = 0; i < ids.length; i++) {
      length += decoder.pushLength(ids[i]!);
      ends[i] = length;
    }
    if (ends.length > 0) ends[ends.length - 1] = text.length;
    return { text, ends };
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
  private pending: Buffer = Buffer.alloc(0);

  constructor(private readonly decoder: ByteDecoder) {}

  push(id: number): string {
    const bytes = this.certain(id);
    return bytes.toString('utf8');
  }

  /** As `push`, in UTF-16 units. */
  pushLength(id: number): number {
    return utf16Length(this.certain(id));
  }

  finish(): string {
    const rest = this.pending.toString('utf8');
    this.pending = Buffer.alloc(0);
    return rest;
  }

  private certain(id: number): Buffer {
    const added = this.decoder.tokenBytes(id);
    const view = Buffer.from(added.buffer, added.byteOffset, added.length);
    const bytes = this.pending.length === 0 ? view : Buffer.concat([this.pending, view]);
    const end = bytes.length - incompleteTail(bytes);
    this.pending = bytes.subarray(end);
    return bytes.subarray(0, end);
  }
}
