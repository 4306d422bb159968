import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { frontUnderTest, postChat, RawClient, refusal } from './running-front.js';

const chatHead = (more: string): string => `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer s1\r\n${more}\r\n`;
const random = (length: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(length);
  for (let at = 0, state = 1; at < length; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
};

test('a turn reaches the shard of its key with its bytes and its answer reaches the client', async () => {
  const { link, url } = await frontUnderTest();
  const response = await postChat(url, '{"messages":[]}', { 'x-stainless-retry-count': '2' });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ ok: true });
  const call = await link.call(1);
  expect(call.sent).toMatchObject({ operation: 'turn', protocol: 'openai-chat', sessionKey: 's1', retryCount: 2 });
  expect(call.text).toBe('{"messages":[]}');
  expect(response.headers.get('x-request-id')).toBe(call.sent.requestId);
  expect(response.headers.get('request-id')).toBe(call.sent.requestId);
  expect(await call.settled()).toBe('written');
});

test.each([
  ['/v1/chat/completions', 'turn', 'openai-chat'],
  ['//v1/chat/completions', 'turn', 'openai-chat'],
  ['/v1/v1/chat/completions', 'turn', 'openai-chat'],
  ['/v1//chat/completions/', 'turn', 'openai-chat'],
  ['/v1/messages?beta=true', 'turn', 'anthropic-messages'],
  ['/v1/v1/messages', 'turn', 'anthropic-messages'],
  ['/v1/messages/count_tokens?beta=true', 'count_tokens', 'anthropic-messages'],
])('POST %s is a %s of %s', async (path, operation, protocol) => {
  const { link, url } = await frontUnderTest();
  const response = await fetch(url + path, { method: 'POST', headers: { 'x-api-key': 'k' }, body: '{}' });
  expect(response.status).toBe(200);
  expect(link.calls[0]!.sent).toMatchObject({ operation, protocol, sessionKey: 'k' });
});

test('a body of many chunks and one without a declared length arrive whole', async () => {
  const { link, url } = await frontUnderTest();
  const large = random(5_000_000);
  expect((await postChat(url, large)).status).toBe(200);
  expect(Buffer.from(link.calls[0]!.sent.body).equals(large)).toBe(true);
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < large.length; at += 65_536) controller.enqueue(large.subarray(at, at + 65_536));
      controller.close();
    },
  });
  const init = { method: 'POST', headers: { 'x-api-key': 'k' }, body: stream, duplex: 'half' };
  expect((await fetch(`${url}/v1/messages`, init as RequestInit)).status).toBe(200);
  expect(Buffer.from(link.calls[1]!.sent.body).equals(large)).toBe(true);
});

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
])('a body in %s is decoded', async (encoding, encode) => {
  const { link, url } = await frontUnderTest();
  expect((await postChat(url, new Uint8Array(encode('{"a":1}')), { 'content-encoding': encoding })).status).toBe(200);
  expect(link.calls[0]!.text).toBe('{"a":1}');
  // The shard gets a buffer of its own that can be transferred.
  expect(structuredClone(link.calls[0]!.sent.body, { transfer: [link.calls[0]!.sent.body.buffer as ArrayBuffer] })).toHaveLength(7);
});

test('a compressed bomb is refused by its decoded size and costs no call', async () => {
  const { link, url, metric } = await frontUnderTest({ limits: { bodyBytes: 65_536 } });
  const bomb = new Uint8Array(gzipSync(new Uint8Array(50_000_000)));
  expect(bomb.length).toBeLessThan(65_536);
  const response = await postChat(url, bomb, { 'content-encoding': 'gzip' });
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({ error: { code: 'body_too_large' } });
  expect(link.calls).toHaveLength(0);
  expect(await metric('rollout_gateway_bodies_in_flight_bytes')).toBe('0');
});

test('a broken or unknown encoding is refused by name', async () => {
  const { link, url } = await frontUnderTest();
  const broken = await postChat(url, 'no gzip', { 'content-encoding': 'gzip' });
  expect(await refusal(broken)).toEqual([400, 'invalid_request']);
  const unknown = await postChat(url, '{}', { 'content-encoding': 'zstd' });
  expect(await refusal(unknown)).toEqual([415, 'unsupported_encoding']);
  const messages = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'k', 'content-encoding': 'gzip, br' },
    body: '{}',
  });
  expect(messages.status).toBe(400);
  expect(await messages.json()).toMatchObject({ type: 'error', error: { details: { error_code: 'unsupported_encoding' } } });
  expect(link.calls).toHaveLength(0);
});

