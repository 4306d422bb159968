import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

/** What the server sends to the next request. */
export interface Canned {
  readonly status?: number;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body: string;
  /** Bytes per write, to cut events anywhere; 0 = in one piece. */
  readonly pieceBytes?: number;
}

export interface ProtocolServer {
  readonly url: string;
  /** Requests since the last {@link ProtocolServer.answer}. */
  readonly requests: readonly { readonly path: string; readonly body: string }[];
  answer(canned: Canned): void;
  close(): Promise<void>;
}

/** A server that gives formatted bytes to SDKs, the same to every request. */
export async function startProtocolServer(): Promise<ProtocolServer> {
  let canned: Canned = { body: '' };
  let requests: { path: string; body: string }[] = [];
  const server = createServer((request, response) => {
    void readAll(request).then((body) => {
      requests.push({ path: request.url ?? '', body });
      response.writeHead(canned.status ?? 200, Object.fromEntries(canned.headers ?? []));
      const bytes = Buffer.from(canned.body, 'utf8');
      const size = canned.pieceBytes || bytes.length || 1;
      for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size));
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() {
      return requests;
    },
    answer(next) {
      canned = next;
      requests = [];
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function readAll(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string;
  return text;
}

export const openaiClient = ({ url }: ProtocolServer, maxRetries = 0): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: 's', maxRetries });
export const anthropicClient = ({ url }: ProtocolServer, maxRetries = 0): Anthropic =>
  new Anthropic({ baseURL: url, apiKey: 's', maxRetries });

export const JSON_HEADERS = [['content-type', 'application/json']] as const;
export const SSE_HEADERS = [['content-type', 'text/event-stream']] as const;
