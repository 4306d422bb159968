import { Buffer } from 'node:buffer';
import type { DecodedText, Decoder, IncrementalDecoder } from './decoder.js';
import { Utf16Counter } from './decoder-utf8.js';

/** What a token adds to the text: letters, or one byte that counts together with its neighbours. */
export type Piece = string | number;

export interface PieceRules {
  /** By id; holes are unknown ids. */
  readonly pieces: readonly (Piece | undefined)[];
  /** Piece of a token that is the first of all, where that differs. */
  readonly firstPiece: (id: number) => Piece | undefined;
  /** At most `count` of this character are cut off at the beginning of the text. */
  readonly strip: { readonly character: string; readonly count: number };
}

/**
 * Decodes tokens that stand for letters, with single-byte tokens for what the vocabulary lacks (byte fallback, Metaspace). As in the
 * Rust crate a run of byte tokens is one text if all of it is UTF-8, else one U+FFFD per byte: it is certain only when it has ended.
 */
export class PieceDecoder implements Decoder {
  constructor(readonly rules: PieceRules) {}

  decode(ids: ArrayLike<number>): string {
    const decoder = new IncrementalPieceDecoder(this.rules);
    let text = '';
    for (let i = 0; i < ids.length; i++) text += decoder.push(ids[i]!);
    return text + decoder.finish();
  }

  decodeWithOffsets(ids: ArrayLike<number>): DecodedText {
    const decoder = new IncrementalPieceDecoder(this.rules);
    const ends = new Int32Array(ids.length);
    let run: number[] = [];
    let text = '';
    const endRun = (from: number): void => {
      for (const [index, end] of decoder.endsOfRun().entries()) ends[run[index]!] = from + end;
      run = [];
    };
    for (let i = 0; i < ids.length; i++) {
      const { length } = text;
      const waiting = decoder.runLength;
      text += decoder.push(ids[i]!);
      if (decoder.runLength > waiting) run.push(i);
      else if (waiting > 0 && decoder.runLength === 0) endRun(length);
      ends[i] = text.length;
    }
    const { length } = text;
    text += decoder.finish();
    if (run.length > 0) endRun(length);
    for (let i = 1; i < ends.length; i++) ends[i] = Math.max(ends[i]!, ends[i - 1]!);
    if (ends.length > 0) ends[ends.length - 1] = text.length;
    return { text, ends };
  }

  newDecoder(): IncrementalDecoder {
    return new IncrementalPieceDecoder(this.rules);
  }

  tokenBytes(id: number): Uint8Array {
    const piece = this.rules.pieces[id] ?? '';
    return typeof piece === 'number' ? Uint8Array.of(piece) : Buffer.from(piece);
  }
}

class IncrementalPieceDecoder implements IncrementalDecoder {
  private run: number[] = [];
  private ended: readonly number[] = [];
  private isFirst = true;
  private toStrip: number;
  private stripped = 0;

  constructor(private readonly rules: PieceRules) {
    this.toStrip = rules.strip.count;
  }

  get runLength(): number {
    return this.run.length;
  }

  push(id: number): string {
    const piece = this.isFirst ? this.rules.firstPiece(id) : this.rules.pieces[id];
    if (piece === undefined) return '';
    this.isFirst = false;
    if (typeof piece === 'string') return this.cut(this.endRun() + piece);
    this.run.push(piece);
    return '';
  }

  finish(): string {
    return this.cut(this.endRun());
  }

  /** Ends of the bytes of the run that has just ended, from its beginning: a character belongs to the byte that completes it. */
  endsOfRun(): readonly number[] {
    const bytes = Uint8Array.from(this.ended);
    const isText = decodeRun(this.ended) !== null;
    const counter = new Utf16Counter();
    return this.ended.map((_, i) => {
      counter.add(bytes, i, i + 1);
      return Math.max((isText ? counter.units : i + 1) - this.stripped, 0);
    });
  }

  private endRun(): string {
    const { run } = this;
    if (run.length === 0) return '';
    this.ended = run;
    this.run = [];
    return decodeRun(run) ?? '\ufffd'.repeat(run.length);
  }

  private cut(text: string): string {
    this.stripped = 0;
    if (this.toStrip === 0 || text === '') return text;
    while (this.stripped < this.toStrip && text.startsWith(this.rules.strip.character, this.stripped)) this.stripped++;
    this.toStrip = this.stripped === text.length ? this.toStrip - this.stripped : 0;
    return text.slice(this.stripped);
  }
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeRun(run: readonly number[]): string | null {
  try {
    return strict.decode(Uint8Array.from(run));
  } catch {
    return null;
  }
}
