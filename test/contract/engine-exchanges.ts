import { readdirSync, readFileSync } from 'node:fs';
import type { EngineHttpResponse, EngineProbe, GenerateRequest } from '../../src/engines/engine.js';
import { SAMPLING } from '../support/sampling.js';

export interface Exchange {
  readonly file: string;
  readonly name: string;
  readonly request: { readonly method: string; readonly path: string; readonly body?: Record<string, unknown> };
  readonly response: {
    readonly status: number;
    readonly contentType?: string | null;
    readonly headers?: Record<string, string>;
    readonly body?: unknown;
    readonly text?: string;
    readonly sse?: readonly unknown[];
  };
}

const FOLDER = new URL('../fixtures/engines/', import.meta.url);

/** Recorded exchanges of the files whose name matches, those that have a request and an answer. */
export function exchanges(file: RegExp): readonly Exchange[] {
  const found: Exchange[] = [];
  for (const name of readdirSync(FOLDER).sort()) {
    if (!name.endsWith('.json') || !file.test(name.slice(0, -'.json'.length))) continue;
    for (const entry of JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as Exchange[])
      if (typeof entry.request?.path === 'string' && typeof entry.response?.status === 'number' && entry.response.status > 0)
        found.push({ ...entry, file: name.replace(/\.json$/, '') });
  }
  return found;
}

/** The answer as bytes, as the server sent it. */
export function responseOf({ response }: Exchange): EngineHttpResponse {
  const text =
    response.sse !== undefined
      ? response.sse.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('')
      : response.body === undefined
        ? (response.text ?? '')
        : JSON.stringify(response.body);
  const headers = { ...response.headers, ...(response.contentType ? { 'content-type': response.contentType } : {}) };
  return { status: response.status, headers, body: Buffer.from(text) };
}

/** What we would have asked to get the recorded request. */
export function requestOf(exchange: Exchange, changes: Partial<GenerateRequest> = {}): GenerateRequest {
  const body = exchange.request.body ?? {};
  const given = (body.sampling_params ?? body) as Record<string, unknown>;
  const ids = body.token_ids ?? body.input_ids ?? body.prompt;
  const promptIds = Array.isArray(ids)
    ? Int32Array.from(ids as number[])
    : new Int32Array(Number(/\d+/.exec(String(ids))?.[0] ?? 1)).fill(1);
  return {
    requestId: String(body.request_id ?? body.rid ?? 'r'),
    model: null,
    promptIds,
    vocabularySize: 151_936,
    sampling: { ...SAMPLING, maxTokens: Number(given.max_tokens ?? given.max_new_tokens ?? 4096) },
    topLogprobs: 0,
    routingKey: 'k',
    ...changes,
  };
}

export const probeWith = (changes: Partial<EngineProbe> = {}): EngineProbe => ({
  engine: 'any',
  version: null,
  route: 'generate',
  model: 'tiny',
  contextTokens: 2048,
  weightVersion: null,
  facts: {},
  ...changes,
});
