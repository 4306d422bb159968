import { answerBody, member, numberMember, stringMember } from './answer-json.js';
import type { EngineFailure, EngineHttpResponse, GenerateOutcome } from './engine.js';

/** Texts by which vLLM and SGLang of all versions say that a prompt does not fit. */
const OVERFLOW =
  /longer than the (?:maximum model length|model's context length)|maximum context length|context length is only|exceeds the maximum allowed length/;
const DUPLICATE_ID = /already running|Duplicate request ID/i;
const ENGINE_DEAD = /EngineCore encountered an issue|EngineDeadError/;
const ROUTE_CLOSED = /endpoints are disabled/;

/** What an answer other than a usable 200 means. */
export function httpFailure(response: EngineHttpResponse): EngineFailure {
  const body = answerBody(response);
  const message =
    body.kind === 'json' ? errorMessage(body.value) : body.kind === 'events' ? eventMessage(body.events) : body.excerpt.trim();
  return failure(kindOf(response.status, message, body.kind === 'json' ? body.value : null), message || 'no reason given', response);
}

/** What an `error` object means that came where an answer should be; its `code` stands for the status. */
export function embeddedFailure(value: unknown, response: EngineHttpResponse): EngineFailure {
  const error = member(value, 'error') ?? value;
  const code = numberMember(error, 'code') ?? numberMember(value, 'code') ?? 500;
  const message = errorMessage(value);
  return failure(kindOf(code, message, value), message, response);
}

function failure(kind: EngineFailure['kind'], message: string, response: EngineHttpResponse): EngineFailure {
  return { kind, message, status: response.status, retryAfterMs: retryAfterMs(response.headers) };
}

export const failed = (kind: EngineFailure['kind'], message: string, status: number | null = null): GenerateOutcome => ({
  ok: false,
  failure: { kind, message, status, retryAfterMs: null },
});

function kindOf(status: number, message: string, body: unknown): EngineFailure['kind'] {
  if (status >= 400 && OVERFLOW.test(message)) return 'context_overflow';
  if (status === 401) return 'unauthorized';
  if (status === 403) return ROUTE_CLOSED.test(message) ? 'down' : 'unauthorized';
  // A route that was there at the probe and is gone now: the server was replaced, so it must be probed again.
  if (status === 404) return stringMember(body, 'detail') === 'Not Found' ? 'down' : 'bad_request';
  if (status === 405 || status === 501) return 'down';
  if (status === 429 || status === 503) return 'overloaded';
  if (status === 408 || status === 409 || status >= 500) return ENGINE_DEAD.test(message) ? 'down' : 'transient';
  if (status >= 400) return DUPLICATE_ID.test(message) ? 'transient' : 'bad_request';
  return 'transient';
}

/** The reason in the shapes that the engines use: `{error: {message}}`, `{error: "…"}`, `{message}`, `{detail}`. */
export function errorMessage(value: unknown): string {
  const error = member(value, 'error');
  if (typeof error === 'string') return error;
  const message = stringMember(error, 'message') ?? stringMember(value, 'message');
  if (message !== null) return message;
  const detail = member(value, 'detail');
  if (detail === undefined) return '';
  return typeof detail === 'string' ? detail : JSON.stringify(detail);
}

function eventMessage(events: readonly unknown[]): string {
  return events.map(errorMessage).find((message) => message !== '') ?? '';
}

/** `retry-after-ms`, or `Retry-After` in seconds or as a date. */
export function retryAfterMs(headers: EngineHttpResponse['headers'], nowMs: number = Date.now()): number | null {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const value = headers['retry-after'];
  if (value === undefined || value === '') return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : null;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
