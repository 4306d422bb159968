import { UnsupportedPattern } from './encoder-regex.js';

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
  const basic = membership(sets, range(0, 0xd800).concat(range(0xe000, 0x10000)), 1);
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
  const ofUnit = new Uint8Array(0x10000).fill(PAIR);
  for (let i = 0; i < basic.length; i++) ofUnit[i < 0xd800 ? i : i + 0x800] = classOf(basic[i]!);
  ofUnit.fill(classOf(memberOf(sets, 0xfffd)), 0xdc00, 0xe000);
  const ofCodePoint = new Uint8Array(0x100000);
  for (let plane = 1; plane <= 16; plane++) {
    const base = plane * 0x10000;
    const target = ofCodePoint.subarray(base - 0x10000, base);
    if (plane <= 3 || plane === 14) {
      const found = membership(sets, range(base, base + 0x10000), 2);
      for (let i = 0; i < found.length; i++) target[i] = classOf(found[i]!);
    } else {
      // Planes 4 to 13 are unassigned, 15 and 16 are for private use: all alike but for the two noncharacters at the end.
      target.fill(classOf(memberOf(sets, base)));
      target.fill(classOf(memberOf(sets, base + 0xfffe)), 0xfffe);
    }
  }
  const index = new Map(sets.map((set, i) => [set, i]));
  return {
    ofUnit,
    ofCodePoint,
    count: members.length,
    has: (characterClass, set) => ((members[characterClass]! >>> index.get(set)!) & 1) === 1,
  };
}

/** For each code point a bit per set. `units` is the number of UTF-16 units of each of them. */
function membership(sets: readonly string[], codePoints: readonly number[], units: number): Int32Array {
  const found = new Int32Array(codePoints.length);
  let text = '';
  for (let i = 0; i < codePoints.length; i += 4096) text += String.fromCodePoint(...codePoints.slice(i, i + 4096));
  for (const [bit, set] of sets.entries()) {
    for (const match of text.matchAll(new RegExp(`${set}+`, 'gu'))) {
      const end = (match.index + match[0].length) / units;
      for (let i = match.index / units; i < end; i++) found[i]! |= 1 << bit;
    }
  }
  return found;
}

function memberOf(sets: readonly string[], codePoint: number): number {
  return membership(sets, [codePoint], codePoint > 0xffff ? 2 : 1)[0]!;
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}