test('a declared length above the limit is refused before any byte of the body', async () => {
  const { link, url } = await frontUnderTest({ limits: { bodyBytes: 1024 } });
  const client = new RawClient(url);
  client.send(chatHead('content-length: 2000\r\n'));
  expect(await client.until((text) => text.includes('body_too_large'))).toMatch(/^HTTP\/1\.1 413 Payload Too Large\r\n/);
  // The connection stays in step: the body is read past and the next request is served.
  client.send(`${'x'.repeat(2000)}${chatHead('content-length: 2\r\n')}{}`);
  await client.until((text) => text.includes('{"ok":true}'));
  expect(link.calls).toHaveLength(1);
  client.socket.destroy();
});

test('a declared length far above the limit ends the connection', async () => {
  const { url } = await frontUnderTest({ limits: { bodyBytes: 1024 } });
  const client = new RawClient(url);
  client.send(chatHead('content-length: 999999999999\r\n'));
  expect(await client.until((_text, isClosed) => isClosed)).toContain('413 Payload Too Large');
});

test('a body without a declared length is refused when it passes the limit', async () => {
  const { link, url } = await frontUnderTest({ limits: { bodyBytes: 1024 } });
  const client = new RawClient(url);
  client.send(chatHead('transfer-encoding: chunked\r\n'));
  client.send(`400\r\n${'x'.repeat(1024)}\r\n`);
  client.send(`400\r\n${'x'.repeat(1024)}\r\n`);
  expect(await client.until((_text, isClosed) => isClosed)).toContain('413 Payload Too Large');
  expect(link.calls).toHaveLength(0);
});

test('bodies beyond their common budget are refused as overloaded and the budget comes back', async () => {
  const { url, metric } = await frontUnderTest({ limits: { bodyBytes: 1_048_576, bodiesInFlightBytes: 1_048_576 } });
  const slow = new RawClient(url);
  // The pool's next size is beyond the budget.
  slow.send(chatHead('content-length: 1048000\r\n'));
  slow.send('x'.repeat(1000));
  await expect.poll(() => metric('rollout_gateway_bodies_in_flight_bytes')).toBe('1048000');
  const second = await postChat(url, random(200_000));
  expect(second.status).toBe(503);
  expect(second.headers.get('retry-after-ms')).toBe('1000');
  expect(second.headers.get('x-should-retry')).toBe('true');
  slow.socket.destroy();
  await expect.poll(() => metric('rollout_gateway_bodies_in_flight_bytes')).toBe('0');
  expect((await postChat(url, random(200_000))).status).toBe(200);
});

test('calls beyond limits.openCalls are refused and counted down when others end', async () => {
  const { link, url } = await frontUnderTest({ limits: { openCalls: 1 } });
  link.onCall = () => undefined;
  const first = postChat(url);
  const call = await link.call(1);
  const second = await postChat(url);
  expect(await refusal(second)).toEqual([503, 'overloaded']);
  call.answer('{}');
  expect((await first).status).toBe(200);
  link.onCall = (next) => next.answer('{}');
  expect((await postChat(url)).status).toBe(200);
});

test('closed and lost sessions are refused in the dialect without a shard and without reading the body', async () => {
  const { link, url } = await frontUnderTest();
  link.closed.set('s1', { code: 'session_closed', message: 'finished' }).set('s2', { code: 'session_lost', message: 'crashed' });
  const chat = await postChat(url);
  expect(chat.status).toBe(403);
  expect(chat.headers.get('x-should-retry')).toBe('false');
  expect(await chat.json()).toMatchObject({ error: { type: 'invalid_request_error', code: 'session_closed', message: 'finished' } });
  const messages = await fetch(`${url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': 's2' }, body: '{}' });
  expect(messages.status).toBe(403);
  expect(await messages.json()).toMatchObject({
    type: 'error',
    error: { type: 'permission_error', details: { error_code: 'session_lost' } },
    request_id: messages.headers.get('request-id'),
  });
  const client = new RawClient(url);
  client.send(chatHead('content-length: 100\r\n'));
  await client.until((text) => text.includes('session_closed'));
  client.socket.destroy();
  expect(link.calls).toHaveLength(0);
});

test('a link that cannot open the call is a refusal with its hint to wait', async () => {
  const { link, url } = await frontUnderTest();
  link.refusal = { code: 'overloaded', message: 'full', retryAfterMs: 1500 };
  const response = await postChat(url);
  expect(response.status).toBe(503);
  expect([response.headers.get('retry-after-ms'), response.headers.get('retry-after')]).toEqual(['1500', '2']);
  const messages = await fetch(`${url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': 'k' }, body: '{}' });
  expect(messages.status).toBe(529);
});
