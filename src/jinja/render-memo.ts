import { createHash } from 'node:crypto';
import type { IterationRecord } from './iteration-record.js';

/** Records that are kept for one item of one loop. */
const RECORDS_PER_ITEM = 4;
/** Turns of one loop in a render that are remembered; a loop inside another may have as many as there are messages. */
const TURNS_PER_LOOP = 64;
/** Literal text up to this length is kept as it is where texts are dropped. */
const SHORT_TEXT = 512;

export interface MemoReport {
  /** UTF-16 units at the start of the text that are those of the previous render with the same memo. */
  readonly reusedPrefixLength: number;
  /** Iterations over objects that were taken from the memo, and that were run. */
  readonly reusedIterations: number;
  readonly executedIterations: number;
}

/** A part of the text of the last render: literal text, what is left of it, or an iteration. */
type Piece = string | { readonly digest: string; readonly length: number } | IterationRecord;
/** Records by item, for one loop and one of its turns in a render; `null` for an item whose iteration could not be remembered. */
type Table = Map<object, IterationRecord[] | null>;
type Tables = Map<object, Table[]>;

const NOTHING: MemoReport = { reusedPrefixLength: 0, reusedIterations: 0, executedIterations: 0 };

/**
 * What renders of one growing history remember of one another: the iterations of the last successful render, by item. Items are told
 * apart by object identity, so a message must stay the same `Map` from render to render. Owned by one branch of a conversation and used
 * with one template; it holds no frames and no contexts.
 *
 * `texts: 'drop'` makes it forget the text of the last render too, for `Template.renderTail`: an iteration is then reused only where its
 * text stays at its place behind an unchanged prefix.
 */
export class RenderMemo {
  private tables: Tables = new Map();
  private pieces: readonly Piece[] = [];
  private last: MemoReport = NOTHING;

  constructor(private readonly options: { readonly texts?: 'keep' | 'drop' } = {}) {}

  /** About the last successful render. */
  get report(): MemoReport {
    return this.last;
  }

  get reusedPrefixLength(): number {
    return this.last.reusedPrefixLength;
  }

  /** Begins a render; its results count once {@link MemoRun.commit} was called. */
  begin(): MemoRun {
    return new MemoRun(this.tables, this.pieces, (tables, pieces, report) => {
      this.tables = tables;
      this.pieces = this.options.texts === 'drop' ? pieces.map(withoutText) : pieces;
      this.last = report;
    });
  }
}

function withoutText(piece: Piece): Piece {
  if (typeof piece === 'string') return piece.length <= SHORT_TEXT ? piece : { digest: digestOf(piece), length: piece.length };
  if ('guards' in piece) piece.text = null;
  return piece;
}

const digestOf = (text: string): string => createHash('sha256').update(text, 'utf16le').digest('base64');

/** One render with a memo. */
export class MemoRun {
  private readonly tables: Tables = new Map();
  private readonly pieces: Piece[] = [];
  private reused = 0;
  private executed = 0;
  private prefix = 0;
  private inPrefix = true;
  /** Text behind the unchanged prefix. */
  private tail = '';

  constructor(
    private readonly oldTables: Tables,
    private readonly oldPieces: readonly Piece[],
    private readonly keep: (tables: Tables, pieces: readonly Piece[], report: MemoReport) => void,
  ) {}

  /** The memory of a loop that begins; `code` names the loop, and its turns in a render are told apart by their order. */
  loop(code: object): LoopMemo | null {
    const turns = this.tables.get(code) ?? [];
    this.tables.set(code, turns);
    if (turns.length >= TURNS_PER_LOOP) return null;
    const old = this.oldTables.get(code)?.[turns.length];
    const table: Table = new Map();
    turns.push(table);
    return {
      candidates: (item) => {
        const known = old?.get(item);
        return known === undefined ? [] : known;
      },
      remember: (item, record, reused) => {
        if (reused) this.reused++;
        else this.executed++;
        const records = table.get(item);
        if (record === null || records === null) table.set(item, null);
        else if (!records) table.set(item, [record]);
        else if (records.length < RECORDS_PER_ITEM && !records.includes(record)) records.push(record);
      },
    };
  }

  /** Whether an iteration can stand at the end of the text so far although its own text is gone. */
  continues(record: IterationRecord): boolean {
    return this.inPrefix && this.oldPieces[this.pieces.length] === record;
  }

  addText(text: string): void {
    if (text === '') return;
    if (this.inPrefix) this.compare(text);
    else this.tail += text;
    this.pieces.push(text);
  }

  addIteration(record: IterationRecord): void {
    if (record.length === 0) return;
    if (this.continues(record)) this.prefix += record.length;
    else if (this.inPrefix) this.compare(record.text!);
    else this.tail += record.text!;
    this.pieces.push(record);
  }

  /** Looks how far the next part of the text is what it was. */
  private compare(text: string): void {
    const old = this.oldPieces[this.pieces.length];
    const oldText = old === undefined ? '' : typeof old === 'string' ? old : 'guards' in old ? (old.text ?? '') : '';
    const whole =
      oldText === text ||
      (old !== undefined && typeof old !== 'string' && 'digest' in old && old.length === text.length && old.digest === digestOf(text));
    let shared = whole ? text.length : 0;
    if (!whole) {
      this.inPrefix = false;
      const most = Math.min(text.length, oldText.length);
      while (shared < most && text.charCodeAt(shared) === oldText.charCodeAt(shared)) shared++;
      this.tail = text.slice(shared);
    }
    this.prefix += shared;
  }

  get length(): number {
    return this.prefix + this.tail.length;
  }

  /** Ends the render: the memo now belongs to it. */
  commit(): RenderedTail & { readonly whole: () => string } {
    const { prefix, tail, pieces } = this;
    const texts = pieces.map((piece) => (typeof piece === 'string' ? piece : 'guards' in piece ? piece.text : null));
    this.keep(this.tables, pieces, { reusedPrefixLength: prefix, reusedIterations: this.reused, executedIterations: this.executed });
    const whole = (): string => {
      if (texts.includes(null)) throw new Error('a memo that drops texts cannot give a whole text; use renderTail');
      return texts.join('');
    };
    return { reusedPrefixLength: prefix, tail, whole };
  }
}

export interface RenderedTail {
  /** UTF-16 units that the text shares with the text of the previous render with the same memo. */
  readonly reusedPrefixLength: number;
  /** The text from there on. */
  readonly tail: string;
}

export interface LoopMemo {
  /** What is known of an item; `null` if trying to remember it is in vain. */
  candidates(item: object): readonly IterationRecord[] | null;
  /** Notes an iteration; `record` is `null` where it cannot be remembered. */
  remember(item: object, record: IterationRecord | null, reused: boolean): void;
}
