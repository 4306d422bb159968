import type { Message } from '../canonical/message.js';
import type { SegmentKind, TraceSegment } from '../canonical/trace.js';
import { pathTo } from './node.js';
import type { PlannedRow } from './rows.js';
import type { PromptSegment, TurnRecord } from './turn.js';
import { fullLength, outputLength } from './turn-ids.js';

/** Says of prompt ids which of these messages said them, in order. */
export type SortPrompt = (ids: Int32Array, messages: readonly Message[]) => readonly PromptSegment[];

/** The messages behind the turn before in the row. */
const newMessages = (turn: TurnRecord, before: TurnRecord): Message[] =>
  pathTo(turn.historyEnd)
    .slice(before.node.depth)
    .flatMap(({ message }) => message ?? []);

/** What each stretch of a row's ids is; every id once, in order. The first prompt is one segment; what nobody named is `template`. */
export function rowSegments(row: PlannedRow, tokenIds: Int32Array, sort: SortPrompt | undefined): TraceSegment[] {
  const segments: TraceSegment[] = [];
  let at = 0;
  const add = (kind: SegmentKind, end: number) => {
    if (end > at) segments.push({ start: at, end, kind });
    at = Math.max(at, end);
  };
  for (const [i, turn] of row.turns.entries()) {
    if (i === 0) add('prompt', turn.promptLength);
    else {
      const said = turn.segments ?? sort?.(tokenIds.subarray(at, turn.promptLength), newMessages(turn, row.turns[i - 1]!)) ?? [];
      for (const { kind, length } of said) add(kind, Math.min(at + length, turn.promptLength));
      add('template', turn.promptLength);
    }
    if (!row.overwritten.has(turn) && outputLength(turn) > 0) add('sampled', fullLength(turn));
  }
  return segments;
}
