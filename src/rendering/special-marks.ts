import { isJsonArray, isJsonObject, type JsonValue } from '../canonical/json-value.js';
import type { PlainSpans } from './encoder-added-tokens.js';

/** A noncharacter of Unicode: no text has it, no template looks for it. */
const MARK = '\uFDD0';

export interface UnmarkedText {
  readonly text: string;
  /** Where a special string stands that came from a user's text: letters, not a token. */
  readonly plain: PlainSpans;
}

/**
 * Keeps special-token strings of users' texts apart from those that the template prints (`specialTokensInText: neutralise`): a mark is
 * set behind the first letter of each before rendering and taken out again before encoding, where it says that these letters are letters.
 */
export class SpecialMarks {
  readonly #special: RegExp;
  readonly #marked: RegExp;

  /** @param contents of the control tokens; longer ones are looked for first, as a tokenizer does. */
  constructor(contents: readonly string[]) {
    const longestFirst = [...contents].filter((content) => content !== '').sort((a, b) => b.length - a.length);
    const parts = longestFirst.map(split);
    this.#special = pattern(parts.map(([first, rest]) => literal(first) + literal(rest)));
    // `tojson(ensure_ascii=True)` writes the mark as an escape.
    this.#marked = pattern(parts.map(([first, rest]) => `${literal(first)}(?:${MARK}|\\\\ufdd0)${literal(rest)}`));
  }

  mark(text: string): string {
    return text.replace(this.#special, (content) => split(content).join(MARK));
  }

  markJson(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.mark(value);
    if (isJsonArray(value)) return value.map((item) => this.markJson(item));
    if (isJsonObject(value)) return new Map([...value].map(([name, item]) => [this.mark(name), this.markJson(item)]));
    return value;
  }

  unmark(marked: string): UnmarkedText {
    const plain: number[] = [];
    let text = '';
    let from = 0;
    for (const match of marked.matchAll(this.#marked)) {
      text += marked.slice(from, match.index);
      const content = match[0].replace(MARK, '').replace('\\ufdd0', '');
      plain.push(text.length, text.length + content.length);
      text += content;
      from = match.index + match[0].length;
    }
    return { text: text + marked.slice(from), plain };
  }
}

function split(content: string): readonly [first: string, rest: string] {
  const [first = ''] = content;
  return [first, content.slice(first.length)];
}

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** A pattern without alternatives matches nothing. */
const pattern = (alternatives: readonly string[]): RegExp => new RegExp(alternatives.length === 0 ? '(?!)' : alternatives.join('|'), 'gu');
