const ENTRY_INTS = 4;

/**
 * Which two neighbours become one, and how early: `find(left, right)` gives a place in `entries`, where the rank (lower merges first)
 * stands at +2 and the id of the whole at +3; -1 where the two do not merge.
 */
export class MergeTable {
  readonly entries: Int32Array;
  private readonly mask: number;

  /** @param count how many merges will be added at most */
  constructor(count: number) {
    let slots = 16;
    while (slots < count * 2) slots *= 2;
    this.mask = slots - 1;
    this.entries = new Int32Array(slots * ENTRY_INTS).fill(-1);
  }

  /** A pair added again takes the later rank, as in the Rust crate. */
  add(left: number, right: number, rank: number, whole: number): void {
    const { entries, mask } = this;
    let at = slotOf(left, right, mask) * ENTRY_INTS;
    while (entries[at] !== -1 && (entries[at] !== left || entries[at + 1] !== right)) at = (at + ENTRY_INTS) & (mask * ENTRY_INTS + 3);
    entries[at] = left;
    entries[at + 1] = right;
    entries[at + 2] = rank;
    entries[at + 3] = whole;
  }

  find(left: number, right: number): number {
    const { entries, mask } = this;
    let at = slotOf(left, right, mask) * ENTRY_INTS;
    for (;;) {
      const found = entries[at]!;
      if (found === left && entries[at + 1] === right) return at;
      if (found === -1) return -1;
      at = (at + ENTRY_INTS) & (mask * ENTRY_INTS + 3);
    }
  }
}

function slotOf(left: number, right: number, mask: number): number {
  const mixed = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) & mask;
}
