import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { ErrorValue } from '../errors.js';
import type { BufferPool } from '../memory/buffer-pool.js';
import type { RequestHead } from './request-head.js';
import type { HttpResponse } from './uws.js';

export type Body = Uint8Array<ArrayBuffer>;

/** How much memory all bodies being received may take together. */
export class BodyBudget {
  #used = 0;
  constructor(
    readonly bodyBytesMax: number,
    private readonly totalBytesMax: number,
  ) {}

  get usedBytes(): number {
    return this.#used;
  }

  take(bytes: number): boolean {
    if (this.#used + bytes > this.totalBytesMax) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}

const DECODERS: Readonly<Record<string, (data: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};
const isPlain = (encoding: string): boolean => encoding === '' || encoding === 'identity';

/** Capacity to begin with: a declared length is a claim, memory is given for bytes that came. */
const FIRST_BYTES = 1024 * 1024;
/** Beyond its input, what a decoder may produce is reserved from the budget before it runs. */
const EXPANSION_MAX = 1024;

const tooLarge = (bytes: number | string, limit: number): ErrorValue => ({
  code: 'body_too_large',
  message: `the body has ${bytes} bytes, limits.bodyBytes allows ${limit}`,
});
const noRoom = (budget: BodyBudget): ErrorValue => ({
  code: 'overloaded',
  message: `bodies being received take ${budget.usedBytes} bytes, limits.bodiesInFlightBytes allows no more; try again`,
  retryAfterMs: 1000,
});

/** Refuses by the head alone: nothing of the body is kept. */
export const admitBody = (head: RequestHead, budget: BodyBudget): ErrorValue | null => {
  if (head.contentLength !== null && head.contentLength > budget.bodyBytesMax) return tooLarge(head.contentLength, budget.bodyBytesMax);
  if (!isPlain(head.contentEncoding) && DECODERS[head.contentEncoding] === undefined) {
    return {
      code: 'unsupported_encoding',
      message: `content-encoding ${head.contentEncoding.slice(0, 60)} is not known, send gzip, deflate, br or none`,
    };
  }
  return null;
};

/**
 * Receives the body into one buffer of its own and calls `done` once, with the decoded bytes or what was wrong. The buffer can be
 * transferred. A client that sends too slowly is cut off by the library: it wants 16 KB/s and a byte every ten seconds.
 * @returns frees the memory when the client left; `done` is not called after it.
 */
export const receiveBody = (
  response: HttpResponse,
  head: RequestHead,
  budget: BodyBudget,
  buffers: BufferPool,
  done: (body: Body | ErrorValue) => void,
): (() => void) => {
  const limit = budget.bodyBytesMax;
  const declared = head.contentLength;
  let bytes: Body = new Uint8Array(0);
  let length = 0;
  let isOver = false;
  const finish = (result: Body | ErrorValue): void => {
    if (isOver) return;
    isOver = true;
    budget.give(bytes.byteLength);
    bytes = new Uint8Array(0);
    done(result);
  };
  const grow = (needed: number): boolean => {
    const wanted = Math.max(needed, bytes.byteLength * 2, Math.min(declared ?? 4096, FIRST_BYTES));
    const capacity = Math.min(wanted, Math.max(declared ?? limit, needed));
    const pooled = buffers.sizeFor(capacity);
    const isPooled = budget.take(pooled - bytes.byteLength);
    // Every body that is small enough has room when it is alone, whatever sizes the pool has.
    if (!isPooled && !budget.take(capacity - bytes.byteLength)) return false;
    const larger = isPooled ? buffers.take(pooled) : new Uint8Array(capacity);
    larger.set(bytes.subarray(0, length));
    buffers.give(bytes.buffer);
    bytes = larger;
    return true;
  };
  response.onData((chunk, isLast) => {
    if (isOver) return;
    const needed = length + chunk.byteLength;
    if (needed > limit) return finish(tooLarge(`more than ${limit}`, limit));
    if (needed > bytes.byteLength && !grow(needed)) return finish(noRoom(budget));
    bytes.set(new Uint8Array(chunk), length);
    length = needed;
    if (!isLast) return;
    const whole = bytes.subarray(0, length);
    if (isPlain(head.contentEncoding)) return finish(whole);
    decode(head.contentEncoding, whole, budget).then(finish);
  });
  return () => {
    if (isOver) return;
    isOver = true;
    budget.give(bytes.byteLength);
    buffers.give(bytes.buffer);
    bytes = new Uint8Array(0);
  };
};

const decode = async (encoding: string, encoded: Body, budget: BodyBudget): Promise<Body | ErrorValue> => {
  const limit = budget.bodyBytesMax;
  const reserved = Math.min(limit, encoded.byteLength * EXPANSION_MAX);
  if (!budget.take(reserved)) return noRoom(budget);
  try {
    // Copied, because small results share a pool of Node's that must not be transferred.
    return new Uint8Array(await DECODERS[encoding]!(encoded, { maxOutputLength: limit }));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return tooLarge(`more than ${limit} decoded`, limit);
    return { code: 'invalid_request', message: `the body is not valid ${encoding}: ${(cause as Error).message}` };
  } finally {
    budget.give(reserved);
  }
};
