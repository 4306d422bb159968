import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RecordedExchange {
  readonly path: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly status: number;
  readonly response: Readonly<Record<string, unknown>>;
}

/** Stands between a gateway and a real engine and keeps what both said, byte for byte parsed as JSON afterwards. */
export class RecordingProxy {
  private constructor(
    private readonly server: Server,
    readonly url: string,
    readonly exchanges: readonly RecordedExchange[],
  ) {}

  static async start(target: string, keep: (path: string) => boolean): Promise<RecordingProxy> {
    const exchanges: RecordedExchange[] = [];
    const { hostname, port } = new URL(target);
    const server = createServer((incoming, outgoing) => {
      const sent: Buffer[] = [];
      const path = incoming.url ?? '/';
      const onward = httpRequest({ hostname, port, path, method: incoming.method, headers: incoming.headers }, (answer) => {
        const received: Buffer[] = [];
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.on('data', (chunk: Buffer) => {
          received.push(chunk);
          outgoing.write(chunk);
        });
        answer.on('end', () => {
          if (keep(path)) {
            const request = JSON.parse(Buffer.concat(sent).toString('utf8')) as Record<string, unknown>;
            const response = JSON.parse(Buffer.concat(received).toString('utf8')) as Record<string, unknown>;
            exchanges.push({ path, request, status: answer.statusCode ?? 502, response });
          }
          outgoing.end();
        });
      });
      onward.on('error', () => outgoing.destroy());
      outgoing.on('close', () => onward.destroy());
      incoming.on('data', (chunk: Buffer) => {
        sent.push(chunk);
        onward.write(chunk);
      });
      incoming.on('end', () => onward.end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new RecordingProxy(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, exchanges);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}
