import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Answer {
  readonly status: number;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Call {
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** The JSON body, `undefined` without one. */
  readonly body: unknown;
}

export type Handler = (call: Call) => Answer | Promise<Answer>;
/** Handlers by `METHOD /path`. */
export type Routes = Readonly<Record<string, Handler>>;

/** The body's JSON; `undefined` when there is none. @throws SyntaxError */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const bytes = Buffer.concat(parts);
  return bytes.length === 0 ? undefined : JSON.parse(bytes.toString('utf8'));
}

/** Head and whole body. Python's servers send no `Keep-Alive` hint, so neither does this. */
export function send(response: ServerResponse, answer: Answer): void {
  const text = answer.body === undefined ? '' : typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
  response.writeHead(answer.status, {
    ...(answer.body !== undefined && { 'content-type': answer.contentType ?? 'application/json' }),
    'content-length': Buffer.byteLength(text),
    connection: 'keep-alive',
    ...answer.headers,
  });
  response.end(text);
}
