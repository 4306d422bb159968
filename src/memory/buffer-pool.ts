/** Smaller buffers are made and collected as cheaply as they are kept. */
const POOLED_MIN = 32_768;
/** Each size is this factor larger than the one before: a buffer has at most so much more room than was asked for. */
const STEP = 1.2;
/** Up to beyond 4 GiB, which no body may have. */
const SIZES: number[] = [];
for (let size = POOLED_MIN; size < 2 ** 33; size = Math.ceil(size * STEP)) SIZES.push(size);

/** Where buffers come from, and go to when nobody reads them any more. */
export interface BufferSource {
  /** At least so many bytes in a buffer of their own, not cleared. */
  take(bytes: number): Uint8Array<ArrayBuffer>;
  give(buffer: ArrayBuffer): void;
}

/**
 * Large buffers, used again: those of request bodies, which cross to their shard by transfer and come back when the next body of the
 * conversation has taken their place, and those of spelled prompts. The collector counts memory outside of the heap as if it
 * were inside: half a megabyte a turn would make it mark the whole heap every hundred turns.
 */
export class BufferPool implements BufferSource {
  readonly #free = new Map<number, ArrayBuffer[]>();
  #freeBytes = 0;

  constructor(private readonly freeBytesMax: number) {}

  /** Memory that waits for use. */
  get freeBytes(): number {
    return this.#freeBytes;
  }

  /** What {@link take} will give for so many bytes. */
  sizeFor(bytes: number): number {
    if (bytes < POOLED_MIN) return bytes;
    return SIZES.find((size) => size >= bytes)!;
  }

  take(bytes: number): Uint8Array<ArrayBuffer> {
    const size = this.sizeFor(bytes);
    const buffer = this.#free.get(size)?.pop();
    if (buffer === undefined) return new Uint8Array(Buffer.allocUnsafeSlow(size).buffer);
    this.#freeBytes -= size;
    return new Uint8Array(buffer);
  }

  /** The buffer is the pool's from here on; one that it did not make is left to the collector. */
  give(buffer: ArrayBuffer): void {
    const size = buffer.byteLength;
    if (size < POOLED_MIN || this.sizeFor(size) !== size || this.#freeBytes + size > this.freeBytesMax) return;
    const free = this.#free.get(size);
    if (free === undefined) this.#free.set(size, [buffer]);
    else free.push(buffer);
    this.#freeBytes += size;
  }
}
