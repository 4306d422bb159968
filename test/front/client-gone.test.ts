import { expect, test } from 'vitest';
import { frontUnderTest, postChat, RawClient, refusal } from './running-front.js';

const turn = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-api-key: s1\r\ncontent-length: 2\r\n\r\n{}';

test('a client that leaves while it sends opens no call and frees its memory', async () => {
  const { link, url, metric } = await frontUnderTest();
  const client = new RawClient(url);
  client.send('POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: s1\r\ncontent-length: 5000\r\n\r\n{"a":');
  await expect.poll(() => metric('rollout_gateway_bodies_in_flight_bytes')).toBe('5000');
  client.socket.destroy();
  await expect.poll(() => metric('rollout_gateway_client_gone_total{stage="reading"}')).toBe('1');
  expect(await metric('rollout_gateway_bodies_in_flight_bytes')).toBe('0');
  expect(await metric('rollout_gateway_open_calls')).toBe('0');
  expect(link.calls).toHaveLength(0);
});

test('a client that leaves while it waits is told to the shard and late answers touch nothing', async () => {
  const { link, url, metric } = await frontUnderTest();
  link.onCall = () => undefined;
  const abort = new AbortController();
  const response = fetch(`${url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': 's1' }, body: '{}', signal: abort.signal });
  const call = await link.call(1);
  abort.abort();
  await expect(response).rejects.toThrow(/abort/);
  expect(await call.settled()).toBe('gone');
  call.answer('{}');
  call.end('late');
  call.cut();
  expect(await metric('rollout_gateway_client_gone_total{stage="waiting"}')).toBe('1');
  expect(await metric('rollout_gateway_open_calls')).toBe('0');
});

test('a client that leaves a stream is told to the shard', async () => {
  const { link, url, metric } = await frontUnderTest();
  link.onCall = (call) => call.head('data: 1\n\n');
  const client = new RawClient(url);
  client.send(turn);
  await client.until((text) => text.includes('data: 1'));
  client.socket.destroy();
  const call = await link.call(1);
  expect(await call.settled()).toBe('gone');
  call.chunk('data: 2\n\n');
  call.end('data: 3\n\n');
  expect(await metric('rollout_gateway_client_gone_total{stage="answering"}')).toBe('1');
});

test('a client that closes its sending side has left', async () => {
  const { link, url } = await frontUnderTest();
  link.onCall = () => undefined;
  const client = new RawClient(url);
  client.send(turn);
  const call = await link.call(1);
  client.socket.end();
  expect(await call.settled()).toBe('gone');
});

test('a large answer is written only when its last byte is taken', async () => {
  const { link, url } = await frontUnderTest();
  const large = new Uint8Array(20_000_000).fill(97);
  link.onCall = (call) => call.answer(large);
  const client = new RawClient(url);
  client.socket.pause();
  client.send(turn);
  const call = await link.call(1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(call.outcome).toBe('open');
  client.socket.resume();
  expect(await call.settled()).toBe('written');
  await client.until(() => client.length > large.length);
  client.socket.destroy();
});

test('a client that leaves in a large answer is gone, not served', async () => {
  const { link, url } = await frontUnderTest();
  link.onCall = (call) => call.answer(new Uint8Array(20_000_000));
  const client = new RawClient(url);
  client.socket.pause();
  client.send(turn);
  const call = await link.call(1);
  client.socket.destroy();
  expect(await call.settled()).toBe('gone');
});

test('the end of a stream to a slow reader is written only when all is taken', async () => {
  const { link, url } = await frontUnderTest();
  link.onCall = (call) => {
    call.head('data: first\n\n');
    call.end(new Uint8Array(20_000_000).fill(98));
  };
  const client = new RawClient(url);
  client.socket.pause();
  client.send(turn);
  const call = await link.call(1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(call.outcome).toBe('open');
  client.socket.resume();
  expect(await call.settled()).toBe('written');
  expect(await client.until((text) => text.endsWith('0\r\n\r\n'))).toMatch(/^HTTP\/1\.1 200 OK\r\ncontent-type: text\/event-stream/);
  client.socket.destroy();
});

test('a cut closes the socket without an end, before and after a head', async () => {
  const { link, url } = await frontUnderTest();
  link.onCall = (call) => {
    call.head(' ');
    setImmediate(() => call.cut());
  };
  const client = new RawClient(url);
  client.send(turn);
  const text = await client.until((_text, isClosed) => isClosed);
  expect(text).toContain('200 OK');
  expect(text).not.toContain('0\r\n\r\n');
  expect((await link.call(1)).outcome).toBe('open');
  link.onCall = (call) => call.cut();
  await expect(postChat(url)).rejects.toThrow();
});

test('a lost shard is an error in the dialect before a head and a closed socket after one', async () => {
  const { link, url } = await frontUnderTest();
  link.onCall = (call) => call.lost({ code: 'session_lost', message: 'crashed' });
  const response = await postChat(url);
  expect(await refusal(response)).toEqual([403, 'session_lost']);
  link.onCall = (call) => {
    call.head('data: 1\n\n');
    setImmediate(() => call.lost({ code: 'session_lost', message: 'crashed' }));
  };
  const streamed = await postChat(url);
  await expect(streamed.text()).rejects.toThrow();
});

test('an idle and a dripping connection are closed and hold nothing', { timeout: 60_000 }, async () => {
  const { link, url, metric } = await frontUnderTest();
  const idle = new RawClient(url);
  const head = new RawClient(url);
  const body = new RawClient(url);
  head.send('POST /v1/messages HTTP/1.1\r\n');
  body.send('POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: s1\r\ncontent-length: 5000\r\n\r\n{');
  const drip = setInterval(() => {
    head.send('a: b\r\n');
    body.send('x');
  }, 1000);
  await Promise.all([idle, head, body].map((client) => client.until((_text, isClosed) => isClosed)));
  clearInterval(drip);
  expect(link.calls).toHaveLength(0);
  expect(await metric('rollout_gateway_bodies_in_flight_bytes')).toBe('0');
});
