// npm run bench:start — how long until it takes turns, and what it costs while nobody asks; see ../README.md.
//
//   node bench/load/run-start.mjs [--repeats 5] [--idle-s 10] [--sessions 500] [--shards N] [--model DIR|embedded] [--json FILE]
//
// Exit code 1 when a run is invalid.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { markdown, median, short } from './figures.mjs';
import { startInstantEngine, startOurs } from './gateways.mjs';
import { machine } from './machine.mjs';
import { benchModel } from './model.mjs';
import { launch, sleep, usageOf } from './processes.mjs';

const { values: args } = parseArgs({
  options: {
    repeats: { type: 'string', default: '5' },
    'idle-s': { type: 'string', default: '10' },
    sessions: { type: 'string', default: '500' },
    shards: { type: 'string' },
    model: { type: 'string' },
    json: { type: 'string' },
  },
});
const model = benchModel(args.model);
const idleMs = Number(args['idle-s']) * 1000;
const SETTLE_MS = 3000;

/** CPU time for each second in which nobody asks. */
async function idleCpu(pid) {
  await sleep(Math.min(SETTLE_MS, idleMs));
  const before = usageOf(pid);
  const from = performance.now();
  await sleep(idleMs);
  return ((usageOf(pid).cpuMs - before.cpuMs) / (performance.now() - from)) * 1000;
}

const engine = await startInstantEngine({ model });
const starts = [];
const idle = {};
const failures = [];
try {
  for (let repeat = 0; repeat < Number(args.repeats); repeat++) {
    const from = performance.now();
    const gateway = await startOurs({ engines: [engine.url], model, shards: args.shards });
    const { cpuMs, rssMb } = usageOf(gateway.program.pid);
    starts.push({ readyMs: performance.now() - from, cpuMs, rssMb });
    try {
      if (repeat < Number(args.repeats) - 1) continue;
      idle.fresh = await idleCpu(gateway.program.pid);
      const options = ['--target', gateway.url, '--model', model, '--cell', '1k', '--agents', 16, '--sessions', args.sessions];
      const more = ['--warm-sessions', 0, '--seconds', 0];
      const load = launch(process.execPath, [fileURLToPath(new URL('./load.mjs', import.meta.url)), ...options, ...more].map(String));
      await load.ended;
      failures.push(...JSON.parse(load.stdout.trim() || '{"failures":["the load generator printed nothing"]}').failures);
      idle.holding = await idleCpu(gateway.program.pid);
    } finally {
      await gateway.program.stop();
    }
  }
} finally {
  await engine.program.stop();
}
const spread = (figure) => {
  const values = starts.map(figure);
  return `${short(median(values))} (${short(Math.min(...values))}–${short(Math.max(...values))})`;
};
console.log(`${Object.values(machine()).join(' · ')}\n`);
console.log(
  markdown(
    ['start to ready, ms', 'CPU until then, ms', 'RSS MB', 'idle: CPU ms a second', `with ${args.sessions} open sessions`],
    [[spread((it) => it.readyMs), spread((it) => it.cpuMs), spread((it) => it.rssMb), short(idle.fresh), short(idle.holding)]],
  ),
);
if (args.json) writeFileSync(args.json, `${JSON.stringify({ machine: machine(), options: args, starts, idle, failures }, null, 1)}\n`);
for (const failure of failures.slice(0, 5)) console.error(`INVALID: ${failure}`);
if (failures.length > 0) process.exitCode = 1;
