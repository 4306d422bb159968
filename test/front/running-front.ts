import { connect, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import type { SomeSettings } from '../../src/config.js';
import { resolveSettings } from '../../src/config-load.js';
import { type RunningFront, startFront } from '../../src/front/server.js';
import { createLog, type Log } from '../../src/telemetry/log.js';
import { createMetrics } from '../../src/telemetry/metrics.js';
import { ScriptedLink } from './scripted-link.js';

export interface TestFront {
  readonly link: ScriptedLink;
  readonly url: string;
  readonly front: RunningFront;
  readonly logged: string[];
  metric(line: string): Promise<string | undefined>;
}

const running: RunningFront[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((front) => front.close()));
});

/** A real server on a free port over scripted shards; closed after the test. */
export const frontUnderTest = async (some: SomeSettings = {}, adminToken: string | null = null): Promise<TestFront> => {
  const link = new ScriptedLink();
  const logged: string[] = [];
  const log: Log = createLog('debug', 'front', { write: (line) => void logged.push(line) });
  const settings = resolveSettings({ port: 0, shutdown: { drainMs: 100 }, ...some });
  const metrics = createMetrics('front');
  const front = await startFront(settings, { adminToken, engineKey: null }, link, { log, metrics });
  running.push(front);
  const url = `http://127.0.0.1:${front.port}`;
  const metric = async (line: string): Promise<string | undefined> => {
    const headers = adminToken === null ? {} : { authorization: `Bearer ${adminToken}` };
    const text = await (await fetch(`${url}/metrics`, { headers })).text();
    return text
      .split('\n')
      .find((candidate) => candidate.startsWith(line))
      ?.slice(line.length + 1);
  };
  return { link, url, front, logged, metric };
};

export const postChat = (
  url: string,
  body: string | Uint8Array<ArrayBuffer> = '{}',
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer s1', 'content-type': 'application/json', ...headers },
    body,
  });

/** A bare socket for what no HTTP client would send. */
export class RawClient {
  readonly socket: Socket;
  #chunks: Buffer[] = [];
  /** Bytes received. */
  length = 0;
  #wakers: (() => void)[] = [];
  isClosed = false;

  constructor(url: string) {
    this.socket = connect(Number(new URL(url).port), '127.0.0.1');
    this.socket.on('data', (data) => {
      this.#chunks.push(data);
      this.length += data.length;
      this.#wake();
    });
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      this.isClosed = true;
      this.#wake();
    });
  }

  /** What was received; of a long answer the first and the last chunk. */
  get text(): string {
    const chunks = this.length > 1_000_000 ? [this.#chunks[0]!, ...this.#chunks.slice(-1)] : this.#chunks;
    return Buffer.concat(chunks).toString('latin1');
  }

  send(text: string): void {
    this.socket.write(Buffer.from(text, 'latin1'));
  }

  async until(condition: (text: string, isClosed: boolean) => boolean): Promise<string> {
    while (!condition(this.text, this.isClosed)) {
      if (this.isClosed) throw new Error(`the connection closed after: ${this.text.slice(0, 500)}`);
      await new Promise<void>((resolve) => this.#wakers.push(resolve));
    }
    return this.text;
  }

  #wake(): void {
    for (const wake of this.#wakers.splice(0)) wake();
  }
}

/** Status and `error.code` of a refusal in OpenAI's or the trainer's shape. */
export const refusal = async (response: Response): Promise<[status: number, code: string]> => {
  const body = (await response.json()) as { readonly error: { readonly code: string } };
  return [response.status, body.error.code];
};
