import type { SegmentKind, TraceSegment } from '../canonical/trace.js';
import type { PlannedRow } from './rows.js';
import { fullLength, outputLength } from './turn-ids.js';

/** What each stretch of a row's ids is; every id once, in order. The first prompt is one segment; what nobody named is `template`. */
export function rowSegments(row: PlannedRow): TraceSegment[] {
  const segments: TraceSegment[] = [];
  let at = 0;
  const add = (kind: SegmentKind, end: number) => {
    if (end > at) segments.push({ start: at, end, kind });
    at = Math.max(at, end);
  };
  for (const [i, turn] of row.turns.entries()) {
    if (i === 0) add('prompt', turn.promptLength);
    else {
      for (const { kind, length } of turn.segments ?? []) add(kind, Math.min(at + length, turn.promptLength));
      add('template', turn.promptLength);
    }
    if (!row.overwritten.has(turn) && outputLength(turn) > 0) add('sampled', fullLength(turn));
  }
  return segments;
}
