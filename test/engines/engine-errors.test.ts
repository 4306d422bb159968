import { describe, expect, it } from 'vitest';
import { httpFailure, retryAfterMs } from '../../src/engines/engine-errors.js';

const response = (status: number, text: string, headers: Record<string, string> = {}) => ({ status, headers, body: Buffer.from(text) });

describe('httpFailure', () => {
  it.each([
    [502, '<html>Bad Gateway</html>', 'transient'],
    [504, '', 'transient'],
    [408, '', 'transient'],
    [429, '{"error":{"message":"slow down"}}', 'overloaded'],
    [500, '{"detail":"The decoder prompt (length 9) is longer than the maximum model length of 8."}', 'context_overflow'],
    [500, '{"error":{"message":"EngineCore encountered an issue. See stack trace"}}', 'down'],
    [501, '{"error":{"message":"not supported"}}', 'down'],
    [403, '{"error":{"message":"forbidden"}}', 'unauthorized'],
    [404, '{"error":{"message":"The model `x` does not exist."}}', 'bad_request'],
    [413, 'too large', 'bad_request'],
    [301, '', 'transient'],
  ])('sorts %i %s as %s', (status, text, kind) => {
    expect(httpFailure(response(status, text))).toMatchObject({ kind, status });
  });

  it.each([
    ['{"error":{"message":"a"}}', 'a'],
    ['{"error":"b"}', 'b'],
    ['{"object":"error","message":"c"}', 'c'],
    ['{"detail":"d"}', 'd'],
    ['{"detail":[{"loc":["x"]}]}', '[{"loc":["x"]}]'],
    ['data: {"error":{"message":"e"}}\n\ndata: [DONE]\n\n', 'e'],
    ['plain', 'plain'],
    ['', 'no reason given'],
  ])('finds the reason in %s', (text, message) => {
    expect(httpFailure(response(400, text)).message).toBe(message);
  });
});

describe('retryAfterMs', () => {
  it.each([
    [{}, null],
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '-1' }, null],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after-ms': '150', 'retry-after': '9' }, 150],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:01:00 GMT' }, 50_000],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:01 GMT' }, 0],
  ])('reads %j as %j', (headers, expected) => {
    expect(retryAfterMs(headers, 10_000)).toBe(expected);
  });
});
