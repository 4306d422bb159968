import { Buffer } from 'node:buffer';
import { UnsupportedPattern } from './encoder-regex.js';
import { ASSIGNED_BY_UNICODE_17, MOVED_BY_UNICODE_17, UNASSIGNED } from './encoder-unicode.js';

/** Class of a UTF-16 unit that is the first half of a pair: the code point decides. */
export const PAIR = 255;
const CLASSES_MAX = 254;
const SETS_MAX = 31;

/**
 * Characters sorted into classes that a set of patterns cannot tell apart. `ofUnit` is by UTF-16 unit (`PAIR` for a leading
 * surrogate), `ofCodePoint` by code point above U+FFFF, less 0x10000.
 */
export interface CharacterClasses {
  readonly ofUnit: Uint8Array;
  readonly ofCodePoint: Uint8Array;
  readonly count: number;
  /** Whether the characters of a class belong to a set. */
  has(characterClass: number, set: string): boolean;
}

/** @param sets JavaScript classes for the flag `u` @throws UnsupportedPattern */
export function classifyCharacters(sets: readonly string[]): CharacterClasses {
  if (sets.length > SETS_MAX) throw new UnsupportedPattern(`${sets.length} different character classes`);
  const patterns = sets.map((set) => new RegExp(`${set}+`, 'gu'));
  const members: number[] = [];
  const classByMember = new Map<number, number>();
  const classOf = (member: number): number => {
    let found = classByMember.get(member);
    if (found === undefined) {
      found = members.push(member) - 1;
      if (found >= CLASSES_MAX) throw new UnsupportedPattern('too many kinds of characters');
      classByMember.set(member, found);
    }
    return found;
  };
  const older = olderUnicode(sets, patterns);
  const classify = (from: number, to: number, target: Uint8Array): void => {
    let last = -1;
    let lastClass = 0;
    const found = membership(patterns, from, to);
    older(found, from);
    for (const [i, member] of found.entries()) {
      if (member !== last) lastClass = classOf(member);
      last = member;
      target[i] = lastClass;
    }
  };
  const ofUnit = new Uint8Array(0x10000).fill(PAIR);
  classify(0, 0xd800, ofUnit);
  classify(0xe000, 0x10000, ofUnit.subarray(0xe000));
  const ofCodePoint = new Uint8Array(0x100000);
  for (let plane = 1; plane <= 16; plane++) {
    const first = plane * 0x10000;
    const target = ofCodePoint.subarray(first - 0x10000, first);
    if (plane <= 3 || plane === 14) {
      classify(first, first + 0x10000, target);
      continue;
    }
    // Planes 4 to 13 are unassigned, 15 and 16 are for private use: all alike but for the two noncharacters at the end.
    target.fill(classOf(membership(patterns, first, first + 1)[0]!));
    classify(first + 0xfffe, first + 0x10000, target.subarray(0xfffe));
  }
  const index = new Map(sets.map((set, i) => [set, i]));
  return {
    ofUnit,
    ofCodePoint,
    count: members.length,
    has: (characterClass, set) => ((members[characterClass]! >>> index.get(set)!) & 1) === 1,
  };
}

/** For each code point a bit per pattern. The range lies in one plane and holds no surrogates. */
function membership(patterns: readonly RegExp[], from: number, to: number): Int32Array {
  const width = from > 0xffff ? 2 : 1;
  const units = new Uint16Array((to - from) * width);
  for (let point = from, at = 0; point < to; point++) {
    if (width === 2) units[at++] = 0xd800 + ((point - 0x10000) >> 10);
    units[at++] = width === 2 ? 0xdc00 + (point & 0x3ff) : point;
  }
  const text = Buffer.from(units.buffer).toString('utf16le');
  const found = new Int32Array(to - from);
  for (const [bit, pattern] of patterns.entries()) {
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const end = pattern.lastIndex / width;
      for (let i = match.index / width; i < end; i++) found[i]! |= 1 << bit;
    }
  }
  return found;
}

/** Puts back what later versions of Unicode changed, in sets that name properties. */
function olderUnicode(sets: readonly string[], patterns: readonly RegExp[]): (found: Int32Array, from: number) => void {
  let named = 0;
  for (const [bit, set] of sets.entries()) if (/\\p/i.test(set) && !/[^\0-\u07ff]|\\u/.test(set)) named |= 1 << bit;
  const unassigned = membership(patterns, UNASSIGNED, UNASSIGNED + 1)[0]! & named;
  const { codePoint, like } = MOVED_BY_UNICODE_17;
  const moved = membership(patterns, like, like + 1)[0]! & named;
  return (found, from) => {
    const change = (point: number, member: number): void => {
      const at = point - from;
      if (at >= 0 && at < found.length) found[at] = (found[at]! & ~named) | member;
    };
    change(codePoint, moved);
    for (const [first, last] of ASSIGNED_BY_UNICODE_17) {
      if (last >= from && first < from + found.length) for (let point = first; point <= last; point++) change(point, unassigned);
    }
  };
}
