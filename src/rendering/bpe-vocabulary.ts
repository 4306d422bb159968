/** Finds the token that is exactly these bytes: an open-addressed table over one block of bytes. */
export class ByteVocabulary {
  private readonly slots: Int32Array;
  private readonly mask: number;
  private readonly blob: Uint8Array;
  private readonly offsets: Int32Array;
  private readonly ids: Int32Array;

  constructor(tokens: readonly (readonly [Uint8Array, number])[]) {
    let size = 16;
    while (size < tokens.length * 2) size *= 2;
    this.mask = size - 1;
    this.slots = new Int32Array(size).fill(-1);
    this.blob = new Uint8Array(tokens.reduce((sum, [bytes]) => sum + bytes.length, 0));
    this.offsets = new Int32Array(tokens.length + 1);
    this.ids = Int32Array.from(tokens, ([, id]) => id);
    let end = 0;
    for (const [index, [bytes]] of tokens.entries()) {
      this.blob.set(bytes, end);
      end += bytes.length;
      this.offsets[index + 1] = end;
      let slot = hashOf(bytes, bytes.length) & this.mask;
      while (this.slots[slot] !== -1) slot = (slot + 1) & this.mask;
      this.slots[slot] = index;
    }
  }

  /** Id of the token that is the first `length` bytes, -1 where there is none. */
  find(bytes: Uint8Array, length: number): number {
    const { blob, offsets } = this;
    let slot = hashOf(bytes, length) & this.mask;
    for (;;) {
      const index = this.slots[slot]!;
      if (index < 0) return -1;
      const start = offsets[index]!;
      if (offsets[index + 1]! - start === length) {
        let same = 0;
        while (same < length && blob[start + same] === bytes[same]) same++;
        if (same === length) return this.ids[index]!;
      }
      slot = (slot + 1) & this.mask;
    }
  }
}

function hashOf(bytes: Uint8Array, length: number): number {
  let hash = length;
  for (let i = 0; i < length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  return hash ^ (hash >>> 15);
}
