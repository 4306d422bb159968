// npm run bench:smoke — every bench for a few seconds: a check that it runs, no figures. Names choose some: node bench/smoke.mjs scale
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SMALL = ['--model', 'embedded'];
const BRIEF_LOAD = [...SMALL, '--cells', '1k', '--agents', '2', '--sessions', '2', '--seconds', '0.5'];
const RUNS = {
  load: ['load/run-load.mjs', ...BRIEF_LOAD, '--protocols', 'chat,messages', '--stream', 'yes'],
  floor: ['load/run-floor.mjs', ...BRIEF_LOAD, '--repeats', '1', '--warm-s', '0.2'],
  peers: ['load/run-peers.mjs', '--targets', 'ours,floor', '--cells', '1k', '--repeats', '1', '--sessions', '4', '--total', '4'],
  saturate: ['load/run-saturate.mjs', ...SMALL, '--agents', '8', '--warm-s', '1', '--seconds', '2'],
  scale: ['load/run-scale.mjs', ...SMALL, '--seconds', '1', '--cold-tokens', '16000', '--cold-prompts', '1', '--agents', '50'],
  memory: ['load/run-memory.mjs', ...SMALL, '--held', '1k:16', '--rest-s', '0.5'],
  churn: ['load/run-churn.mjs', ...SMALL, '--minutes', '0.1'],
  start: ['load/run-start.mjs', ...SMALL, '--repeats', '1', '--idle-s', '0.5', '--sessions', '4'],
  refusals: ['load/run-refusals.mjs', '--bodies', '1000', '--repeats', '1', '--seconds', '0.5'],
  loop: ['load/run-long-loop.mjs', '--turns', '10', '--sessions', '2'],
  micro: ['micro/run.mjs', '--brief'],
};
const wanted = process.argv.slice(2);
for (const name of wanted) if (RUNS[name] === undefined) throw new Error(`no bench "${name}": ${Object.keys(RUNS)}`);
const failed = [];
for (const [name, [file, ...args]] of Object.entries(RUNS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const from = performance.now();
  const { status } = spawnSync(process.execPath, [fileURLToPath(new URL(file, import.meta.url)), ...args], { stdio: 'inherit' });
  console.log(`\nbench:${name} ${status === 0 ? 'ran' : 'FAILED'}, ${((performance.now() - from) / 1000).toFixed(0)} s\n`);
  if (status !== 0) failed.push(name);
}
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
