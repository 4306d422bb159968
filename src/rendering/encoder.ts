import { AddedTokenMatcher, type PlainSpans } from './encoder-added-tokens.js';
import { IdBuffer, unitsOf } from './encoder-buffers.js';
import type { Normalizer } from './encoder-normalizer.js';
import { nextSlice } from './slices.js';
import { type AddedToken, isControlToken } from './special-tokens.js';

/** Text between added tokens. `units` holds the UTF-16 units of `text`. */
export interface Section {
  readonly text: string;
  readonly units: Uint16Array;
  readonly start: number;
  readonly end: number;
  /** Whether it is the very beginning of what is encoded. */
  readonly isFirst: boolean;
}

/** Encodes text in which no added token is left. Each step is short; a caller may stop for a while between two. */
export interface SectionEncoder {
  steps(section: Section, out: IdBuffer): Iterable<void>;
}

/**
 * Added tokens are cut out first, those with `normalized` after normalisation, and what lies between them is encoded apart.
 * Encodings may be interleaved: a running one owns all its state.
 */
export class Encoder {
  private readonly asGiven: AddedTokenMatcher;
  private readonly normalized: AddedTokenMatcher | null;
  private readonly control: ReadonlyMap<number, string>;
  private readonly spare: IdBuffer[] = [];

  constructor(
    tokens: readonly AddedToken[],
    private readonly normalizer: Normalizer | null,
    private readonly sections: SectionEncoder,
    unknownId: number | undefined,
  ) {
    this.control = new Map(
      tokens.filter((token) => isControlToken(token) && token.id !== unknownId).map((token) => [token.id, token.content]),
    );
    this.asGiven = new AddedTokenMatcher(tokens.filter((token) => !token.normalized));
    const late = tokens.filter((token) => token.normalized);
    this.normalized =
      late.length === 0 ? null : new AddedTokenMatcher(late, (token) => normalizer?.normalize(token.content) ?? token.content);
  }

  encode(text: string, plain: PlainSpans): Int32Array {
    const out = this.spare.pop() ?? new IdBuffer();
    for (const _ of this.steps(text.toWellFormed(), plain, out));
    return this.taken(out);
  }

  /** Lets other work of the thread in before it begins and whenever `sliceMs` have passed. */
  async encodeInSlices(text: string, plain: PlainSpans, sliceMs: number): Promise<Int32Array> {
    await nextSlice();
    const out = this.spare.pop() ?? new IdBuffer();
    let until = performance.now() + sliceMs;
    for (const _ of this.steps(text.toWellFormed(), plain, out)) {
      if (performance.now() < until) continue;
      await nextSlice();
      until = performance.now() + sliceMs;
    }
    return this.taken(out);
  }

  private taken(out: IdBuffer): Int32Array {
    const ids = out.take();
    if (this.spare.length < 4) this.spare.push(out);
    return ids;
  }

  private *steps(text: string, plain: PlainSpans, out: IdBuffer): Generator<void, void, void> {
    const units = unitsOf(text, out.units);
    const matches = this.asGiven.find(units, 0, text.length, plain);
    let start = 0;
    for (let m = 0; m < matches.length; m += 3) {
      if (start < matches[m]!) yield* this.between(text, units, start, matches[m]!, plain, out);
      out.push(matches[m + 2]!);
      start = matches[m + 1]!;
    }
    if (start < text.length) yield* this.between(text, units, start, text.length, plain, out);
  }

  private *between(text: string, units: Uint16Array, start: number, end: number, plain: PlainSpans, out: IdBuffer): Iterable<void> {
    const isFirst = start === 0;
    let section: Section = { text, units, start, end, isFirst };
    if (this.normalizer !== null && reaches(units, start, end, this.normalizer.changesFrom)) {
      const given = text.slice(start, end);
      const normal = this.normalizer.normalize(given);
      if (normal !== given) section = { text: normal, units: unitsOf(normal), start: 0, end: normal.length, isFirst };
    }
    const guarded = touches(plain, start, end);
    if (this.normalized === null) {
      yield* this.letters(section, guarded, out);
      return;
    }
    // Ranges are known in the text as given; where normalisation moved them the whole section is plain if any of it is.
    const spans = section.units === units ? plain : guarded ? [0, section.end] : [];
    const matches = this.normalized.find(section.units, section.start, section.end, spans);
    let from = section.start;
    for (let m = 0; m < matches.length; m += 3) {
      const first = isFirst && from === section.start;
      if (from < matches[m]!) yield* this.letters({ ...section, start: from, end: matches[m]!, isFirst: first }, guarded, out);
      out.push(matches[m + 2]!);
      from = matches[m + 1]!;
    }
    if (from < section.end) yield* this.letters({ ...section, start: from, isFirst: isFirst && from === section.start }, guarded, out);
  }

  /** A model may form a control token of plain letters (Unigram does); where that is not allowed such a token is encoded in two parts. */
  private *letters(section: Section, guarded: boolean, out: IdBuffer): Iterable<void> {
    const from = out.length;
    yield* this.sections.steps(section, out);
    // A long text may be thousands of sections that are each too short for a step of their own.
    yield;
    if (!guarded) return;
    const text = section.text.slice(section.start, section.end);
    const spelled = (id: number): string | undefined => {
      const content = this.control.get(id);
      return content !== undefined && content.length > 1 && text.includes(content) ? content : undefined;
    };
    const ids = out.ids.slice(from, out.length);
    if (ids.every((id) => spelled(id) === undefined)) return;
    out.length = from;
    for (const id of ids) {
      const content = spelled(id);
      if (content === undefined) {
        out.push(id);
        continue;
      }
      const units = unitsOf(content);
      const middle = content.length >> 1;
      const half = (units[middle]! & 0xfc00) === 0xdc00 ? middle + 1 : middle;
      yield* this.letters({ text: content, units, start: 0, end: half, isFirst: false }, true, out);
      if (half < content.length) yield* this.letters({ text: content, units, start: half, end: content.length, isFirst: false }, true, out);
    }
  }
}

function touches(spans: PlainSpans, start: number, end: number): boolean {
  for (let s = 0; s < spans.length; s += 2) {
    if (spans[s]! < end && spans[s + 1]! > start) return true;
  }
  return false;
}

function reaches(units: Uint16Array, start: number, end: number, limit: number): boolean {
  for (let i = start; i < end; i++) {
    if (units[i]! >= limit) return true;
  }
  return false;
}
