// npm run bench:peers — the gateway beside the Python gateways, by turns, through ../shared/peers-bench where it is present.
//
//   node bench/load/run-peers.mjs [--targets ours,agentcore-tree,agentcore-linear,rllm-scrape,floor] [--cells 1k,8k,32k,100k]
//        [--repeats 3] [--sessions 16] [--thinking] [--history auto] [--json FILE]
//
// PEERS_BENCH names another place of that folder, PEERS_CACHE that of its Python environments and model directories, which all
// checkouts share (~/.cache/peers-bench).
// Ends with 0 and a sentence where the folder is missing.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { benchFolder } from './bench-folder.mjs';
import { CACHE_DIR } from './model.mjs';
import { peerRatios } from './peer-ratios.mjs';

const { values: args } = parseArgs({
  options: {
    targets: { type: 'string', default: 'ours,agentcore-tree,agentcore-linear,rllm-scrape,floor' },
    cells: { type: 'string', default: '1k,8k,32k,100k' },
    repeats: { type: 'string', default: '3' },
    sessions: { type: 'string', default: '16' },
    total: { type: 'string' },
    thinking: { type: 'boolean', default: false },
    history: { type: 'string', default: 'auto' },
    base: { type: 'string' },
    json: { type: 'string' },
  },
});
const source = process.env.PEERS_BENCH ?? fileURLToPath(new URL('../../../shared/peers-bench', import.meta.url));
if (!existsSync(join(source, 'matrix.mjs'))) {
  console.log(`bench:peers is skipped: there is no peers-bench in ${source} (PEERS_BENCH names another place)`);
  process.exit(0);
}
const copy = join(CACHE_DIR, 'peers-bench');
const env = { ...process.env, PEERS_CACHE: process.env.PEERS_CACHE ?? join(homedir(), '.cache', 'peers-bench') };
const dist = fileURLToPath(new URL(process.env.DIST ?? '../../dist/', import.meta.url));
const targets = args.targets.split(',');
const withPeers = targets.some((target) => /^(agentcore|rllm)/.test(target));

/** The exit code; a signal to this process goes on to the program, which ends what it started. */
async function run(command, given) {
  const child = spawn(command, given, { cwd: copy, env, stdio: 'inherit' });
  const pass = (signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, pass);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

mkdirSync(CACHE_DIR, { recursive: true });
if (!existsSync(join(copy, 'matrix.mjs'))) {
  cpSync(source, copy, { recursive: true });
  if ((await run('chmod', ['-R', 'u+w', '.'])) !== 0) process.exit(1);
}
// safe to run again: what is there is kept
if ((await run('./prepare.sh', withPeers ? [] : ['--no-peers'])) !== 0) {
  console.error('bench:peers cannot prepare its model directories and Python environments');
  process.exit(1);
}
const command = `exec '${process.execPath}' '${dist}main.js' serve --engine vllm --engine-url {engine} --model {model} --port {port} --shards 1 --history ${args.history} --log-level error`;
const results = resolve(args.json ?? join(benchFolder(), 'results.json'));
const base = args.base ?? targets.find((target) => target.startsWith('agentcore')) ?? targets[0];
process.exitCode = await run('node', [
  'matrix.mjs',
  ...[
    '--target',
    args.targets,
    '--command',
    command,
    '--health',
    '/readyz',
    '--cells',
    args.cells,
    '--repeats',
    args.repeats,
    '--sessions',
    args.sessions,
    '--base',
    base,
  ],
  ...(args.total ? ['--total', args.total] : []),
  ...(args.thinking ? ['--model', join(env.PEERS_CACHE, 'model-thinking')] : []),
  '--json',
  results,
]);
if (targets.includes('ours') && targets.length > 1 && existsSync(results)) {
  const matrix = JSON.parse(readFileSync(results, 'utf8'));
  console.log(`\n${Object.values(matrix.machine).join(' · ')}\n\n${peerRatios(matrix, { thinking: args.thinking })}`);
}
