import { describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../../src/errors.js';
import { errorHeaders } from '../../src/protocols/error-reply.js';
import { protocols } from './requests.js';

describe('errors', () => {
  it('have the statuses at which clients stop', () => {
    const status = (name: 'openai-chat' | 'anthropic-messages', code: ErrorCode): number =>
      protocols[name].formatError({ code, message: 'm' }, 'r').status;
    expect(status('openai-chat', 'session_closed')).toBe(403);
    expect(status('anthropic-messages', 'session_closed')).toBe(403);
    expect(status('openai-chat', 'turn_limit')).toBe(403);
    expect(status('openai-chat', 'overloaded')).toBe(503);
    expect(status('anthropic-messages', 'overloaded')).toBe(529);
    expect(status('anthropic-messages', 'thread_unsupported_request')).toBe(400);
    expect(status('anthropic-messages', 'body_too_large')).toBe(413);
  });

  it('have the bodies of their dialect', () => {
    const error = { code: 'session_closed', message: 'over' } as const;
    expect(JSON.parse(protocols['openai-chat'].formatError(error, 'r').body)).toStrictEqual({
      error: { message: 'over', type: 'invalid_request_error', param: null, code: 'session_closed' },
    });
    expect(JSON.parse(protocols['anthropic-messages'].formatError(error, 'r').body)).toStrictEqual({
      type: 'error',
      error: { type: 'permission_error', message: 'over', details: { error_code: 'session_closed' } },
      request_id: 'r',
    });
  });

  it('say in headers whether to try again, and when', () => {
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      expect(errorHeaders({ code, message: 'm' }, 'r')).toContainEqual(['x-should-retry', String(ERRORS[code].shouldRetry)]);
    }
    expect(errorHeaders({ code: 'overloaded', message: 'm', retryAfterMs: 1500 }, 'r')).toStrictEqual([
      ['content-type', 'application/json'],
      ['x-should-retry', 'true'],
      ['x-request-id', 'r'],
      ['request-id', 'r'],
      ['retry-after-ms', '1500'],
      ['retry-after', '2'],
    ]);
  });

  it('word an overflow so that clients know it', () => {
    expect(protocols['openai-chat'].overflowMessage(12, 10)).toMatch(/maximum context length is 10 tokens.*resulted in 12 tokens/);
    expect(protocols['anthropic-messages'].overflowMessage(12, 10)).toBe('prompt is too long: 12 tokens > 10 maximum');
  });
});
