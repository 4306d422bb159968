import { ERRORS, type ErrorValue } from '../errors.js';
import { anthropicError, errorHeaders, openaiError } from '../protocols/error-reply.js';
import type { Headers } from '../shard/messages.js';
import type { Exchange } from './exchange.js';
import type { RequestHead } from './request-head.js';
import type { Dialect } from './routes.js';

/** The dialect of a caller, from the path and, where the path is both vendors', from the headers. */
export const dialectOf = (head: RequestHead, audience: 'agent' | 'trainer' | 'probe' | null): Dialect => {
  if (audience === 'trainer' || audience === 'probe') return 'trainer';
  if (head.path.startsWith('/v1/messages')) return 'anthropic-messages';
  if (head.path.startsWith('/v1/chat')) return 'openai-chat';
  return head.isAnthropic ? 'anthropic-messages' : 'openai-chat';
};

const shape = (dialect: Dialect, error: ErrorValue, requestId: string): { readonly status: number; readonly body: string } => {
  switch (dialect) {
    case 'openai-chat':
      return openaiError(error);
    case 'anthropic-messages':
      return anthropicError(error, requestId);
    case 'trainer':
      return { status: ERRORS[error.code].status, body: JSON.stringify({ error: { code: error.code, message: error.message } }) };
  }
};

/**
 * Answers an error in the caller's dialect.
 * @param closes whether the connection ends with it, for a body that is too much to read past.
 */
export const refuse = (exchange: Exchange, dialect: Dialect, error: ErrorValue, more: Headers = [], closes = false): void => {
  const { status, body } = shape(dialect, error, exchange.requestId);
  exchange.answer(status, [...errorHeaders(error, exchange.requestId), ...more], body, undefined, closes);
};
