import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import type { JsonObject } from '../canonical/json-value.js';
import { parseBody } from '../protocols/request-body.js';
import { type BodyOutline, historyLength } from './body-outline.js';
import { readBody } from './body-reader.js';
import { NOTHING_SHARED, type SharedPrefix, sharedPrefix } from './shared-prefix.js';

/** Branches of one session whose last body is remembered: the main thread, sub-agents and samples that work at the same time. */
const BODIES_PER_SESSION = 16;
/** A body that says all of an earlier one but this many messages takes its place; clients move cache markers and drop reminders. */
const CHANGED_MESSAGES = 3;
/** Bytes that tell whether a body goes on as another one does; an item shorter than this is not worth a closer look. */
const GLANCE = 64;
/** A buffer this many times as large as its body is copied before it is kept. */
const SLACK = 1.25;

export interface ReadBody {
  readonly value: JsonObject;
  /** Equal for equal bodies of a protocol, within one session. */
  readonly digest: string;
  /** `null` where the plain reader read it. */
  readonly outline: BodyOutline | null;
  readonly base: KeptBody | null;
}

export interface KeptBody {
  readonly outline: BodyOutline;
  readonly owner: BodyMemory;
}

/** All bodies that a shard remembers; beyond its size the oldest is forgotten. */
export class BodyShelf {
  readonly #bodies = new Set<KeptBody>();
  #usedBytes = 0;

  constructor(
    private readonly bytesMax: number,
    private readonly free: (buffer: ArrayBuffer) => void = () => undefined,
  ) {}

  get usedBytes(): number {
    return this.#usedBytes;
  }

  add(body: KeptBody): void {
    this.#bodies.add(body);
    this.#usedBytes += sizeOf(body);
    for (const oldest of this.#bodies) {
      if (this.#usedBytes <= this.bytesMax) break;
      oldest.owner.drop(oldest);
    }
  }

  /** The bytes of an outline are not read any more. */
  release({ bytes }: BodyOutline): void {
    if (bytes.buffer instanceof ArrayBuffer) this.free(bytes.buffer);
  }

  remove(body: KeptBody): void {
    if (!this.#bodies.delete(body)) return;
    this.#usedBytes -= sizeOf(body);
    this.release(body.outline);
  }
}

/**
 * The newest body of each branch of a session. What a new body has in common with one of them is not read again: it is the same
 * object as before, so that all that was found out about it still holds.
 */
export class BodyMemory {
  /** The oldest first. */
  readonly #kept: KeptBody[] = [];

  constructor(
    private readonly shelf: BodyShelf,
    private readonly depth: number,
  ) {}

  get size(): number {
    return this.#kept.length;
  }

  /** Of the longest body that is remembered. */
  get longestBytes(): number {
    return this.#kept.reduce((longest, { outline }) => Math.max(longest, outline.bytes.byteLength), 0);
  }

  /**
   * Reads a body and changes nothing: {@link keep} remembers it.
   * @throws GatewayError as `parseBody`
   */
  read(protocol: string, bytes: Uint8Array): ReadBody {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const { base, shared } = this.#closest(buffer);
    const outline = readBody(buffer, this.depth, base?.outline ?? null, shared);
    if (outline === null) {
      const value = parseBody(bytes, this.depth);
      return { value, digest: bodyDigest(protocol, bytes), outline, base };
    }
    return { value: outline.value, digest: outlineDigest(protocol, outline), outline, base };
  }

  /** Remembers a body that was read; its bytes are ours from here on. */
  keep({ outline, base }: ReadBody): void {
    if (outline === null) return;
    const { reused, lost } = outline.history;
    if (base !== null && lost <= CHANGED_MESSAGES && lost <= reused) this.drop(base);
    if (this.#kept.length >= BODIES_PER_SESSION) this.drop(this.#kept[0]!);
    const lean = withoutSlack(outline);
    if (lean !== outline) this.shelf.release(outline);
    const body = { outline: lean, owner: this };
    this.#kept.push(body);
    this.shelf.add(body);
  }

  drop(body: KeptBody): void {
    const at = this.#kept.indexOf(body);
    if (at !== -1) this.#kept.splice(at, 1);
    this.shelf.remove(body);
  }

  clear(): void {
    for (const body of this.#kept.splice(0)) this.shelf.remove(body);
  }

  /** The body with the longest common beginning; the newest one that is continued as a whole is good enough. */
  #closest(bytes: Buffer): { readonly base: KeptBody | null; readonly shared: SharedPrefix } {
    let base: KeptBody | null = null;
    let shared = NOTHING_SHARED;
    for (let i = this.#kept.length - 1; i >= 0; i--) {
      const body = this.#kept[i]!;
      if (base !== null && !goesOnAs(body.outline.bytes, bytes, shared.bytes)) continue;
      const found = sharedPrefix(bytes, body.outline);
      if (base === null || found.bytes > shared.bytes) [base, shared] = [body, found];
      if (found.items !== null && found.items > 0 && found.items === historyLength(body.outline)) break;
    }
    return { base, shared };
  }
}

/** Names a body: equal for a retry of it, within one session. */
export const bodyDigest = (protocol: string, body: Uint8Array): string => `${protocol}:${body.byteLength}:${crc32(body).toString(36)}`;

function outlineDigest(protocol: string, { members, bytes }: BodyOutline): string {
  const sums = members.map(({ name, sum }) => `${name}:${sum}`);
  return `${protocol}:${bytes.byteLength}:o${crc32(sums.join()).toString(36)}`;
}

function goesOnAs(a: Buffer, b: Buffer, at: number): boolean {
  const end = Math.min(at + GLANCE, a.length, b.length);
  return at < end && a.compare(b, at, end, at, end) === 0;
}

const sizeOf = ({ outline }: KeptBody): number => outline.bytes.buffer.byteLength;

const withoutSlack = (outline: BodyOutline): BodyOutline =>
  outline.bytes.buffer.byteLength <= outline.bytes.byteLength * SLACK ? outline : { ...outline, bytes: copyOf(outline.bytes) };

/** In a buffer of its own. */
function copyOf(bytes: Buffer): Buffer {
  const copy = new Uint8Array(bytes);
  return Buffer.from(copy.buffer);
}
