import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { GatewayError } from '../../src/errors.js';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';
import type { FinishedSession } from '../../src/trainer/trace-encoding.js';
import { until } from '../support/flow.js';
import type { FleetFlow } from './fleet.js';

/** A gateway in a process of its own, with the trainer's calls over HTTP. */
export interface Served extends FleetFlow {
  /** Latencies of `/healthz` since the last call, in milliseconds, measured by a third process. */
  health(): Promise<readonly number[]>;
  residentMb(): Promise<number>;
  close(): Promise<void>;
}

const PROBER = `
  let waited = [];
  process.stdin.on('data', () => { process.stdout.write(JSON.stringify(waited) + '\\n'); waited = []; });
  const look = async () => {
    const startedMs = performance.now();
    await (await fetch(process.argv[1] + '/healthz')).text();
    waited.push(performance.now() - startedMs);
    setTimeout(look, 20);
  };
  look();
`;

export async function serve(engineUrl: string, options: readonly string[]): Promise<Served> {
  const argv = [
    'dist/main.js',
    'serve',
    '--engine-url',
    engineUrl,
    '--model',
    SIM_MODEL_DIR,
    '--port',
    '0',
    '--log-level',
    'error',
    ...options,
  ];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  await until(() => out.includes('\n'), 'the gateway listens', 30_000);
  const url = /http:\/\/\S+/.exec(out)![0];
  await until(async () => (await fetch(`${url}/readyz`)).status === 200, 'the gateway is ready', 30_000);
  const prober = spawn(process.execPath, ['-e', PROBER, url], { stdio: ['pipe', 'pipe', 'inherit'] });
  const metric = async (name: string): Promise<number> =>
    Number(new RegExp(`^rollout_gateway_${name} (\\S+)$`, 'm').exec(await (await fetch(`${url}/metrics`)).text())?.[1]);
  return {
    url,
    gateway: {
      sessions: {
        finish: async (id, body = {}) =>
          finishedOf((await call(`${url}/sessions/${encodeURIComponent(id)}/finish`, 'POST', body)) as FinishedJson),
        delete: async (id) => void (await call(`${url}/sessions/${encodeURIComponent(id)}`, 'DELETE')),
      },
    },
    health: () => ask(prober),
    residentMb: async () => (await metric('resident_bytes')) / 2 ** 20,
    close: async () => {
      prober.kill('SIGKILL');
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    },
  };
}

async function ask(prober: ChildProcess): Promise<readonly number[]> {
  prober.stdin!.write('\n');
  let text = '';
  for await (const chunk of prober.stdout!.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.endsWith('\n')) break;
  }
  return JSON.parse(text) as number[];
}

async function call(url: string, method: string, body?: unknown): Promise<unknown> {
  const reply = await fetch(url, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const json = (await reply.json()) as { readonly error?: { readonly code: GatewayError['code']; readonly message: string } };
  if (json.error !== undefined) throw new GatewayError(json.error.code, json.error.message);
  return json;
}

interface JsonTrace {
  readonly token_ids: readonly number[];
  readonly loss_mask: readonly number[];
  readonly logprobs: readonly (number | null)[];
}

export interface FinishedJson {
  readonly traces: readonly JsonTrace[];
}

/** The JSON form with typed arrays. */
export function finishedOf({ traces, ...rest }: FinishedJson): FinishedSession {
  const typed = traces.map((trace) => ({
    ...trace,
    token_ids: Int32Array.from(trace.token_ids),
    loss_mask: Uint8Array.from(trace.loss_mask),
    logprobs: Float32Array.from(trace.logprobs, (value) => value ?? Number.NaN),
  }));
  return { ...rest, traces: typed } as unknown as FinishedSession;
}
