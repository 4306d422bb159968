import { ERRORS, type ErrorValue } from '../errors.js';

/** Both vendors' names for the id of a call, so that each SDK finds its own. */
const REQUEST_ID_HEADERS = ['x-request-id', 'request-id'] as const;

export function requestIdHeaders(requestId: string): readonly (readonly [string, string])[] {
  return REQUEST_ID_HEADERS.map((name) => [name, requestId] as const);
}

/**
 * Headers of a refusal. SDKs of both vendors obey `x-should-retry` before any rule about the status, and read
 * `retry-after-ms` before `retry-after`.
 */
export function errorHeaders(error: ErrorValue, requestId: string): readonly (readonly [string, string])[] {
  const headers: (readonly [string, string])[] = [
    ['content-type', 'application/json'],
    ['x-should-retry', String(ERRORS[error.code].shouldRetry)],
    ...requestIdHeaders(requestId),
  ];
  if (error.retryAfterMs !== undefined) {
    headers.push(['retry-after-ms', String(error.retryAfterMs)], ['retry-after', String(Math.ceil(error.retryAfterMs / 1000))]);
  }
  return headers;
}

export interface ErrorReply {
  readonly status: number;
  readonly body: string;
}

export function openaiError(error: ErrorValue): ErrorReply {
  const { status, openaiType } = ERRORS[error.code];
  return { status, body: JSON.stringify({ error: { message: error.message, type: openaiType, param: null, code: error.code } }) };
}

/** SDKs choose the class of an error by its status and `details.error_code`. */
export function anthropicError(error: ErrorValue, requestId: string): ErrorReply {
  const entry: { readonly status: number; readonly anthropicStatus?: number; readonly anthropicType: string } = ERRORS[error.code];
  const detail = { type: entry.anthropicType, message: error.message, details: { error_code: error.code } };
  return { status: entry.anthropicStatus ?? entry.status, body: JSON.stringify({ type: 'error', error: detail, request_id: requestId }) };
}
