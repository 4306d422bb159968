import type { TraceRecord, TraceTurn } from '../canonical/trace.js';
import { numbered, painter, printable } from './terminal.js';

export interface RowViewOptions {
  /** Terminal colours. */
  readonly colour: boolean;
  /** Text of one id, special tokens included. */
  readonly tokenText: (id: number) => string;
  /** Show at most this many tokens of a stretch, its first and last ones; default all. */
  readonly tokensMax?: number;
}

/** Stands between tokens. */
export const BORDER = '│';

/**
 * A row for people: stretches of prompt, trained and masked tokens under headings, tokens parted by borders.
 * Nothing depends on colour: the headings say what a stretch is.
 */
export function drawRow(row: TraceRecord, options: RowViewOptions): string {
  const paint = painter(options.colour);
  const trained = row.loss_mask.reduce((sum, bit) => sum + bit, 0);
  const lines = [
    paint('bold', `row ${row.row_index} of ${row.row_count} · ${row.role}`) +
      ` · ${numbered(row.token_ids.length, 'token')}: ${row.prompt_length} prompt, ${trained} trained, ${row.response_length - trained} masked`,
  ];
  for (const { start, end, kind, title } of stretches(row)) {
    lines.push(paint('dim', `── ${title}, ${numbered(end - start, 'token')}`));
    const texts = tokenTexts(row.token_ids.subarray(start, end), options);
    lines.push(texts.map((text) => paint(kind, text)).join(paint('dim', BORDER)));
  }
  return `${lines.join('\n')}\n`;
}

interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly kind: 'dim' | 'trained' | 'masked';
  readonly title: string;
}

function* stretches(row: TraceRecord): Generator<Stretch> {
  let at = row.prompt_length;
  if (at > 0) yield { start: 0, end: at, kind: 'dim', title: 'prompt' };
  for (const turn of row.turns) {
    if (turn.start > at) yield { start: at, end: turn.start, kind: 'masked', title: 'masked' };
    if (turn.end > turn.start)
      yield { start: turn.start, end: turn.end, kind: turn.trained_here ? 'trained' : 'masked', title: turnTitle(turn) };
    at = turn.end;
  }
}

function turnTitle(turn: TraceTurn): string {
  if (turn.trained_here) return `${turn.turn_id} trained, ${turn.finish_reason}`;
  return turn.parent_row === null ? `${turn.turn_id} masked` : `${turn.turn_id} masked, trained in row ${turn.parent_row}`;
}

function tokenTexts(ids: Int32Array, { tokenText, tokensMax = ids.length }: RowViewOptions): string[] {
  const text = (id: number) => printable(tokenText(id));
  if (ids.length <= tokensMax) return Array.from(ids, text);
  const head = Math.ceil(tokensMax / 2);
  const tail = tokensMax - head;
  const left = ids.length - head - tail;
  return [...Array.from(ids.subarray(0, head), text), `… ${left} more …`, ...Array.from(ids.subarray(ids.length - tail), text)];
}
