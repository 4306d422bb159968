import type { Automaton } from './encoder-automaton.js';
import type { Splitter } from './encoder-bpe.js';
import { type CharacterClasses, PAIR } from './encoder-classes.js';

/** One stage of a pre-tokenizer: what its pattern matches is a piece; what lies between two matches is one too, or is dropped. */
export interface SplitStage {
  readonly automaton: Automaton;
  readonly dropsGaps: boolean;
  readonly dropsMatches: boolean;
}

/** Cuts a section into pieces, one at a time; each stage cuts the pieces of the one before. */
export class PieceSplitter implements Splitter {
  /** The piece that `next` found. */
  start = 0;
  end = 0;
  private readonly cursors: readonly Cursor[];

  constructor(stages: readonly SplitStage[], classes: CharacterClasses) {
    const cursors: Cursor[] = [];
    for (const stage of stages) cursors.push(new Cursor(stage, classes, cursors.at(-1) ?? null));
    this.cursors = cursors;
  }

  open(units: Uint16Array, start: number, end: number): void {
    for (const cursor of this.cursors) cursor.open(units, end);
    this.cursors[0]!.span(start, end);
  }

  /** Whether there is another piece; it is never empty. */
  next(): boolean {
    const last = this.cursors[this.cursors.length - 1]!;
    if (!last.next()) return false;
    this.start = last.pieceStart;
    this.end = last.pieceEnd;
    return true;
  }
}

class Cursor {
  pieceStart = 0;
  pieceEnd = 0;
  private units: Uint16Array = new Uint16Array(0);
  private at = 0;
  private limit = 0;
  /** End of a match that waits behind a gap that was handed out before it, else -1. */
  private matchEnd = -1;
  private readonly table: Int32Array;
  private readonly first: number;
  private readonly endOfText: number;
  private readonly ofUnit: Uint8Array;
  private readonly ofCodePoint: Uint8Array;
  /** By class: 0 where no match begins with such a character. */
  private readonly begins = new Uint8Array(256).fill(1);

  constructor(
    private readonly stage: SplitStage,
    classes: CharacterClasses,
    private readonly source: Cursor | null,
  ) {
    this.table = stage.automaton.table;
    this.first = stage.automaton.start;
    this.endOfText = stage.automaton.endOfText;
    this.ofUnit = classes.ofUnit;
    this.ofCodePoint = classes.ofCodePoint;
    for (let kind = 0; kind < classes.count; kind++) this.begins[kind] = this.table[this.first + kind]! >> 1 === 0 ? 0 : 1;
  }

  open(units: Uint16Array, end: number): void {
    this.units = units;
    this.at = end;
    this.limit = end;
    this.matchEnd = -1;
  }

  span(start: number, end: number): void {
    this.at = start;
    this.limit = end;
  }

  next(): boolean {
    for (;;) {
      if (this.matchEnd >= 0) {
        this.pieceStart = this.at;
        this.pieceEnd = this.matchEnd;
        this.at = this.matchEnd;
        this.matchEnd = -1;
        if (!this.stage.dropsMatches) return true;
        continue;
      }
      if (this.at >= this.limit) {
        if (this.source === null || !this.source.next()) return false;
        this.span(this.source.pieceStart, this.source.pieceEnd);
      }
      const gapStart = this.at;
      let at = gapStart;
      let end = -1;
      const { units, ofUnit, begins, limit } = this;
      for (;;) {
        while (at < limit && begins[ofUnit[units[at]!]!] === 0) at++;
        if (at >= limit) break;
        end = this.match(at);
        if (end >= 0) break;
        at += ofUnit[units[at]!] === PAIR ? 2 : 1;
      }
      if (at === gapStart) {
        this.pieceStart = at;
        this.pieceEnd = end;
        this.at = end;
        if (!this.stage.dropsMatches) return true;
        continue;
      }
      this.at = at;
      this.matchEnd = end;
      this.pieceStart = gapStart;
      this.pieceEnd = at;
      if (!this.stage.dropsGaps) return true;
    }
  }

  /** End of the match that begins here, -1 without one. */
  private match(from: number): number {
    const { table, units, limit, ofUnit } = this;
    let state = this.first;
    let last = -1;
    let at = from;
    while (at < limit) {
      let kind = ofUnit[units[at]!]!;
      let width = 1;
      if (kind === PAIR) {
        kind = this.ofCodePoint[((units[at]! & 0x3ff) << 10) | (units[at + 1]! & 0x3ff)]!;
        width = 2;
      }
      const entry = table[state + kind]!;
      if ((entry & 1) !== 0) last = at;
      state = entry >> 1;
      if (state === 0) return last;
      at += width;
    }
    return (table[state + this.endOfText]! & 1) !== 0 ? limit : last;
  }
}
