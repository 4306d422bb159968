import { BufferPool, type BufferSource } from '../memory/buffer-pool.js';
import { writeInteger } from './integer-write.js';

const OPEN = 0x5b;
const CLOSE = 0x5d;
const COMMA = 0x2c;
const CLOSE_BRACE = 0x7d;
/** Bytes of the longest id with its comma: `-2147483648,`. */
const LONGEST = 12;
/** Bytes of most ids with their comma. */
const USUAL = 7;
/** Bytes for the members of a body that stand before the ids. */
const HEAD_ROOM = 1024;
/** Buffers grow by this factor at least, so that a growing prompt is seldom copied. */
const GROWTH = 1.25;
const EMPTY = new ArrayBuffer(0);

/** Keeps nothing. */
const UNPOOLED: BufferSource = new BufferPool(0);

/**
 * A prompt and the request body that spells it, grown in place: the next prompt of its branch costs the ids that are new, and no
 * buffer. Belongs to one call at a time: a body is valid until the next prompt or the next body.
 */
export class SpelledIds {
  #ids: Int32Array<ArrayBuffer> = new Int32Array(EMPTY);
  #count = 0;
  /** `[head][ids,ids,…]}`; the `[` of the ids stands at `#start`. */
  #view = new DataView(EMPTY);
  #start = 0;
  /** How many ids are spelled, from the first, and where the last of them ends. */
  #spelled = 0;
  #end = 0;

  /** @param memory where its buffers come from */
  constructor(private readonly memory: BufferSource = UNPOOLED) {}

  /** The prompt. Its memory is ours: it stays as it is until {@link become}. */
  get ids(): Int32Array {
    return this.#ids.subarray(0, this.#count);
  }

  get bytesHeld(): number {
    return this.#ids.byteLength + this.#view.byteLength;
  }

  /** Gives its buffers back; what it said is gone. Nobody may be reading a body of it. */
  release(): void {
    this.#give(this.#ids.buffer);
    this.#give(this.#view.buffer);
    this.#ids = new Int32Array(EMPTY);
    this.#view = new DataView(EMPTY);
    this.#count = this.#start = this.#spelled = this.#end = 0;
  }

  /**
   * Takes over another prompt, by copy.
   * @returns the number of leading ids that were there already
   */
  become(ids: Int32Array): number {
    const common = commonLength(this.ids, ids);
    this.#forgetBehind(common);
    if (ids.length > this.#ids.length) {
      const { buffer } = this.memory.take(roomFor(ids.length) * Int32Array.BYTES_PER_ELEMENT);
      const larger = new Int32Array(buffer, 0, Math.floor(buffer.byteLength / Int32Array.BYTES_PER_ELEMENT));
      larger.set(this.#ids.subarray(0, common));
      larger.set(ids.subarray(common), common);
      this.#give(this.#ids.buffer);
      this.#ids = larger;
    } else this.#ids.set(ids.subarray(common), common);
    this.#count = ids.length;
    return common;
  }

  /** `head`, the ids as a JSON array without spaces, and a closing brace. */
  body(head: string): Buffer<ArrayBuffer> {
    const headBytes = Buffer.byteLength(head);
    if (headBytes > this.#start) this.#lay(headBytes, 0);
    const end = this.#spell();
    const start = this.#start - headBytes;
    const body = Buffer.from(this.#view.buffer, start, end + 1 - start);
    body.write(head, 'utf8');
    body[body.length - 1] = CLOSE_BRACE;
    return body;
  }

  /** Ids from `count` on are not spelled any more. */
  #forgetBehind(count: number): void {
    const bytes = new Uint8Array(this.#view.buffer);
    for (; this.#spelled > count; this.#spelled--) {
      if (this.#spelled === 1) this.#end = this.#start + 1;
      else this.#end = bytes.lastIndexOf(COMMA, this.#end - 1);
    }
  }

  /** @returns where the array ends, behind its bracket */
  #spell(): number {
    const ids = this.#ids;
    const count = this.#count;
    const estimate = (count - this.#spelled) * USUAL + 2 * LONGEST;
    if (this.#view.byteLength === 0 || this.#end + estimate > this.#view.byteLength) this.#lay(this.#start, estimate);
    let view = this.#view;
    let at = this.#end;
    for (let index = this.#spelled; index < count; index++) {
      if (at + 2 * LONGEST > view.byteLength) {
        this.#spelled = index;
        this.#end = at;
        this.#lay(this.#start, (count - index + 2) * LONGEST);
        view = this.#view;
      }
      if (index > 0) view.setUint8(at++, COMMA);
      at = writeInteger(view, at, ids[index]!);
    }
    this.#spelled = count;
    this.#end = at;
    view.setUint8(at, CLOSE);
    return at + 1;
  }

  /** Moves what is spelled to a buffer with so many bytes before it, and `more` behind it. */
  #lay(before: number, more: number): void {
    const start = Math.max(before, HEAD_ROOM);
    const length = Math.max(1, this.#end - this.#start);
    const larger = this.memory.take(roomFor(start + length + more + 2 * LONGEST));
    larger.set(new Uint8Array(this.#view.buffer, this.#start, this.#end - this.#start), start);
    larger[start] = OPEN;
    this.#give(this.#view.buffer);
    this.#view = new DataView(larger.buffer);
    this.#start = start;
    this.#end = start + length;
  }

  #give(buffer: ArrayBuffer): void {
    if (buffer !== EMPTY) this.memory.give(buffer);
  }
}

const roomFor = (needed: number): number => Math.ceil(needed * GROWTH);

/** Number of leading ids that two arrays share. */
export function commonLength(a: Int32Array, b: Int32Array): number {
  const length = Math.min(a.length, b.length);
  if (length === 0 || (a.buffer === b.buffer && a.byteOffset === b.byteOffset)) return length;
  const left = Buffer.from(a.buffer, a.byteOffset, length * 4);
  if (left.equals(Buffer.from(b.buffer, b.byteOffset, length * 4))) return length;
  let index = 0;
  while (a[index] === b[index]) index++;
  return index;
}
