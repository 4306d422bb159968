import { expect, test } from 'vitest';
import { frontUnderTest, postChat, RawClient } from './running-front.js';

/** A small generator, so that a failing run can be repeated by its seed. */
const numbers = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

const SEEDS = [
  'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer s1\r\ncontent-type: application/json\r\ncontent-length: 14\r\n\r\n{"messages":1}',
  'POST /v1/messages?beta=true HTTP/1.1\r\nhost: x\r\nx-api-key: s1\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  'POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: s1\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\nabcde',
  'GET /sessions/%E6%97%A5/tree?format=text HTTP/1.1\r\nhost: x\r\naccept: text/plain\r\n\r\n',
  'GET /traces?wait_ms=1&max=2 HTTP/1.1\r\nhost: x\r\n\r\n',
  'DELETE /sessions/a HTTP/1.1\r\nhost: x\r\n\r\n',
];
const PIECES = [
  '\0',
  '\r',
  '\n',
  '\r\n\r\n',
  ' ',
  ':',
  '%',
  '%ff',
  '/',
  '//',
  '..',
  '\u00ff',
  '{',
  '99999999999999999999',
  '-1',
  'HTTP/9.9',
  'chunked',
  'content-length: 3\r\n',
  '\t',
];

const mutated = (random: (below: number) => number): string => {
  let text = SEEDS[random(SEEDS.length)]!;
  for (let changes = 1 + random(4); changes > 0; changes--) {
    const at = random(text.length + 1);
    const kind = random(3);
    const piece = PIECES[random(PIECES.length)]!;
    if (kind === 0) text = text.slice(0, at) + piece + text.slice(at);
    else if (kind === 1) text = text.slice(0, at) + piece + text.slice(at + piece.length);
    else text = text.slice(0, at) + text.slice(at + 1 + random(8));
  }
  return text;
};

test('a thousand mutated requests give no 500, open nothing that stays open, and disturb no other client', {
  timeout: 60_000,
}, async () => {
  const { link, url, metric, logged } = await frontUnderTest();
  link.onTrainer = (_shard, call) =>
    call.kind === 'lease' ? { kind: 'traces', status: 200, sessions: [] } : { kind: 'text', status: 200, text: '{}' };
  const random = numbers(20_261_201);
  const statuses = new Map<string, number>();
  for (let round = 0; round < 50; round++) {
    const clients = Array.from({ length: 20 }, () => {
      const client = new RawClient(url);
      client.send(mutated(random));
      return client;
    });
    expect((await postChat(url)).status).toBe(200);
    // Closing the sending side ends what is still open; what was answered at once has come.
    for (const client of clients) client.socket.end();
    await Promise.all(clients.map((client) => client.until((_text, isClosed) => isClosed)));
    for (const client of clients) {
      const status = /^HTTP\/1\.1 (\d{3})/.exec(client.text)?.[1] ?? 'none';
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  }
  expect([...statuses.keys()].filter((status) => status.startsWith('5') && status !== '505')).toEqual([]);
  expect(logged.filter((line) => line.includes('a request failed'))).toEqual([]);
  await expect.poll(() => metric('rollout_gateway_open_calls')).toBe('0');
  await expect.poll(() => metric('rollout_gateway_bodies_in_flight_bytes')).toBe('0');
});

test('two lengths of one body end the connection and the rest of it never acts as another request', async () => {
  const { link, url } = await frontUnderTest();
  const inner = 'POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: victim\r\ncontent-length: 2\r\n\r\n{}';
  const client = new RawClient(url);
  client.send(
    `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: s1\r\ncontent-length: 2\r\ncontent-length: ${2 + inner.length}\r\n\r\n{}${inner}`,
  );
  await client.until((_text, isClosed) => isClosed);
  expect((await postChat(url)).status).toBe(200);
  expect(link.calls.map(({ sent }) => sent.sessionKey)).toEqual(['s1']);
});

const TURN = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-api-key: s1\r\ncontent-length: 2\r\n\r\n{}';
const HEALTH = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';
const UNNAMED = TURN.replace('x-api-key: s1\r\n', '');

test('requests pipelined behind ones that are answered at once are answered in their order', async () => {
  const { url } = await frontUnderTest();
  const client = new RawClient(url);
  client.send(UNNAMED + HEALTH + UNNAMED + TURN);
  await client.until((text) => text.includes('{"ok":true}'));
  expect([...client.text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status)).toEqual(['401', '200', '401', '200']);
  // The connection serves on.
  client.send(HEALTH);
  await client.until((text) => text.split('{"status":"ok"}').length === 3);
  client.socket.destroy();
});

test.each([
  ['another turn', TURN],
  ['a call that could be answered at once', HEALTH],
])('%s pipelined behind a turn ends the connection at once: neither is answered, the turn is given up', async (_name, behind) => {
  for (const inOnePacket of [true, false]) {
    const { link, url, metric } = await frontUnderTest();
    link.onCall = () => undefined;
    const client = new RawClient(url);
    client.send(inOnePacket ? TURN + behind : TURN);
    const call = await link.call(1);
    if (!inOnePacket) client.send(behind);
    expect(await call.settled()).toBe('gone');
    await client.until((_text, isClosed) => isClosed);
    call.answer('late');
    expect([client.text, link.calls.length]).toEqual(['', 1]);
    expect(await metric('rollout_gateway_open_calls')).toBe('0');
    expect(await metric('rollout_gateway_client_gone_total{stage="waiting"}')).toBe('1');
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  }
});

test('a request pipelined into a stream ends the connection in mid stream', async () => {
  const { link, url } = await frontUnderTest();
  link.onCall = (call) => call.head('data: 1\n\n');
  const client = new RawClient(url);
  client.send(TURN);
  await client.until((text) => text.includes('data: 1'));
  client.send(TURN);
  await client.until((_text, isClosed) => isClosed);
  expect(await link.calls[0]!.settled()).toBe('gone');
  // No last chunk: nobody can take what came for a whole reply.
  expect([client.text.endsWith('0\r\n\r\n'), link.calls.length]).toEqual([false, 1]);
});

test('a key that came twice with different values is refused, with the same value it is taken', async () => {
  const { link, url } = await frontUnderTest();
  const head = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n';
  const client = new RawClient(url);
  client.send(`${head}x-api-key: a\r\nx-api-key: b\r\n\r\n{}`);
  expect(await client.until((text) => text.includes('conflicting_api_keys'))).toMatch(/^HTTP\/1\.1 401 /);
  client.socket.destroy();
  const same = new RawClient(url);
  same.send(`${head}x-api-key: a\r\nx-api-key: a\r\n\r\n{}`);
  await same.until((text) => text.includes('{"ok":true}'));
  same.socket.destroy();
  expect(link.calls).toHaveLength(1);
});

test('an IPv6 loopback is served like the other', async () => {
  const { front } = await frontUnderTest({ host: '::1' });
  expect((await fetch(`http://[::1]:${front.port}/healthz`)).status).toBe(200);
});
