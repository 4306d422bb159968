import { randomBytes } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Headers } from '../shard/messages.js';
import type { HttpResponse } from './uws.js';

/** Where a request was when its client left. */
export type Stage = 'reading' | 'waiting' | 'answering';

export interface ExchangeEnd {
  /** 499 where the client left before the last byte. */
  readonly status: number;
  /** `null` where the answer was written whole or cut by us. */
  readonly goneAt: Stage | null;
}

/** Tells the requests of this process from those of others in one log. */
const PROCESS_ID = randomBytes(6).toString('hex');
let nextRequest = 0;

/** Set by the exchange itself, whatever a shard says. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'x-request-id', 'request-id', 'connection']);

/**
 * The answering side of one request, valid after its handler returned. It is open, then answering or streaming, then closed;
 * calls that come after it closed do nothing, so a late answer never touches a dead socket.
 *
 *     open ── answer ──▶ answering ──▶ closed      (the last byte was taken by the socket: `written`)
 *       └── startStream ▶ streaming ── endStream ──▶ closed
 *     any ── client leaves, cut ──▶ closed
 */
export class Exchange {
  readonly requestId = `req_${PROCESS_ID}${(nextRequest++).toString(36).padStart(8, '0')}`;
  /** Called once when the client leaves early. */
  onGone: (() => void) | null = null;
  #stage: Stage | 'closed' = 'reading';
  #status = 0;
  #blocked = false;
  /** Runs when the socket takes bytes again. */
  #resume: (() => void) | null = null;
  readonly #listeners: ((end: ExchangeEnd) => void)[] = [];

  constructor(
    private readonly response: HttpResponse,
    private readonly isHead: boolean,
  ) {
    response.onAborted(() => this.#gone());
  }

  /** The listener is called once, whatever ends the exchange. */
  onClosed(listener: (end: ExchangeEnd) => void): void {
    this.#listeners.push(listener);
  }

  /** Says to whoever works for this client that it is gone, while its socket still takes an answer of our own. */
  leave(): void {
    this.onGone?.();
    this.onGone = null;
  }

  /** The head of an answer is written, nothing else can be said by a status. */
  get hasBegun(): boolean {
    return this.#status !== 0;
  }

  get isOpen(): boolean {
    return this.#stage !== 'closed';
  }

  /** The request was read whole; from here a client that leaves was waiting. */
  received(): void {
    if (this.#stage === 'reading') this.#stage = 'waiting';
  }

  /**
   * A whole answer. `written` is called when the socket has taken the last byte.
   * @param closes whether the connection ends with it, for a request whose body is not worth reading.
   */
  answer(status: number, headers: Headers, body: Uint8Array | string, written?: () => void, closes = false): void {
    if (this.#stage === 'closed' || this.#status !== 0) return;
    const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
    const { response } = this;
    this.#stage = 'answering';
    let isDone = false;
    response.cork(() => {
      this.#writeHead(status, headers);
      if (this.isHead) {
        // Told the length, the library would wait for that many bytes.
        response.writeHeader('content-length', String(bytes.byteLength));
        response.endWithoutBody();
      } else if (bytes.byteLength === 0 || closes) response.end(bytes, closes);
      else {
        const total = bytes.byteLength;
        response.onWritable((offset) => {
          let result: [boolean, boolean] = [true, true];
          response.cork(() => {
            result = response.tryEnd(bytes.subarray(offset), total);
          });
          if (result[1]) this.#finish(written);
          return result[0];
        });
        isDone = response.tryEnd(bytes, total)[1];
        return;
      }
      isDone = true;
    });
    if (isDone) this.#finish(written);
  }

  /** The head of an answer whose body comes in pieces, with its first piece. */
  startStream(status: number, headers: Headers, body: Uint8Array): void {
    if (this.#stage === 'closed' || this.#status !== 0) return;
    const { response } = this;
    this.#stage = 'answering';
    response.onWritable(() => {
      this.#blocked = false;
      this.#resume?.();
      return true;
    });
    response.cork(() => {
      this.#writeHead(status, headers);
      if (body.byteLength > 0) this.#blocked = !response.write(body);
    });
  }

  /** Another piece. Pieces that a slow client has not taken wait in the library; a client that takes nothing for ten seconds is cut off. */
  write(body: Uint8Array): void {
    if (this.#stage === 'closed' || this.#status === 0 || body.byteLength === 0) return;
    this.response.cork(() => {
      if (!this.response.write(body)) this.#blocked = true;
    });
  }

  /** The last piece. `written` is called when the socket has taken the last byte. */
  endStream(body: Uint8Array, written?: () => void): void {
    if (this.#stage === 'closed' || this.#status === 0) return;
    this.write(body);
    const end = (): void => {
      this.#resume = null;
      this.response.cork(() => this.response.end());
      this.#finish(written);
    };
    if (this.#blocked) this.#resume = end;
    else end();
  }

  /** Closes the socket without ending the body: what was sent is no answer. */
  cut(): void {
    if (this.#stage === 'closed') return;
    this.#stage = 'closed';
    this.response.close();
    this.#close({ status: this.#status === 0 ? 500 : this.#status, goneAt: null });
  }

  #writeHead(status: number, headers: Headers): void {
    const { response } = this;
    this.#status = status;
    response.writeStatus(`${status} ${STATUS_CODES[status] ?? 'Overloaded'}`);
    for (const [name, value] of headers) if (!OWN_HEADERS.has(name)) response.writeHeader(name, value);
    response.writeHeader('x-request-id', this.requestId);
    response.writeHeader('request-id', this.requestId);
  }

  #finish(written: (() => void) | undefined): void {
    // Corking may find the socket dead and abort the exchange before this line.
    if (this.#stage === 'closed') return;
    this.#stage = 'closed';
    written?.();
    this.#close({ status: this.#status, goneAt: null });
  }

  #gone(): void {
    if (this.#stage === 'closed') return;
    const goneAt = this.#stage;
    this.#stage = 'closed';
    this.onGone?.();
    this.#close({ status: 499, goneAt });
  }

  #close(end: ExchangeEnd): void {
    for (const listener of this.#listeners) listener(end);
  }
}
