import type { Buffer } from 'node:buffer';
import { isDelimiter, showsItsEnd } from '../canonical/json-bytes.js';
import type { BodyOutline, OutlinedMember } from './body-outline.js';

/** What of an earlier body stands at the same place in a new one, byte by byte from the start. */
export interface SharedPrefix {
  /** Leading members that are equal as a whole. */
  readonly members: number;
  /** Leading items of the next member; `null` where not even its list begins equally. */
  readonly items: number | null;
  /** Length of what is known to be equal. */
  readonly bytes: number;
}

export const NOTHING_SHARED: SharedPrefix = { members: 0, items: null, bytes: 0 };

export function sharedPrefix(bytes: Buffer, base: BodyOutline): SharedPrefix {
  const prefix = new Prefix(bytes, base.bytes);
  let members = 0;
  for (const member of base.members) {
    if (!prefix.holdsValue(member.start, member.end)) return { members, items: sharedItems(prefix, member), bytes: prefix.length };
    members++;
  }
  return { members, items: null, bytes: prefix.length };
}

function sharedItems(prefix: Prefix, { start, items }: OutlinedMember): number | null {
  if (items === null || !prefix.reaches(start + 1)) return null;
  const holds = (i: number): boolean => prefix.holdsValue(start + items.starts[i]!, start + items.ends[i]!);
  let shared = items.values.length;
  if (shared === 0 || holds(shared - 1)) return shared;
  // Most bodies differ near the end of their history: steps back double, then the gap is halved.
  let unequal = shared - 1;
  shared = 0;
  for (let step = 1; unequal - step > 0; step *= 2) {
    if (holds(unequal - step)) {
      shared = unequal - step + 1;
      break;
    }
    unequal -= step;
  }
  while (shared < unequal) {
    const middle = (shared + unequal) >> 1;
    if (holds(middle)) shared = middle + 1;
    else unequal = middle;
  }
  return shared;
}

/** Equal bytes from the start of two bodies, known so far. */
class Prefix {
  length = 0;

  constructor(
    private readonly a: Buffer,
    private readonly b: Buffer,
  ) {}

  reaches(end: number): boolean {
    const { length } = this;
    if (end <= length) return true;
    if (end > this.a.length || this.a.compare(this.b, length, end, length, end) !== 0) return false;
    this.length = end;
    return true;
  }

  /** Whether the value from `start` to `end` of `b` is the same value in `a`. */
  holdsValue(start: number, end: number): boolean {
    return this.reaches(end) && (showsItsEnd(this.b, start) || isDelimiter(this.a[end]));
  }
}
