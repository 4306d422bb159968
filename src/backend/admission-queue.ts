/** One waiting call. */
export interface Waiting {
  readonly sessionId: string;
  /** When its session began; the oldest is served first. */
  readonly sinceMs: number;
}

interface Line<T extends Waiting> {
  readonly waiting: T[];
  readonly sinceMs: number;
  running: number;
}

/**
 * Calls that wait for a replica: first in, first out within a session; between sessions the one with the fewest running
 * calls first, and of those the oldest, so that old rollouts finish and none takes all places by calling in parallel.
 */
export class AdmissionQueue<T extends Waiting> {
  readonly #lines = new Map<string, Line<T>>();
  #length = 0;

  constructor(private readonly max: number) {}

  get length(): number {
    return this.#length;
  }

  /** `false` = full. */
  add(call: T, front = false): boolean {
    if (this.#length >= this.max && !front) return false;
    const line = this.#line(call);
    if (front) line.waiting.unshift(call);
    else line.waiting.push(call);
    this.#length++;
    return true;
  }

  /** Which call is next of those that may go now, all of them where it is not said; it stays in the queue. */
  next(mayGo: (call: T) => boolean = () => true): T | null {
    let best: Line<T> | null = null;
    for (const line of this.#lines.values()) {
      const [first] = line.waiting;
      if (first !== undefined && (best === null || isBefore(line, best)) && mayGo(first)) best = line;
    }
    return best?.waiting[0] ?? null;
  }

  /** Takes a call out; `true` = it was there. */
  remove(call: T): boolean {
    const line = this.#lines.get(call.sessionId);
    const index = line?.waiting.indexOf(call) ?? -1;
    if (line === undefined || index < 0) return false;
    line.waiting.splice(index, 1);
    this.#length--;
    this.#forget(call.sessionId, line);
    return true;
  }

  /** The session has one more call at an engine. */
  started(call: T): void {
    this.#line(call).running++;
  }

  /** A call of the session that {@link started} has ended. */
  ended(sessionId: string): void {
    const line = this.#lines.get(sessionId);
    if (line === undefined) return;
    line.running--;
    this.#forget(sessionId, line);
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const line of this.#lines.values()) yield* line.waiting;
  }

  #line(call: T): Line<T> {
    const known = this.#lines.get(call.sessionId);
    if (known !== undefined) return known;
    const line: Line<T> = { waiting: [], sinceMs: call.sinceMs, running: 0 };
    this.#lines.set(call.sessionId, line);
    return line;
  }

  #forget(sessionId: string, line: Line<T>): void {
    if (line.waiting.length === 0 && line.running <= 0) this.#lines.delete(sessionId);
  }
}

const isBefore = <T extends Waiting>(a: Line<T>, b: Line<T>): boolean =>
  a.running !== b.running ? a.running < b.running : a.sinceMs < b.sinceMs;
