import type { MergeTable } from './bpe-merges.js';
import type { ByteVocabulary } from './bpe-vocabulary.js';
import { LongWord, mergeShortWord, SHORT_WORD_MAX } from './bpe-word.js';
import type { Section, SectionEncoder } from './encoder.js';
import type { IdBuffer } from './encoder-buffers.js';
import { CACHED_UNITS_MAX, PieceCache } from './encoder-cache.js';
import type { CharacterClasses } from './encoder-classes.js';
import { PieceSplitter, type SplitStage } from './encoder-splitter.js';

/** Pieces, or units of work on one long piece, between two places where other work may run: a few tenths of a millisecond. */
const STEP_PIECES = 2048;
const STEP_WORK = 4096;

export interface ByteLevelBpe {
  readonly stages: readonly SplitStage[];
  readonly classes: CharacterClasses;
  /** Id of the token of each single byte. */
  readonly idOfByte: Int32Array;
  readonly merges: MergeTable;
  /** Where the model takes a piece that is a token as it is, merges or not (`ignore_merges`), else `null`. */
  readonly wholePieces: ByteVocabulary | null;
}

/**
 * Splits by the pre-tokenizer's patterns, then byte-pair encoding of each piece's bytes: pieces never merge with one another, so the
 * ids of a piece seen before can be taken from a cache.
 */
export class ByteLevelEncoder implements SectionEncoder {
  private readonly cache = new PieceCache();
  private readonly spare: PieceSplitter[] = [];
  private readonly bytes = new Uint8Array(SHORT_WORD_MAX + 4);
  private readonly symbols = new Int32Array(SHORT_WORD_MAX + 4);

  constructor(private readonly bpe: ByteLevelBpe) {}

  *steps(section: Section, out: IdBuffer): Generator<void, void, void> {
    const splitter = this.spare.pop() ?? new PieceSplitter(this.bpe.stages, this.bpe.classes);
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
  private pieces(units: Uint16Array, splitter: PieceSplitter, out: IdBuffer): 'done' | 'more' | LongWord {
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
    const { idOfByte, merges, wholePieces } = this.bpe;
    const isShort = end - start <= SHORT_WORD_MAX;
    let bytes = this.bytes;
    if (!isShort || (end - start) * 3 > bytes.length) bytes = new Uint8Array((end - start) * 3);
    const length = writeUtf8(units, start, end, bytes);
    if (wholePieces !== null) {
      const id = wholePieces.find(bytes, length);
      if (id >= 0) {
        out.push(id);
        return null;
      }
    }
    if (length <= SHORT_WORD_MAX) {
      for (let i = 0; i < length; i++) this.symbols[i] = idOfByte[bytes[i]!]!;
      mergeShortWord(this.symbols, length, merges, out);
      return null;
    }
    const symbols = new Int32Array(length);
    for (let i = 0; i < length; i++) symbols[i] = idOfByte[bytes[i]!]!;
    return new LongWord(symbols, merges);
  }
}

const NO_UNITS = new Uint16Array(0);

/** Writes well-formed UTF-16 as UTF-8; gives the number of bytes. */
function writeUtf8(units: Uint16Array, start: number, end: number, bytes: Uint8Array): number {
  let length = 0;
  for (let i = start; i < end; i++) {
    let point = units[i]!;
    if (point < 0x80) {
      bytes[length++] = point;
      continue;
    }
    if (point < 0x800) {
      bytes[length++] = 0xc0 | (point >> 6);
    } else {
      if ((point & 0xfc00) === 0xd800) {
        point = 0x10000 + ((point & 0x3ff) << 10) + (units[++i]! & 0x3ff);
        bytes[length++] = 0xf0 | (point >> 18);
        bytes[length++] = 0x80 | ((point >> 12) & 0x3f);
      } else {
        bytes[length++] = 0xe0 | (point >> 12);
      }
      bytes[length++] = 0x80 | ((point >> 6) & 0x3f);
    }
    bytes[length++] = 0x80 | (point & 0x3f);
  }
  return length;
}
