import type { IterationRecord } from './iteration-record.js';
import type { StrDict, Value } from './object.js';
import { overLimit, raise, typeError } from './python-error.js';
import type { MemoRun, RenderedTail } from './render-memo.js';
import type { LocalTime } from './strftime.js';
import { typeName } from './type-names.js';
import { isStr, strText } from './values.js';

/** Bounds of one render. */
export interface RenderLimits {
  /** Loop iterations and macro calls. */
  readonly steps: number;
  /** UTF-16 units of the text. */
  readonly outputLength: number;
  /** Macros, blocks and recursive loops inside one another. */
  readonly depth: number;
}

export const DEFAULT_LIMITS: RenderLimits = { steps: 20_000_000, outputLength: 256 * 1024 * 1024, depth: 200 };

/** State of one render. */
export class Runtime {
  /** Text printed so far into the innermost capture. */
  out = '';
  /** Line of the statement being run. */
  line = 0;
  /** Names that the top level of the template has set; macros and blocks look here first. */
  vars = new Map<string, Value>();
  /** The frame of the template itself. */
  root: Frame | null = null;
  /** Whether an iteration runs that cannot be remembered. */
  inForgotten = false;
  /** Type of something that was printed into the innermost capture and is no text. */
  private misprint: string | null = null;
  private steps = 0;
  private depth = 0;

  constructor(
    readonly globals: StrDict,
    readonly context: StrDict,
    readonly now: () => LocalTime,
    private readonly limits: RenderLimits,
    readonly memo: MemoRun | null = null,
  ) {}

  /** The value of a name of the context; `undefined` where there is none. */
  resolve(name: string): Value | undefined {
    let value = this.vars.get(name);
    if (value !== undefined) return value;
    value = this.context.get(name);
    return value !== undefined ? value : this.globals.get(name);
  }

  /** Counts one step. */
  tick(): void {
    if (++this.steps > this.limits.steps) overLimit('steps', this.limits.steps);
    this.checkOutput();
  }

  /** Hands the text so far to the memo, which then knows whether it is the beginning of the previous one. */
  flush(): void {
    if (this.memo === null || this.depth > 0) return;
    this.memo.addText(this.out);
    this.out = '';
  }

  /** Whether the text of an iteration is at hand, or need not be. */
  canRepeat(record: IterationRecord): boolean {
    return record.text !== null || (this.depth === 0 && this.memo!.continues(record));
  }

  /** Prints the text of an iteration that may be remembered. */
  print(text: string, record: IterationRecord | null): void {
    if (this.memo === null || this.depth > 0) this.out += text;
    else {
      this.flush();
      if (record === null) this.memo.addText(text);
      else this.memo.addIteration(record);
    }
  }

  /** The whole text; with a memo, its render counts from now on. */
  finish(): string {
    this.checkOutput();
    this.checkText();
    if (this.memo === null) return this.out;
    this.flush();
    return this.memo.commit().whole();
  }

  finishTail(): RenderedTail {
    this.checkOutput();
    this.checkText();
    this.flush();
    const { reusedPrefixLength, tail } = this.memo!.commit();
    return { reusedPrefixLength, tail };
  }

  /** Prints what a call block or filter block gives: they convert nothing, and joining the output fails on what is no text. */
  printOnlyText(value: Value): void {
    if (isStr(value)) this.out += strText(value);
    else this.misprint ??= typeName(value);
  }

  private checkText(): void {
    if (this.misprint !== null) typeError(`sequence item 0: expected str instance, ${this.misprint} found`);
  }

  /** Runs `body` with its output captured, one level deeper. */
  capture(body: () => void): string {
    const { out, misprint } = this;
    this.out = '';
    this.misprint = null;
    if (++this.depth > this.limits.depth) raise('RecursionError', 'maximum recursion depth exceeded');
    try {
      body();
      this.checkText();
      return this.out;
    } finally {
      this.depth--;
      this.out = out;
      this.misprint = misprint;
    }
  }

  private checkOutput(): void {
    if (this.out.length + (this.memo?.length ?? 0) > this.limits.outputLength) overLimit('characters of output', this.limits.outputLength);
  }
}

/** Variables of one running function of the template (the template itself, a macro, a block, a recursive loop). */
export class Frame {
  readonly vars: (Value | undefined)[] = [];
  constructor(
    readonly rt: Runtime,
    readonly parent: Frame | null,
  ) {}
}
