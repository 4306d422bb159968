import type { AddedToken } from './special-tokens.js';

/** Half-open UTF-16 ranges, `[start, end, start, end, …]`, in order, that are plain text: no added token may touch them. */
export type PlainSpans = readonly number[];

interface TrieNode {
  readonly next: Map<number, TrieNode>;
  token: AddedToken | null;
}

const WHITESPACE = /^\p{White_Space}$/u;
/** `\w` of the Rust crate `regex`. */
const WORD = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]$/u;

/**
 * Finds added tokens in text as the Rust crate does: at each place the longest, from left to right, then the flags.
 * `find` gives `[start, end, id, …]`; text that a token strips is inside its range.
 */
export class AddedTokenMatcher {
  private readonly root: TrieNode = { next: new Map(), token: null };
  /** 1 for UTF-16 units that begin a token. */
  private readonly starts = new Uint8Array(65536);
  private readonly isEmpty: boolean;

  /** @param contents what to look for, by token; differs from `token.content` where the normaliser changes it. */
  constructor(tokens: readonly AddedToken[], contents: (token: AddedToken) => string = (token) => token.content) {
    for (const token of tokens) {
      const content = contents(token);
      let node = this.root;
      for (let i = 0; i < content.length; i++) {
        const unit = content.charCodeAt(i);
        let next = node.next.get(unit);
        if (next === undefined) {
          next = { next: new Map(), token: null };
          node.next.set(unit, next);
        }
        node = next;
      }
      node.token ??= token;
      if (content.length > 0) this.starts[content.charCodeAt(0)] = 1;
    }
    this.isEmpty = tokens.length === 0;
  }

  find(units: Uint16Array, from: number, to: number, plain: PlainSpans = []): readonly number[] {
    const matches: number[] = [];
    if (this.isEmpty) return matches;
    const { starts } = this;
    let done = from;
    let span = 0;
    let at = from;
    while (at < to) {
      if (starts[units[at]!] === 0) {
        at++;
        continue;
      }
      const token = this.longestAt(units, at, to);
      if (token === null) {
        at++;
        continue;
      }
      let start = at;
      let end = at + token.length;
      at = end;
      while (span < plain.length && plain[span + 1]! <= start) span += 2;
      if (span < plain.length && plain[span]! < end) continue;
      if (token.token.singleWord && (isWordBefore(units, from, start) || isWordAt(units, end, to))) continue;
      if (token.token.lstrip) {
        while (start > done && isSpace(units[start - 1]!)) start--;
      }
      if (token.token.rstrip) {
        while (end < to && isSpace(units[end]!)) end++;
      }
      matches.push(start, end, token.token.id);
      done = end;
    }
    return matches;
  }

  private longestAt(units: Uint16Array, at: number, to: number): { readonly token: AddedToken; readonly length: number } | null {
    let node: TrieNode | undefined = this.root;
    let found: AddedToken | null = null;
    let length = 0;
    for (let i = at; i < to; i++) {
      node = node.next.get(units[i]!);
      if (node === undefined) break;
      if (node.token !== null) {
        found = node.token;
        length = i + 1 - at;
      }
    }
    return found === null ? null : { token: found, length };
  }
}

/** White space lies in the first plane, so one unit is enough. */
function isSpace(unit: number): boolean {
  return WHITESPACE.test(String.fromCharCode(unit));
}

function isWordAt(units: Uint16Array, at: number, to: number): boolean {
  return at < to && WORD.test(String.fromCodePoint(codePointAt(units, at, to)));
}

function isWordBefore(units: Uint16Array, from: number, at: number): boolean {
  if (at <= from) return false;
  const isPair = at - 2 >= from && (units[at - 1]! & 0xfc00) === 0xdc00 && (units[at - 2]! & 0xfc00) === 0xd800;
  return WORD.test(String.fromCodePoint(codePointAt(units, isPair ? at - 2 : at - 1, at)));
}

function codePointAt(units: Uint16Array, at: number, to: number): number {
  const unit = units[at]!;
  if ((unit & 0xfc00) !== 0xd800 || at + 1 >= to) return unit;
  return ((unit - 0xd800) << 10) + (units[at + 1]! - 0xdc00) + 0x10000;
}
