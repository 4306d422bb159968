import { describe, expect, test } from 'vitest';
import { matchRoute, ROUTES } from '../../src/front/routes.js';
import { frontUnderTest, RawClient, refusal } from './running-front.js';

describe('matchRoute', () => {
  test('finds every route of the table', () => {
    for (const route of ROUTES) {
      const id = route.path.includes('{') ? 'a' : '';
      expect(matchRoute(route.method, route.path.replace(/\{id(\.\.\.)?\}/, 'a'))).toEqual({ kind: 'route', route, id });
    }
  });

  test.each([
    ['/sessions/a%2Fb', 'a/b'],
    ['/sessions/..%2f..%2fetc', '../../etc'],
    ['/sessions/%E6%97%A5', '日'],
    ['/sessions/tree', 'tree'],
    ['/sessions/a%00', 'a\0'],
  ])('reads the id of %s', (path, id) => {
    expect(matchRoute('GET', path)).toMatchObject({ kind: 'route', route: { name: 'get_session' }, id });
  });

  test('a model name may hold slashes, a session id in a path may not', () => {
    expect(matchRoute('GET', '/v1/models/Qwen/Qwen3-8B')).toMatchObject({ route: { name: 'model' }, id: 'Qwen/Qwen3-8B' });
    expect(matchRoute('GET', '/sessions/a/b')).toEqual({ kind: 'not_found' });
    expect(matchRoute('GET', '/sessions/..')).toMatchObject({ id: '..' });
  });

  test('tells a wrong method from an unknown path and a broken id', () => {
    expect(matchRoute('PATCH', '/sessions/a')).toMatchObject({ kind: 'wrong_method', allow: 'GET, HEAD, DELETE' });
    expect(matchRoute('GET', '/v1/messages')).toMatchObject({ kind: 'wrong_method', allow: 'POST' });
    expect(matchRoute('GET', '/sessions/%ff')).toEqual({ kind: 'bad_id' });
    expect(matchRoute('GET', '/__proto__')).toEqual({ kind: 'not_found' });
    expect(matchRoute('GET', '/v1/models/')).toEqual({ kind: 'not_found' });
  });
});

describe('refusals by path and method', () => {
  test('an unknown path is 404 in the caller’s dialect', async () => {
    const { url } = await frontUnderTest();
    const response = await fetch(`${url}/v1/completions`, { method: 'POST', body: '{}' });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await refusal(response)).toEqual([404, 'not_found']);
    const anthropic = await fetch(`${url}/v1/files`, { headers: { 'anthropic-version': '2023-06-01' } });
    expect(await anthropic.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
  });

  test('a wrong method is 405 with Allow', async () => {
    const { url } = await frontUnderTest();
    const response = await fetch(`${url}/v1/chat/completions`);
    expect(response.headers.get('allow')).toBe('POST');
    expect(await refusal(response)).toEqual([405, 'method_not_allowed']);
    const sessions = await fetch(`${url}/sessions`, { method: 'OPTIONS' });
    expect(sessions.headers.get('allow')).toBe('POST, GET, HEAD');
    expect(sessions.headers.get('access-control-allow-origin')).toBeNull();
    expect(await sessions.json()).toEqual({
      error: { code: 'method_not_allowed', message: 'cannot OPTIONS /sessions: this path takes POST, GET, HEAD' },
    });
  });

  test('an id that is not UTF-8 is 400', async () => {
    const { url } = await frontUnderTest();
    expect(await refusal(await fetch(`${url}/sessions/%ff`))).toEqual([400, 'invalid_session_id']);
  });

  test('HEAD and GET of the root and HEAD of a probe are 200 without a body', async () => {
    const { url } = await frontUnderTest();
    for (const method of ['HEAD', 'GET']) expect((await fetch(url, { method })).status).toBe(200);
    const client = new RawClient(url);
    client.send('HEAD /healthz HTTP/1.1\r\nhost: x\r\n\r\nGET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    const text = await client.until((received) => received.includes('{"status":"ok"}'));
    expect(text.match(/200 OK/g)).toHaveLength(2);
    client.socket.destroy();
  });

  test('a fault of the gateway is 500 with the request id in answer and log, and nothing of the fault on the wire', async () => {
    const { link, url, logged } = await frontUnderTest();
    link.onTrainer = () => Promise.reject(new Error('secret detail'));
    const response = await fetch(`${url}/sessions/a`);
    const text = await response.text();
    expect([response.status, JSON.parse(text)]).toMatchObject([500, { error: { code: 'internal_error' } }]);
    expect(text).not.toContain('secret detail');
    const line = logged.find((candidate) => candidate.includes('secret detail'));
    expect(JSON.parse(line!)).toMatchObject({ requestId: response.headers.get('x-request-id') });
  });
});
