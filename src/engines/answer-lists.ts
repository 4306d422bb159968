/**
 * The long lists of an answer, read from its bytes without making an object per token; the rest of the body is small and goes
 * through `JSON.parse`. Only the spelling that the servers print is read here, without spaces. Whatever else comes, a `null`
 * or a NaN included, is left to the general reader.
 */
import type { EngineHttpResponse } from './engine.js';
import { NumberScan } from './number-scan.js';

/** Reads one list, from behind its `[` to behind its `]`; `false` = not in the expected spelling. */
export type ListReader = (scan: NumberScan) => boolean;

const COMMA = 0x2c;
const CLOSE = 0x5d;

/**
 * The body with `null` for the first list of each name, or `undefined` where one is missing or spelled in another way. That it
 * was the right one is seen by the `null`, which the caller must look for. Lists named in `skip` are dropped unread if they
 * are of numbers.
 */
export function bodyWithoutLists(
  response: EngineHttpResponse,
  readers: Readonly<Record<string, ListReader>>,
  skip: readonly string[] = [],
): unknown {
  const { body } = response;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const cuts: { readonly start: number; readonly end: number }[] = [];
  for (const [name, read] of Object.entries(readers)) {
    const start = listStart(bytes, name);
    if (start < 0) return undefined;
    const scan = new NumberScan(bytes, start + 1);
    if (!read(scan)) return undefined;
    cuts.push({ start, end: scan.at });
  }
  for (const name of skip) {
    const start = listStart(bytes, name);
    const end = start < 0 ? -1 : bytes.indexOf(CLOSE, start);
    const quote = bytes.indexOf('"', Math.max(start, 0));
    if (end > 0 && (quote < 0 || quote > end)) cuts.push({ start, end: end + 1 });
  }
  cuts.sort((a, b) => a.start - b.start);
  let rest = '';
  let at = 0;
  for (const { start, end } of cuts) {
    if (start < at) return undefined;
    rest += `${bytes.toString('utf8', at, start)}null`;
    at = end;
  }
  try {
    return JSON.parse(rest + bytes.toString('utf8', at)) as unknown;
  } catch {
    return undefined;
  }
}

/** Where the `[` of the first `"name":[` stands; such a text cannot stand inside of a string, whose quotes are escaped. */
function listStart(bytes: Buffer, name: string): number {
  const text = `"${name}":[`;
  const found = bytes.indexOf(text);
  return found < 0 ? -1 : found + text.length - 1;
}

/** The values of the columns that a list was read into. */
export class Columns {
  ids = new Int32Array(256);
  logprobs = new Float32Array(256);
  length = 0;

  /** Makes room for one more row. */
  grow(): void {
    if (this.length < this.ids.length) return;
    const ids = new Int32Array(this.length * 4);
    const logprobs = new Float32Array(this.length * 4);
    ids.set(this.ids);
    logprobs.set(this.logprobs);
    this.ids = ids;
    this.logprobs = logprobs;
  }

  get allIds(): Int32Array {
    return this.ids.subarray(0, this.length);
  }

  get allLogprobs(): Float32Array {
    return this.logprobs.subarray(0, this.length);
  }
}

const FIRST = new Columns();
const SECOND = new Columns();

/** Empty columns for two lists of an answer, in memory that is used again: what is read into them is copied before the next answer is read. */
export function spareColumns(): readonly [Columns, Columns] {
  FIRST.length = 0;
  SECOND.length = 0;
  return [FIRST, SECOND];
}

/** A list of natural numbers, into the ids. */
export const naturals =
  (into: Columns): ListReader =>
  (scan) => {
    if (isEmpty(scan)) return true;
    for (;;) {
      into.grow();
      const id = scan.natural();
      if (id < 0) return false;
      into.ids[into.length++] = id;
      const byte = scan.bytes[scan.at++];
      if (byte !== COMMA) return byte === CLOSE;
    }
  };

/** A list of numbers, into the logprobs. */
export const floats =
  (into: Columns): ListReader =>
  (scan) => {
    if (isEmpty(scan)) return true;
    for (;;) {
      into.grow();
      const value = scan.float32();
      if (Number.isNaN(value)) return false;
      into.logprobs[into.length++] = value;
      const byte = scan.bytes[scan.at++];
      if (byte !== COMMA) return byte === CLOSE;
    }
  };

/** vLLM's entries, `{"token_id":9,"logprob":-0.1,"rank":1,"top_logprobs":[…]}`; the alternatives are not read. */
export const entries =
  (into: Columns): ListReader =>
  (scan) => {
    if (isEmpty(scan)) return true;
    for (;;) {
      const start = scan.at;
      const exact = into.length === 0;
      into.grow();
      if (!scan.skip(ENTRY, exact)) return false;
      const id = scan.natural();
      if (id < 0 || !scan.skip(LOGPROB, exact)) return false;
      const logprob = scan.float32();
      if (Number.isNaN(logprob) || !scan.skip(RANK, exact) || scan.natural() < 0 || !skipAlternatives(scan, scan.at - start, exact))
        return false;
      into.ids[into.length] = id;
      into.logprobs[into.length++] = logprob;
      const byte = scan.bytes[scan.at++];
      if (byte !== COMMA) return byte === CLOSE;
    }
  };

/** SGLang's tuples, `[-0.1,9,null]`. */
export const tuples =
  (into: Columns): ListReader =>
  (scan) => {
    if (isEmpty(scan)) return true;
    for (;;) {
      const exact = into.length === 0;
      into.grow();
      if (!scan.skip(TUPLE, exact)) return false;
      const logprob = scan.float32();
      if (Number.isNaN(logprob) || scan.bytes[scan.at++] !== COMMA) return false;
      const id = scan.natural();
      if (id < 0 || !scan.skip(TUPLE_END, exact)) return false;
      into.ids[into.length] = id;
      into.logprobs[into.length++] = logprob;
      const byte = scan.bytes[scan.at++];
      if (byte !== COMMA) return byte === CLOSE;
    }
  };

const ENTRY = Buffer.from('{"token_id":');
const LOGPROB = Buffer.from(',"logprob":');
const RANK = Buffer.from(',"rank":');
const TOP = Buffer.from(',"top_logprobs":[');
const ENTRY_END = Buffer.from('}]}');
const TUPLE = Buffer.from('[');
const TUPLE_END = Buffer.from(',null]');
const BRACE = 0x7d;

/** Moves behind the alternatives and the entry; without alternatives asked for, there is one, as long as the entry itself. */
function skipAlternatives(scan: NumberScan, entryLength: number, exact: boolean): boolean {
  if (!scan.skip(TOP, exact)) return false;
  const start = scan.at;
  scan.at = start + entryLength;
  if (scan.skip(ENTRY_END, true)) return true;
  const close = scan.bytes.indexOf(CLOSE, start);
  scan.at = close + 2;
  return close >= 0 && scan.bytes[close + 1] === BRACE;
}

function isEmpty(scan: NumberScan): boolean {
  if (scan.bytes[scan.at] !== CLOSE) return false;
  scan.at++;
  return true;
}
