import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { resolveSettings } from '../../src/config-load.js';
import { startFront } from '../../src/front/server.js';
import { createLog } from '../../src/telemetry/log.js';
import { createMetrics } from '../../src/telemetry/metrics.js';
import { frontUnderTest, postChat, RawClient, refusal } from './running-front.js';
import { ScriptedLink } from './scripted-link.js';

const telemetry = () => ({ log: createLog('silent', 'front'), metrics: createMetrics('front') });
const start = (some: Parameters<typeof resolveSettings>[0], adminToken: string | null = null) =>
  startFront(resolveSettings(some), { adminToken, engineKey: null }, new ScriptedLink(), telemetry());

describe('probes', () => {
  test('/healthz is 200 and /readyz says why it is not', async () => {
    const { link, url } = await frontUnderTest();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ ready: true, problem: null });
    link.ready = false;
    link.problem = 'no engine answers';
    const response = await fetch(`${url}/readyz`);
    expect([response.status, await response.json()]).toEqual([503, { ready: false, problem: 'no engine answers' }]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test('/metrics counts requests by route and status', async () => {
    const { url, metric } = await frontUnderTest();
    await postChat(url);
    await fetch(`${url}/nowhere`);
    expect(await metric('rollout_gateway_requests_total{route="chat_completions",status="200"}')).toBe('1');
    expect(await metric('rollout_gateway_requests_total{route="none",status="404"}')).toBe('1');
  });
});

describe('models', () => {
  test('are listed and found in both shapes with the context length', async () => {
    const { url } = await frontUnderTest();
    expect(await (await fetch(`${url}/v1/models`)).json()).toMatchObject({
      object: 'list',
      data: [{ id: 'tiny', object: 'model', max_model_len: 4096 }],
    });
    const headers = { 'anthropic-version': '2023-06-01' };
    expect(await (await fetch(`${url}/v1/models`, { headers })).json()).toMatchObject({
      data: [{ type: 'model', id: 'tiny' }],
      has_more: false,
      first_id: 'tiny',
    });
    expect(await (await fetch(`${url}/v1/models/tiny`, { headers })).json()).toMatchObject({
      type: 'model',
      id: 'tiny',
      max_input_tokens: 4096,
    });
    expect(await refusal(await fetch(`${url}/v1/models/other`))).toEqual([404, 'model_not_found']);
  });

  test('are not ready before a shard has loaded one', async () => {
    const { link, url } = await frontUnderTest();
    link.model = null;
    expect(await refusal(await fetch(`${url}/v1/models`))).toEqual([503, 'not_ready']);
  });
});

describe('the admin token', () => {
  test('opens the trainer’s routes, and nothing else does', async () => {
    const { url } = await frontUnderTest({}, 'top secret');
    for (const authorization of ['', 'Bearer', 'Bearer top', 'Bearer top secret2', 'Basic top secret', 'top secret']) {
      const response = await fetch(`${url}/sessions/a`, { headers: { authorization } });
      expect(await refusal(response), authorization).toEqual([401, 'admin_token_required']);
    }
    expect((await fetch(`${url}/sessions/a`, { headers: { authorization: 'bearer top secret' } })).status).toBe(200);
    for (const path of ['/healthz', '/readyz', '/metrics', '/v1/models']) expect((await fetch(url + path)).status, path).toBe(200);
  });

  test('is required for a port that others can reach, and then also for /metrics', async () => {
    await expect(start({ host: '0.0.0.0', port: 0 })).rejects.toMatchObject({
      code: 'setting_invalid',
      message: expect.stringContaining('no admin token'),
    });
    const { url } = await frontUnderTest({ host: '0.0.0.0' }, 't');
    expect(await refusal(await fetch(`${url}/metrics`))).toEqual([401, 'admin_token_required']);
    expect((await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer t' } })).status).toBe(200);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe('starting and stopping', () => {
  test('a taken port is refused, taken by another program or by us', async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) =>
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
    );
    await expect(start({ port })).rejects.toMatchObject({ code: 'port_taken', message: expect.stringContaining(`127.0.0.1:${port}`) });
    await new Promise((resolve) => other.close(resolve));
    const { front } = await frontUnderTest();
    await expect(start({ port: front.port })).rejects.toMatchObject({ code: 'port_taken' });
  });

  test('close drains: an open call is answered, new calls are refused, then nothing listens', async () => {
    const { link, url, front } = await frontUnderTest();
    link.onCall = () => undefined;
    const open = postChat(url);
    const call = await link.call(1);
    let drained = (): void => undefined;
    link.drain = () =>
      new Promise((resolve) => {
        drained = resolve;
      });
    const closing = front.close();
    call.answer('{"late":true}');
    expect(await (await open).json()).toEqual({ late: true });
    drained();
    await closing;
    await expect(postChat(url)).rejects.toThrow();
  });

  test('calls on kept connections are refused while stopping', async () => {
    const { link, url, front } = await frontUnderTest();
    const turn = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-api-key: s1\r\ncontent-length: 2\r\n\r\n{}';
    const client = new RawClient(url);
    client.send(turn);
    await client.until((text) => text.includes('{"ok":true}'));
    let drained = (): void => undefined;
    link.drain = () =>
      new Promise((resolve) => {
        drained = resolve;
      });
    const closing = front.close();
    client.send(turn);
    expect(await client.until((_text, isClosed) => isClosed)).toMatch(/503 Service Unavailable[\s\S]*shutting_down/);
    drained();
    await closing;
    expect(link.calls).toHaveLength(1);
  });

  test('calls that outlive the drain are refused in the dialect, begun answers are cut', async () => {
    const { link, url, front } = await frontUnderTest();
    link.onCall = (call) => {
      if (call.sent.protocol === 'openai-chat') call.head('data: 1\n\n');
    };
    const streamed = await postChat(url);
    const waiting = fetch(`${url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': 's2' }, body: '{}' });
    const calls = await Promise.all([link.call(1), link.call(2)]);
    await Promise.all([front.close(), expect(streamed.text()).rejects.toThrow()]);
    const refused = await waiting;
    expect([refused.status, await refused.json()]).toMatchObject([
      529,
      { error: { type: 'overloaded_error', details: { error_code: 'shutting_down' } } },
    ]);
    expect(await Promise.all(calls.map((call) => call.settled()))).toEqual(['gone', 'gone']);
    expect(link.isDrained).toBe(true);
  });
});
