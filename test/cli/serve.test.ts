import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type SimEngine, startSimEngine } from '../../src/sim/engine-server.js';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';

const running: ChildProcess[] = [];
const engines: SimEngine[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) if (child.exitCode === null) child.kill('SIGKILL');
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

class Served {
  stdout = '';
  stderr = '';
  readonly exit: Promise<number | null>;
  constructor(readonly child: ChildProcess) {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.exit = once(child, 'exit').then(([code]) => code as number | null);
  }

  async url(): Promise<string> {
    await expect.poll(() => this.stdout, { timeout: 20_000 }).toMatch(/\n/);
    return /^listening on (http:\/\/\S+)\n/.exec(this.stdout)![1]!;
  }
}

const serve = (engineUrl: string, ...options: string[]): Served => {
  const argv = ['dist/main.js', 'serve', '--engine-url', engineUrl, '--model', SIM_MODEL_DIR, '--port', '0', '--shards', '1', ...options];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  return new Served(child);
};

const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
};

const turn = (url: string, key: string): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'any', max_tokens: 8, messages: [{ role: 'user', content: 'hello' }] }),
  });

describe('serve', () => {
  test('says where it listens, waits for an engine that is down, serves when it comes up, and ends with 0', async () => {
    const port = await freePort();
    const served = serve(`http://127.0.0.1:${port}`, '--backend-probe-down-ms', '100');
    const url = await served.url();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const waiting = await fetch(`${url}/readyz`);
    expect(waiting.status).toBe(503);
    expect(await waiting.json()).toMatchObject({ ready: false, problem: expect.stringContaining(`127.0.0.1:${port}`) });
    await expect.poll(() => served.stderr).toMatch(/"msg":"not ready, waiting"/);
    engines.push(await startSimEngine({ port }));
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 20_000 }).toBe(200);
    const response = await turn(url, 'a secret session key');
    expect(response.status).toBe(200);
    served.child.kill('SIGTERM');
    expect(await served.exit).toBe(0);
    expect(served.stdout).toBe(`listening on ${url}\n`);
    for (const line of served.stderr.trim().split('\n')) expect(() => JSON.parse(line), line).not.toThrow();
    expect(served.stderr).not.toContain('secret session key');
    expect(served.stderr).not.toContain('hello');
  });

  test('lets an open call finish when it is asked to stop, and refuses what comes later', async () => {
    const engine = await startSimEngine({
      latency: { prefillTokensPerS: 1e6, decodeStepMs: 40, decodeStepPerSequenceMs: 0, prefillChunkTokens: 4096 },
    });
    engines.push(engine);
    const served = serve(engine.url);
    const url = await served.url();
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 20_000 }).toBe(200);
    const open = turn(url, 's1');
    await expect.poll(async () => (await (await fetch(`${url}/metrics`)).text()).includes('rollout_gateway_open_calls 1')).toBe(true);
    served.child.kill('SIGINT');
    const response = await open;
    expect([response.status, await response.json()]).toMatchObject([200, { object: 'chat.completion' }]);
    expect(await served.exit).toBe(0);
    await expect(turn(url, 's2')).rejects.toThrow();
  });

  test('ends calls that outlive the drain with the dialect’s refusal', async () => {
    const engine = await startSimEngine({
      latency: { prefillTokensPerS: 1e6, decodeStepMs: 60_000, decodeStepPerSequenceMs: 0, prefillChunkTokens: 4096 },
    });
    engines.push(engine);
    const served = serve(engine.url, '--shutdown-drain-ms', '200');
    const url = await served.url();
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 20_000 }).toBe(200);
    const open = turn(url, 's1');
    await expect.poll(async () => (await (await fetch(`${url}/metrics`)).text()).includes('rollout_gateway_open_calls 1')).toBe(true);
    served.child.kill('SIGTERM');
    const response = await open;
    expect([response.status, await response.json()]).toMatchObject([503, { error: { code: 'shutting_down' } }]);
    expect(await served.exit).toBe(0);
  });

  test('says at its end which rows nobody has acknowledged, without their keys', async () => {
    const engine = await startSimEngine();
    engines.push(engine);
    const served = serve(engine.url);
    const url = await served.url();
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 20_000 }).toBe(200);
    for (const key of ['secret-open', 'secret-finished', 'secret-fetched']) expect((await turn(url, key)).status).toBe(200);
    await fetch(`${url}/sessions/secret-finished/finish`, { method: 'POST', body: '{}' });
    await (await fetch(`${url}/sessions/secret-fetched/finish`, { method: 'POST', body: '{"ack":true}' })).text();
    await expect.poll(async () => (await fetch(`${url}/sessions/secret-fetched`)).status).toBe(404);
    served.child.kill('SIGTERM');
    expect(await served.exit).toBe(0);
    const line = served.stderr.split('\n').find((text) => text.includes('no trainer acknowledged'));
    expect(JSON.parse(line!)).toMatchObject({
      level: 'warn',
      finished: 1,
      open: 1,
      turns: 2,
      tokens: 16,
      sessions: [
        { state: 'open', turns: 1, tokens: 8 },
        { state: 'finished', turns: 1, tokens: 8 },
      ],
    });
    expect(served.stderr).not.toContain('secret-');
  });

  test('a shard that dies while it loads ends it with one line and exit code 1', async () => {
    const served = serve('http://127.0.0.1:1', '--shard-heap-mb', '8', '--log-level', 'silent');
    expect(await served.exit).toBe(1);
    expect(served.stdout).toBe('');
    expect(served.stderr).toMatch(/rollout-gateway: Cannot start shard 0: its thread ended 3 times .*shard\.heapMb is 8, .*\n$/);
  });

  test('a family that is not known ends it with all names and exit code 2', async () => {
    const served = serve('http://127.0.0.1:1', '--family', 'foo', '--log-level', 'silent');
    expect(await served.exit).toBe(2);
    expect(served.stderr).toMatch(/^rollout-gateway: Cannot use family "foo": it must be one of .*hermes.*\n$/);
  });

  test('a model directory that is not there ends it with one line and exit code 1', async () => {
    const served = serve('http://127.0.0.1:1', '--model', 'no/such/model', '--log-level', 'silent');
    expect(await served.exit).toBe(1);
    expect(served.stdout).toBe('');
    expect(served.stderr).toMatch(/^rollout-gateway: .*no\/such\/model.*\n$/);
  });
});
