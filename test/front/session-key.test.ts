import { describe, expect, test } from 'vitest';
import { headerForm, plainKeys, secretKeys } from '../../src/front/session-key.js';
import { checkSessionId } from '../../src/trainer/session-id.js';
import { frontUnderTest, postChat, RawClient, refusal } from './running-front.js';

describe('plainKeys', () => {
  test('takes x-api-key, else the Bearer token with any spelling of the scheme', () => {
    expect(plainKeys.sessionOf('a', '')).toEqual({ sessionId: 'a' });
    expect(plainKeys.sessionOf('', 'bearer   a b')).toEqual({ sessionId: 'a b' });
    expect(plainKeys.sessionOf('a', 'BEARER a')).toEqual({ sessionId: 'a' });
    expect(plainKeys.sessionOf('a', 'Basic x')).toEqual({ sessionId: 'a' });
  });

  test('refuses no key, two keys, and ids out of bounds', () => {
    expect(plainKeys.sessionOf('', '')).toMatchObject({ code: 'missing_api_key' });
    expect(plainKeys.sessionOf('', 'Basic x')).toMatchObject({ code: 'missing_api_key' });
    expect(plainKeys.sessionOf('', 'Bearer ')).toMatchObject({ code: 'missing_api_key' });
    expect(plainKeys.sessionOf('a', 'Bearer b')).toMatchObject({ code: 'conflicting_api_keys' });
    expect(plainKeys.sessionOf('k'.repeat(4097), '')).toMatchObject({ code: 'invalid_session_id' });
    expect(plainKeys.sessionOf("UTF-8''%ff", '')).toMatchObject({ code: 'invalid_session_id' });
    expect(plainKeys.sessionOf("UTF-8''a%0ab", '')).toMatchObject({ code: 'invalid_session_id' });
  });

  test.each(['plain', 'with space inside', 'é', '日本', 'a%41', "UTF-8''a", ' edge ', 'Ⅷ', 'VIII', '../../etc', 'a/b?c#d'])(
    'the key of %j names the session again',
    (id) => {
      const key = plainKeys.keyOf(id);
      expect(key).toMatch(/^[\x20-\x7e]+$/);
      expect(plainKeys.sessionOf(key.trim(), '')).toEqual({ sessionId: id });
    },
  );

  test('the key of a printable ASCII id is the id', () => {
    expect(headerForm('task-1/attempt 2')).toBe('task-1/attempt 2');
  });
});

test('checkSessionId allows 1 to 4096 bytes without control characters', () => {
  expect(checkSessionId('é'.repeat(2048))).toBeNull();
  for (const id of ['', 'é'.repeat(2049), 'a\0', 'a\r\nb', 'a\u007f', 'a\u0085', '\ud800'])
    expect(checkSessionId(id), JSON.stringify(id)).toMatchObject({ code: 'invalid_session_id' });
});

test('secretKeys opens what it issued and nothing else', () => {
  const keys = secretKeys(new Uint8Array(32).fill(1));
  const key = keys.keyOf('日本 1');
  expect(keys.sessionOf(key, '')).toEqual({ sessionId: '日本 1' });
  const forged = key.replace('rg-', 'rg-A');
  for (const wrong of ['日本 1', 'rg-', forged, secretKeys(new Uint8Array(32).fill(2)).keyOf('日本 1'), `${key}x`]) {
    expect(keys.sessionOf(wrong, ''), wrong).toMatchObject({ code: 'invalid_api_key' });
  }
});

describe('keys on the wire', () => {
  test('Latin-1 and UTF-8 bytes inside a key are read as what they are', async () => {
    const { link, url } = await frontUnderTest();
    await postChat(url, '{}', { authorization: 'Bearer aéb' });
    const client = new RawClient(url);
    client.send(
      `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${Buffer.from('a日b').toString('latin1')}\r\ncontent-length: 2\r\n\r\n{}`,
    );
    await client.until((text) => text.includes('ok'));
    client.socket.destroy();
    expect(link.calls.map(({ sent }) => sent.sessionKey)).toEqual(['aéb', 'a日b']);
  });

  test('missing, conflicting and overlong keys are 401 and 400 in the dialect', async () => {
    const { link, url } = await frontUnderTest();
    expect(await refusal(await postChat(url, '{}', { authorization: '' }))).toEqual([401, 'missing_api_key']);
    expect(await refusal(await postChat(url, '{}', { 'x-api-key': 'other' }))).toEqual([401, 'conflicting_api_keys']);
    expect(await refusal(await postChat(url, '{}', { authorization: `Bearer ${'k'.repeat(5000)}` }))).toEqual([400, 'invalid_session_id']);
    const messages = await fetch(`${url}/v1/messages`, { method: 'POST', body: '{}' });
    expect([messages.status, await messages.json()]).toMatchObject([401, { type: 'error', error: { type: 'authentication_error' } }]);
    expect(link.calls).toHaveLength(0);
  });

  test('a long key arrives whole', async () => {
    const { link, url } = await frontUnderTest();
    await postChat(url, '{}', { authorization: `Bearer ${'k'.repeat(4096)}` });
    expect(link.calls[0]!.sent.sessionKey).toHaveLength(4096);
  });

  test.each(['\0', '\r', '\u0001'])('a key with the control character %j never reaches a shard', async (character) => {
    const { link, url } = await frontUnderTest();
    const client = new RawClient(url);
    client.send(`POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: a${character}b\r\ncontent-length: 2\r\n\r\n{}`);
    const other = await postChat(url);
    expect(other.status).toBe(200);
    expect(link.calls.map(({ sent }) => sent.sessionKey)).toEqual(['s1']);
    client.socket.destroy();
  });

  test('heads beyond 32 KB and more headers than the library takes are refused', async () => {
    const { link, url } = await frontUnderTest();
    for (const headers of [`x-large: ${'x'.repeat(40_000)}\r\n`, Array.from({ length: 1000 }, (_, index) => `h${index}: v\r\n`).join('')]) {
      const client = new RawClient(url);
      client.send(`POST /v1/messages HTTP/1.1\r\nhost: x\r\n${headers}\r\n`);
      expect(await client.until((_text, isClosed) => isClosed)).toMatch(/^HTTP\/1\.1 431 /);
    }
    expect(link.calls).toHaveLength(0);
  });

  test('with secret keys the id alone opens nothing and the issued key opens its session', async () => {
    const { link, url } = await frontUnderTest({ sessions: { secretKeys: true } });
    link.onTrainer = () => ({ kind: 'text', status: 201, text: '{"session_id":"s1"}' });
    expect(await refusal(await postChat(url))).toEqual([401, 'invalid_api_key']);
    const created = (await (await fetch(`${url}/sessions`, { method: 'POST', body: '{"session_id":"s1"}' })).json()) as { api_key: string };
    expect((await postChat(url, '{}', { authorization: `Bearer ${created.api_key}` })).status).toBe(200);
    expect(link.calls.map(({ sent }) => sent.sessionKey)).toEqual(['s1']);
  });
});
