import type { IterationRecord } from './iteration-record.js';

/** Records that are kept for one item of one loop. */
const RECORDS_PER_ITEM = 4;

export interface MemoReport {
  /** UTF-16 units at the start of the text that are those of the previous render with the same memo. */
  readonly reusedPrefixLength: number;
  /** Iterations over objects that were taken from the memo, and that were run. */
  readonly reusedIterations: number;
  readonly executedIterations: number;
}

type Piece = string | IterationRecord;
/** Records by item, for one loop and one of its turns in a render; `null` for an item whose iteration could not be remembered. */
type Table = Map<object, IterationRecord[] | null>;
type Tables = Map<object, Table[]>;

const NOTHING: MemoReport = { reusedPrefixLength: 0, reusedIterations: 0, executedIterations: 0 };

/**
 * What renders of one growing history remember of one another: the iterations of the last successful render, by item. Items are told
 * apart by object identity, so a message must stay the same `Map` from render to render. Owned by one branch of a conversation and used
 * with one template; it holds the texts of that render and no frames or contexts.
 */
export class RenderMemo {
  private tables: Tables = new Map();
  private pieces: readonly Piece[] = [];
  private last: MemoReport = NOTHING;

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
      this.pieces = pieces;
      this.last = report;
    });
  }
}

/** One render with a memo. */
export class MemoRun {
  private readonly tables: Tables = new Map();
  private readonly pieces: Piece[] = [];
  private reused = 0;
  private executed = 0;
  private lengthSoFar = 0;
  private prefix = 0;
  private inPrefix = true;

  constructor(
    private readonly oldTables: Tables,
    private readonly oldPieces: readonly Piece[],
    private readonly keep: (tables: Tables, pieces: readonly Piece[], report: MemoReport) => void,
  ) {}

  /** The memory of a loop that begins; `code` names the loop, and its turns in a render are told apart by their order. */
  loop(code: object): LoopMemo {
    const turns = this.tables.get(code) ?? [];
    this.tables.set(code, turns);
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

  /** Takes the next part of the text: literal text, or that of an iteration. */
  add(piece: Piece): void {
    const text = typeof piece === 'string' ? piece : piece.text;
    if (text === '') return;
    if (this.inPrefix) this.extendPrefix(piece, text);
    this.pieces.push(piece);
    this.lengthSoFar += text.length;
  }

  private extendPrefix(piece: Piece, text: string): void {
    const old = this.oldPieces[this.pieces.length];
    const oldText = old === undefined ? '' : typeof old === 'string' ? old : old.text;
    if (old === piece || oldText === text) {
      this.prefix += text.length;
      return;
    }
    this.inPrefix = false;
    const shared = Math.min(text.length, oldText.length);
    let at = 0;
    while (at < shared && text.charCodeAt(at) === oldText.charCodeAt(at)) at++;
    this.prefix += at;
  }

  get length(): number {
    return this.lengthSoFar;
  }

  /** The whole text; the memo now belongs to it. */
  commit(): string {
    this.keep(this.tables, this.pieces, {
      reusedPrefixLength: this.prefix,
      reusedIterations: this.reused,
      executedIterations: this.executed,
    });
    return this.pieces.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('');
  }
}

export interface LoopMemo {
  /** What is known of an item; `null` if trying to remember it is in vain. */
  candidates(item: object): readonly IterationRecord[] | null;
  /** Notes an iteration; `record` is `null` where it cannot be remembered. */
  remember(item: object, record: IterationRecord | null, reused: boolean): void;
}
