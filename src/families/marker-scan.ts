import type { ReplyText } from './family.js';
import { bodyOf } from './span-builder.js';

export interface Hit {
  readonly marker: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Finds markers in a reply from left to right. A marker that is a token of the vocabulary counts only where that
 * token was sampled. The next place of every marker is remembered, so that a marker that never comes costs one search.
 */
export class MarkerScan {
  readonly body: string;
  private readonly isMarker: ReplyText['isMarker'];
  private readonly known = new Map<string, { from: number; at: number }>();

  constructor(reply: ReplyText) {
    this.body = bodyOf(reply);
    this.isMarker = reply.isMarker;
  }

  /** First offset at or behind `from` where `marker` stands, -1 without one. */
  next(marker: string, from: number): number {
    const known = this.known.get(marker);
    if (known !== undefined && from >= known.from && (known.at < 0 || known.at >= from)) return known.at;
    let at = this.body.indexOf(marker, from);
    while (at >= 0 && !this.isMarker(marker, at)) at = this.body.indexOf(marker, at + 1);
    this.known.set(marker, { from, at });
    return at;
  }

  /** Whether `marker` stands at `offset`. */
  here(marker: string, offset: number): boolean {
    return this.body.startsWith(marker, offset) && this.isMarker(marker, offset);
  }

  /** The first of `markers` that stands at `offset`, the longest where several do. */
  hereOneOf(markers: readonly string[], offset: number): Hit | null {
    let best: string | null = null;
    for (const marker of markers) if ((best === null || marker.length > best.length) && this.here(marker, offset)) best = marker;
    return best === null ? null : { marker: best, start: offset, end: offset + best.length };
  }

  /** The nearest of `markers` at or behind `from`, the longest where several stand at one place. */
  nearest(markers: readonly string[], from: number): Hit | null {
    let best: Hit | null = null;
    for (const marker of markers) {
      const start = this.next(marker, from);
      if (start < 0) continue;
      if (best === null || start < best.start || (start === best.start && marker.length > best.marker.length)) {
        best = { marker, start, end: start + marker.length };
      }
    }
    return best;
  }

  /** Whether one of `markers` stands at or behind `from` and before `end`. */
  anyBetween(markers: readonly string[], from: number, end: number): boolean {
    const hit = this.nearest(markers, from);
    return hit !== null && hit.start < end;
  }

  /** Offset of the first character at or behind `from` that is no white space. */
  skipSpace(from: number): number {
    const { body } = this;
    let at = from;
    while (at < body.length && isSpace(body.charCodeAt(at))) at++;
    return at;
  }

  isBlank(start: number, end: number): boolean {
    return this.skipSpace(start) >= end;
  }
}

const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d);
