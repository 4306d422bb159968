import { Cancel, type CancelSignal } from '../backend/cancel.js';
import type { Settings } from '../config.js';
import type { ErrorValue } from '../errors.js';
import { errorHeaders, requestIdHeaders } from '../protocols/error-reply.js';
import type { Protocol } from '../protocols/protocol.js';
import type { FromShard, Headers } from './messages.js';

const TEXT = new TextEncoder();
const JSON_TYPE = ['content-type', 'application/json'] as const;
const SSE_HEADERS: Headers = [
  ['content-type', 'text/event-stream'],
  ['cache-control', 'no-cache'],
];
/** Leading white space is legal before a JSON text, so it keeps a silent connection alive. */
const WHITESPACE = ' \n';

/**
 * The answer of one call on its way to the client: whole, as a stream with heartbeats, or as JSON behind whitespace once
 * a client has waited long. Knows at every moment whether the client is still there.
 */
export class CallAnswer {
  readonly #gone = new Cancel();
  #head = false;
  #isStream = false;
  #done = false;
  #heartbeat: NodeJS.Timeout | null = null;
  #delivered: boolean | null = null;
  readonly #overListeners: ((delivered: boolean) => void)[] = [];

  constructor(
    readonly id: number,
    readonly requestId: string,
    private readonly protocol: Protocol,
    private readonly heartbeat: Settings['heartbeat'],
    private readonly send: (message: FromShard, transfer: ArrayBuffer | null) => void,
  ) {}

  /** Aborted when the client leaves, or is given up. */
  get gone(): CancelSignal {
    return this.#gone;
  }

  /**
   * The listener is called once: with `true` when the last byte went to an open socket, with `false` when the client left before.
   * @returns resolves after it was called, rejects with what it throws
   */
  whenOver(listener: (delivered: boolean) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const tell = (delivered: boolean): void => {
        try {
          listener(delivered);
          resolve();
        } catch (error) {
          reject(error);
        }
      };
      if (this.#delivered === null) this.#overListeners.push(tell);
      else tell(this.#delivered);
    });
  }

  /** The front says that the socket closed. */
  clientGone(): void {
    this.#stop();
    this.#done = true;
    this.#over(false);
    this.#gone.abort();
  }

  /** The front says that the last byte is written. */
  clientServed(): void {
    this.#over(true);
  }

  /** Sends an SSE head and the first events at once, then heartbeats until more is said. */
  openStream(events: string): void {
    this.#isStream = true;
    this.#sendHead(SSE_HEADERS, events);
    this.#beat(this.heartbeat.streamMs, this.protocol.heartbeat);
  }

  /** Lets whitespace go out for a JSON answer that is long in coming. */
  awaitJson(): void {
    this.#heartbeat = setTimeout(() => {
      this.#sendHead([JSON_TYPE], WHITESPACE);
      this.#beat(this.heartbeat.streamMs, WHITESPACE);
    }, this.heartbeat.bodyMs);
  }

  /** The end of the answer: the remaining events of a stream, or the JSON body. */
  finish(text: string): void {
    if (this.#done) return;
    this.#stop();
    this.#done = true;
    const body = TEXT.encode(text);
    if (this.#head) this.send({ kind: 'end', id: this.id, body }, body.buffer);
    else this.send({ kind: 'answer', id: this.id, status: 200, headers: [JSON_TYPE, ...this.#ids()], body }, body.buffer);
  }

  /** A refusal or failure in the caller's dialect; once a head is out, an error event, or a closed socket for JSON. */
  fail(error: ErrorValue): void {
    if (this.#done) return;
    this.#stop();
    this.#done = true;
    if (this.#head && !this.#isStream) {
      this.send({ kind: 'cut', id: this.id }, null);
      return;
    }
    if (this.#head) {
      const body = TEXT.encode(this.protocol.failStream(error, this.requestId));
      this.send({ kind: 'end', id: this.id, body }, body.buffer);
      return;
    }
    const { status, body: text } = this.protocol.formatError(error, this.requestId);
    const body = TEXT.encode(text);
    const headers = errorHeaders(error, this.requestId);
    this.send({ kind: 'answer', id: this.id, status, headers, body }, body.buffer);
  }

  /** Fails the call although its client is there, and lets its work go as if the client had left. A reply on its way goes on. */
  abandon(error: ErrorValue): void {
    if (this.#done) return;
    this.fail(error);
    this.#over(false);
    this.#gone.abort();
  }

  #over(delivered: boolean): void {
    if (this.#delivered !== null) return;
    this.#delivered = delivered;
    for (const tell of this.#overListeners.splice(0)) tell(delivered);
  }

  #sendHead(headers: Headers, first: string): void {
    this.#head = true;
    const body = TEXT.encode(first);
    this.send({ kind: 'head', id: this.id, status: 200, headers: [...headers, ...this.#ids()], body }, body.buffer);
  }

  #beat(periodMs: number, text: string): void {
    this.#stop();
    this.#heartbeat = setInterval(() => {
      const body = TEXT.encode(text);
      this.send({ kind: 'chunk', id: this.id, body }, body.buffer);
    }, periodMs);
  }

  #stop(): void {
    if (this.#heartbeat !== null) clearInterval(this.#heartbeat);
    this.#heartbeat = null;
  }

  #ids(): Headers {
    return requestIdHeaders(this.requestId);
  }
}
