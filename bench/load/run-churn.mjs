// npm run bench:churn — sessions come and go for long: does the gateway grow? See ../README.md.
//
//   node bench/load/run-churn.mjs [--minutes 30] [--agents 16] [--every-s 10] [--shards N] [--model DIR|embedded] [--json FILE]
//
// The first third warms up. Exit code 1 when a call fails, when something is left at the end, or, from five minutes on, when resident
// memory in the last third is over 5 % above that of the second (medians).
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { markdown, median, short } from './figures.mjs';
import { startInstantEngine, startOurs } from './gateways.mjs';
import { machine } from './machine.mjs';
import { benchModel } from './model.mjs';
import { launch, sleep, usageOf } from './processes.mjs';

/** Closed keys are remembered for so long, which is no leak; a short time brings the level within the warm-up. */
const CLOSED_TTL_MS = 10_000;
/** Shorter runs are mostly warm-up. */
const JUDGED_FROM_MS = 5 * 60_000;
const GROWTH_MAX = 1.05;

const { values: args } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    agents: { type: 'string', default: '16' },
    'every-s': { type: 'string', default: '10' },
    shards: { type: 'string' },
    model: { type: 'string' },
    json: { type: 'string' },
  },
});
const model = benchModel(args.model);
const engine = await startInstantEngine({ model });
const more = ['--sessions-closed-ttl-ms', String(CLOSED_TTL_MS), '--log-level', 'error'];
const gateway = await startOurs({ engines: [engine.url], model, shards: args.shards, more });

/** Sums over threads, by the name on the wire without its prefix. */
async function gauges() {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const sum = (name, label = '') =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`rollout_gateway_${name}`) && line.includes(label))
      .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
  return {
    heapMb: sum('heap_used_bytes') / 2 ** 20,
    open: sum('sessions{', 'state="open"'),
    finished: sum('sessions{', 'state="finished"'),
    ended: sum('sessions_ended_total'),
  };
}

/** Least squares. */
function slope(points) {
  const mean = (axis) => points.reduce((total, point) => total + point[axis], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const spread = points.reduce((total, [a]) => total + (a - x) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((total, [a, b]) => total + (a - x) * (b - y), 0) / spread;
}

const samples = [];
const began = performance.now();
const endMs = Number(args.minutes) * 60_000;
const sample = async () => {
  const atMin = (performance.now() - began) / 60_000;
  samples.push({ atMin, rssMb: usageOf(gateway.program.pid).rssMb, ...(await gauges()) });
};
let agentsRun = { failures: ['the agents printed nothing'] };
let left;
try {
  const options = ['--target', gateway.url, '--model', model, '--agents', args.agents];
  const agents = launch(process.execPath, [fileURLToPath(new URL('./churn-agents.mjs', import.meta.url)), ...options]);
  while (performance.now() - began < endMs && agents.exit === null) {
    await sleep(Math.min(Number(args['every-s']) * 1000, endMs / 8));
    await sample();
  }
  if (agents.exit === null) process.kill(agents.pid, 'SIGTERM');
  await agents.ended;
  agentsRun = JSON.parse(agents.stdout.trim().split('\n').at(-1) || JSON.stringify({ failures: [agents.output.slice(-500)] }));
  left = await gauges();
} finally {
  await gateway.program.stop();
  await engine.program.stop();
}
const settled = samples.filter((it) => it.atMin * 60_000 > endMs / 3);
const sessionsPerMin = (settled.at(-1).ended - settled[0].ended) / (settled.at(-1).atMin - settled[0].atMin);
const grown = (figure) => slope(settled.map((it) => [it.atMin, figure(it)]));
const [rss, heap] = [grown((it) => it.rssMb), grown((it) => it.heapMb)];
const [earlier, later] = [false, true].map((isLate) =>
  median(settled.filter((it) => it.atMin * 60_000 > (endMs * 2) / 3 === isLate).map((it) => it.rssMb)),
);
console.log(`${Object.values(machine()).join(' · ')}\n`);
const shown = samples.filter((_, at) => at % Math.ceil(samples.length / 10) === 0 || at === samples.length - 1);
console.log(
  markdown(
    ['minute', ...shown.map((it) => short(it.atMin))],
    [
      ['RSS MB', ...shown.map((it) => short(it.rssMb))],
      ['heaps in use MB', ...shown.map((it) => short(it.heapMb))],
      ['sessions ended', ...shown.map((it) => short(it.ended))],
      ['finished, not acknowledged', ...shown.map((it) => it.finished)],
    ],
  ),
);
const bytes = (mbPerMin) => short((mbPerMin * 2 ** 20) / sessionsPerMin);
console.log(
  `\n${agentsRun.sessions} sessions, ${agentsRun.turns} turns, ${agentsRun.left} left by their client, ${agentsRun.deleted} sessions deleted, ` +
    `${agentsRun.leased} leased, ${agentsRun.rows} rows. RSS ${short(earlier)} MB in the second third, ${short(later)} MB in the last: ${short(rss)} MB a minute (${bytes(rss)} bytes a session), ` +
    `heaps ${short(heap)} MB a minute (${bytes(heap)} bytes a session).`,
);
const failures = [...agentsRun.failures];
if (left !== undefined && left.open + left.finished > 0) failures.push(`${left.open} open and ${left.finished} finished sessions are left`);
if (endMs >= JUDGED_FROM_MS && later > earlier * GROWTH_MAX)
  failures.push(`resident memory grew from ${short(earlier)} to ${short(later)} MB`);
if (args.json)
  writeFileSync(args.json, `${JSON.stringify({ machine: machine(), options: args, samples, agents: agentsRun, failures }, null, 1)}\n`);
for (const failure of failures.slice(0, 5)) console.error(`INVALID: ${failure}`);
if (failures.length > 0) process.exitCode = 1;
