import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RecordedExchange {
  readonly path: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly status: number;
  readonly response: Readonly<Record<string, unknown>>;
}

export interface ProxyOptions {
  /** Paths that answer 404, as in front of a server that does not have them. */
  readonly missing?: RegExp;
  /** Called when a request came from the gateway; the engine gets it afterwards. */
  readonly onRequest?: (path: string) => Promise<void> | void;
  /** Called when a whole answer came from the engine; the gateway gets it afterwards. */
  readonly onAnswer?: (exchange: RecordedExchange) => Promise<void> | void;
}

/** Stands between a gateway and a real engine and keeps what both said in whole JSON exchanges, byte for byte parsed afterwards. */
export class RecordingProxy {
  readonly #exchanges: RecordedExchange[] = [];
  readonly #begun: string[] = [];
  readonly #server: Server;
  readonly #target: URL;

  private constructor(
    target: string,
    private readonly options: ProxyOptions,
  ) {
    this.#target = new URL(target);
    this.#server = createServer((incoming, outgoing) => this.#pass(incoming, outgoing));
  }

  static async start(target: string, options: ProxyOptions = {}): Promise<RecordingProxy> {
    const proxy = new RecordingProxy(target, options);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Paths of all calls, whether they were answered or not. */
  get begun(): readonly string[] {
    return this.#begun;
  }

  /** POSTs whose answers came whole, in the order of their ends. */
  get exchanges(): readonly RecordedExchange[] {
    return this.#exchanges;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const path = incoming.url ?? '/';
    if (this.options.missing?.test(path)) {
      incoming.resume();
      outgoing.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"Not Found"}');
      return;
    }
    const { hostname, port } = this.#target;
    const sent: Buffer[] = [];
    this.#begun.push(path);
    const onward = httpRequest({ hostname, port, path, method: incoming.method, headers: incoming.headers, agent: false }, (answer) => {
      const received: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => received.push(chunk));
      answer.on('end', async () => {
        const status = answer.statusCode ?? 502;
        const body = Buffer.concat(received);
        const exchange = incoming.method === 'POST' ? exchangeOf(path, Buffer.concat(sent), status, body) : null;
        if (exchange !== null) {
          this.#exchanges.push(exchange);
          await this.options.onAnswer?.(exchange);
        }
        outgoing.writeHead(status, answer.headers).end(body);
      });
      // An answer that breaks off must break off for the gateway too.
      answer.on('close', () => {
        if (!answer.complete) outgoing.destroy();
      });
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.on('data', (chunk: Buffer) => sent.push(chunk));
    incoming.on('end', async () => {
      await this.options.onRequest?.(path);
      onward.end(Buffer.concat(sent));
    });
  }
}

function exchangeOf(path: string, sent: Buffer, status: number, received: Buffer): RecordedExchange | null {
  try {
    const request = JSON.parse(sent.toString('utf8')) as Record<string, unknown>;
    return { path, request, status, response: JSON.parse(received.toString('utf8')) as Record<string, unknown> };
  } catch {
    return null;
  }
}
