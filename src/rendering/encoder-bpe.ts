import type { Alphabet } from './bpe-alphabet.js';
import type { MergeTable } from './bpe-merges.js';
import { LongWord, mergeShortWord, SHORT_WORD_MAX } from './bpe-word.js';
import type { Section, SectionEncoder } from './encoder.js';
import type { IdBuffer } from './encoder-buffers.js';
import { CACHED_UNITS_MAX, PieceCache } from './encoder-cache.js';

/** Pieces, or units of work on one long piece, between two places where other work may run: less than two milliseconds, also where no piece was seen before. */
const STEP_PIECES = 256;
const STEP_WORK = 4096;

/** Cuts a section into pieces, one at a time; pieces are not empty and never merge with one another. */
export interface Splitter {
  open(units: Uint16Array, start: number, end: number): void;
  /** Whether there is another piece: `start` to `end`. */
  next(): boolean;
  readonly start: number;
  readonly end: number;
}

export interface BpeParts {
  readonly newSplitter: () => Splitter;
  readonly alphabet: Alphabet;
  readonly merges: MergeTable;
  /** What the pre-tokenizer changes in a section before it is cut, `null` for nothing. */
  readonly prepare: ((section: Section) => Section) | null;
}

/** Byte-pair encoding, piece by piece: the ids of a piece seen before are taken from a cache. */
export class BpeEncoder implements SectionEncoder {
  private readonly cache = new PieceCache();
  private readonly spare: Splitter[] = [];
  private readonly symbols = new Int32Array(SHORT_WORD_MAX * 3);

  constructor(private readonly parts: BpeParts) {}

  *steps(given: Section, out: IdBuffer): Generator<void, void, void> {
    const section = this.parts.prepare === null ? given : this.parts.prepare(given);
    const splitter = this.spare.pop() ?? this.parts.newSplitter();
    splitter.open(section.units, section.start, section.end);
    for (;;) {
      const long = this.pieces(section.units, splitter, out);
      if (long === 'done') break;
      yield;
      if (long === 'more') continue;
      while (!long.step(STEP_WORK)) yield;
      long.append(out);
    }
    splitter.open(NO_UNITS, 0, 0);
    if (this.spare.length < 4) this.spare.push(splitter);
  }

  /** Encodes pieces until there is no more, enough is done, or a long one is met, which is left to the caller. */
  private pieces(units: Uint16Array, splitter: Splitter, out: IdBuffer): 'done' | 'more' | LongWord {
    const { cache } = this;
    for (let left = STEP_PIECES; left > 0; left--) {
      if (!splitter.next()) return 'done';
      const { start, end } = splitter;
      if (end - start > CACHED_UNITS_MAX) {
        const long = this.uncached(units, start, end, out);
        if (long !== null) return long;
        continue;
      }
      const hash = cache.hash(units, start, end);
      if (cache.find(units, start, end, hash, out)) continue;
      const from = out.length;
      const long = this.uncached(units, start, end, out);
      if (long !== null) {
        while (!long.step(STEP_WORK));
        long.append(out);
      }
      cache.add(units, start, end, hash, out, from);
    }
    return 'more';
  }

  /** Encodes one piece by the model; a long one comes back unmerged. */
  private uncached(units: Uint16Array, start: number, end: number, out: IdBuffer): LongWord | null {
    const { alphabet, merges } = this.parts;
    const whole = alphabet.wholePiece(units, start, end);
    if (whole >= 0) {
      out.push(whole);
      return null;
    }
    const symbols = end - start <= SHORT_WORD_MAX ? this.symbols : new Int32Array((end - start) * 3);
    const count = alphabet.symbols(units, start, end, symbols);
    if (count > SHORT_WORD_MAX) return new LongWord(symbols.slice(0, count), merges);
    mergeShortWord(symbols, count, merges, out);
    return null;
  }
}

const NO_UNITS = new Uint16Array(0);
