import type { Splitter } from './encoder-bpe.js';

/** Kinds of characters that boundaries are told by; the last is the second half of a pair. */
const KINDS = ['▁', '\n', 'lower', 'upper', 'digit', 'ascii', 'other', 'half'] as const;
const COUNT = KINDS.length;
const OTHER = KINDS.indexOf('other');
const HALF = KINDS.indexOf('half');

const kindOfUnit = new Uint8Array(0x10000).fill(OTHER);
for (let unit = 0; unit < 0x80; unit++) {
  const character = String.fromCharCode(unit);
  const kind = /[a-z]/.test(character) ? 'lower' : /[A-Z]/.test(character) ? 'upper' : /[0-9]/.test(character) ? 'digit' : 'ascii';
  kindOfUnit[unit] = KINDS.indexOf(kind);
}
kindOfUnit['\n'.charCodeAt(0)] = KINDS.indexOf('\n');
kindOfUnit['▁'.charCodeAt(0)] = KINDS.indexOf('▁');
kindOfUnit.fill(HALF, 0xdc00, 0xe000);

/**
 * Between which kinds of characters a merge may happen. A token grows only by merges, so where no merge joins a left part that ends
 * with one kind to a right part that begins with another, no token ever lies across such a place, and both sides encode apart.
 */
export class MergeBoundaries {
  /** 1 at `left * COUNT + right` where they may be in one token. */
  readonly joins = new Uint8Array(COUNT * COUNT);

  constructor() {
    for (let kind = 0; kind < COUNT; kind++) this.joins[kind * COUNT + HALF] = 1;
  }

  addMerge(left: string, right: string): void {
    const before = kindOfUnit[left.charCodeAt(left.length - 1)]!;
    const after = kindOfUnit[right.charCodeAt(0)]!;
    this.joins[(before === HALF ? OTHER : before) * COUNT + after] = 1;
    if (before === OTHER || before === HALF) this.joins[HALF * COUNT + after] = 1;
  }

  /** Every `▁` begins a piece, whatever merges say (Metaspace with `split`). */
  splitBeforeSpaces(): void {
    for (let kind = 0; kind < COUNT; kind++) this.joins[kind * COUNT] = 0;
  }
}

/** Cuts wherever no merge can reach across. */
export class BoundarySplitter implements Splitter {
  start = 0;
  end = 0;
  private units: Uint16Array = new Uint16Array(0);
  private limit = 0;

  constructor(private readonly boundaries: MergeBoundaries) {}

  open(units: Uint16Array, start: number, end: number): void {
    this.units = units;
    this.end = start;
    this.limit = end;
  }

  next(): boolean {
    const { units, limit } = this;
    const { joins } = this.boundaries;
    let at = this.end;
    if (at >= limit) return false;
    this.start = at;
    let kind = kindOfUnit[units[at++]!]!;
    while (at < limit) {
      const after = kindOfUnit[units[at]!]!;
      if (joins[kind * COUNT + after] === 0) break;
      kind = after;
      at++;
    }
    this.end = at;
    return true;
  }
}
