import { type Dispatcher, Pool } from 'undici';
import type { EngineHttpRequest, EngineHttpResponse } from '../engines/engine.js';
import type { CancelSignal } from './cancel.js';
import type { Patience } from './patience.js';
import type { Clock, PoolSettings } from './pool-settings.js';
import { TransportError, transportError } from './transport-error.js';

/** Sockets beyond the window, for aborts and probes. */
const SPARE_SOCKETS = 16;
/** Longest answer to anything but sampling: metrics of a large server are the longest. */
const BYTES_MAX = 32 * 1024 * 1024;

export interface SendOptions {
  /** Without any byte for this long the call has failed; 0 = never. */
  readonly silenceMs: number;
  /** By which silence is measured; absent = the clock. */
  readonly patience?: Patience;
  /** A longer answer is none; absent = that of a probe. */
  readonly bytesMax?: number;
  /** Closes the socket of the call. */
  readonly signal?: CancelSignal;
}

/** Connections to one replica. A call has a socket of its own while it runs, so closing one call's socket hurts no other. */
export class ReplicaHttp {
  readonly #pool: Pool;
  readonly #prefix: string;
  readonly #authorization: Readonly<Record<string, string>> | null;

  constructor(
    readonly url: string,
    apiKey: string | null,
    settings: PoolSettings,
    private readonly clock: Clock,
  ) {
    const { origin, pathname } = new URL(url);
    this.#prefix = pathname.replace(/\/+$/, '');
    this.#authorization = apiKey === null ? null : { authorization: `Bearer ${apiKey}` };
    this.#pool = new Pool(origin, {
      connections: settings.window.max + SPARE_SOCKETS,
      pipelining: 1,
      // Generations take minutes without a byte; silence is measured here instead.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: settings.backend.idleSocketMs,
      // A server's hint must not keep sockets longer than the server itself does.
      keepAliveMaxTimeout: settings.backend.idleSocketMs,
      connect: { timeout: settings.backend.connectTimeoutMs },
    });
  }

  /** @throws TransportError where no whole answer came. */
  send(request: EngineHttpRequest, options: SendOptions): Promise<EngineHttpResponse> {
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(this.url, options, this.clock, resolve, reject);
      const { method, body } = request;
      const headers = this.#authorization === null ? request.headers : { ...request.headers, ...this.#authorization };
      try {
        this.#pool.dispatch({ method, path: this.#prefix + request.path, headers, body }, exchange);
      } catch (error) {
        exchange.fail(transportError(error as Error, false, this.url));
      }
    });
  }

  /** Closes all sockets; running calls fail with `cut`. */
  async destroy(): Promise<void> {
    await this.#pool.destroy(new TransportError('cut', false, `the connections to ${this.url} are closed`));
  }
}

/** One call: collects the answer and ends exactly once. */
class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;
  #headers: EngineHttpResponse['headers'] = {};
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #ended = false;
  #lastByteMs: number;
  #cancelTimer: () => void = () => {};

  constructor(
    private readonly url: string,
    private readonly options: SendOptions,
    private readonly clock: Clock,
    private readonly resolve: (response: EngineHttpResponse) => void,
    private readonly reject: (error: TransportError) => void,
  ) {
    this.#lastByteMs = this.#now();
    if (options.silenceMs > 0) this.#watch(options.silenceMs);
    if (options.signal?.aborted === true) this.#cut();
    else options.signal?.addEventListener('abort', this.#cut, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) controller.abort(new TransportError('cut', false, 'the call ended before it was sent'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#lastByteMs = this.#now();
    const flat: Record<string, string | undefined> = {};
    for (const [name, value] of Object.entries(headers)) flat[name] = Array.isArray(value) ? value.join(', ') : value;
    this.#headers = flat;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#lastByteMs = this.#now();
    this.#bytes += chunk.length;
    const { bytesMax = BYTES_MAX } = this.options;
    if (this.#bytes <= bytesMax) this.#chunks.push(chunk);
    else this.#stop(new TransportError('endless', true, `${this.url} sent more than the ${bytesMax} bytes that an answer can have`));
  }

  onResponseEnd(): void {
    if (!this.#end()) return;
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(transportError(error, this.#status !== 0, this.url));
  }

  fail(error: TransportError): void {
    if (this.#end()) this.reject(error);
  }

  #end(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    this.#cancelTimer();
    this.options.signal?.removeEventListener('abort', this.#cut);
    return true;
  }

  #stop(error: TransportError): void {
    this.fail(error);
    this.#controller?.abort(error);
  }

  readonly #cut = (): void => {
    this.#stop(new TransportError('cut', this.#status !== 0, `the call to ${this.url} was closed`));
  };

  #now(): number {
    return (this.options.patience ?? this.clock).now();
  }

  #watch(ms: number): void {
    this.#cancelTimer = this.clock.after(ms, () => {
      const silentMs = this.#now() - this.#lastByteMs;
      const { silenceMs, patience } = this.options;
      if (patience?.isHeld === true) this.#watch(silenceMs);
      else if (silentMs < silenceMs) this.#watch(silenceMs - silentMs);
      else this.#stop(new TransportError('silent', this.#status !== 0, `${this.url} sent no byte for ${Math.round(silentMs)} ms`));
    });
  }
}
