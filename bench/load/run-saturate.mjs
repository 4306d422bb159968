// npm run bench:saturate — how much of what the engines can do reaches them through the gateway; see ../README.md.
//
//   node bench/load/run-saturate.mjs [--agents 64,256,512,1024,2000] [--replicas 2] [--window 256] [--warm-s 10] [--seconds 20]
//        [--shards N] [--model DIR|embedded] [--json FILE]
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { markdown, short } from './figures.mjs';
import { startOurs, startSimEngine } from './gateways.mjs';
import { machine } from './machine.mjs';
import { benchModel } from './model.mjs';
import { launch, usageOf } from './processes.mjs';

const { values: args } = parseArgs({
  options: {
    agents: { type: 'string', default: '64,256,512,1024,2000' },
    replicas: { type: 'string', default: '2' },
    window: { type: 'string', default: '256' },
    'warm-s': { type: 'string', default: '10' },
    seconds: { type: 'string', default: '20' },
    shards: { type: 'string' },
    model: { type: 'string' },
    json: { type: 'string' },
  },
});
const model = benchModel(args.model);

async function run(agents, through) {
  const engines = await Promise.all(
    Array.from({ length: Number(args.replicas) }, () => startSimEngine({ model, window: Number(args.window) })),
  );
  const urls = engines.map(({ url }) => url);
  let gateway = null;
  try {
    if (through === 'gateway') gateway = await startOurs({ engines: urls, model, shards: args.shards });
    const options = ['--model', model, '--engines', urls.join(), '--agents', agents, '--warm-s', args['warm-s'], '--seconds', args.seconds];
    const load = launch(process.execPath, [
      fileURLToPath(new URL('./saturate.mjs', import.meta.url)),
      ...options,
      ...(gateway ? ['--target', gateway.url] : []),
    ]);
    await load.ended;
    const usage = gateway && usageOf(gateway.program.pid);
    const printed = load.stdout.trim().split('\n').at(-1);
    if (!printed) return { valid: false, failures: [load.output.slice(-1000)], agents: Number(agents), through };
    return { ...JSON.parse(printed), rssMb: usage?.rssMb ?? null };
  } finally {
    await gateway?.program.stop();
    for (const { program } of engines) await program.stop();
  }
}

const runs = [];
const rows = [];
for (const agents of args.agents.split(',')) {
  const [direct, ours] = [await run(agents, 'direct'), await run(agents, 'gateway')];
  runs.push(direct, ours);
  for (const it of [direct, ours])
    if (!it.valid) console.error(`${agents} agents, ${it.through}: INVALID: ${it.failures.slice(0, 3).join('\n  ')}`);
  if (!direct.valid || !ours.valid) continue;
  const percent = (share) => `${(share * 100).toFixed(1)} %`;
  rows.push([
    agents,
    short(direct.sampledTokensPerS),
    short(ours.sampledTokensPerS),
    percent(ours.sampledTokensPerS / direct.sampledTokensPerS),
    `${percent(direct.windowUse)} / ${percent(ours.windowUse)}`,
    `${percent(direct.prefixHitShare)} / ${percent(ours.prefixHitShare)}`,
    percent(ours.prefixHitShare / direct.prefixHitShare),
    `${short(ours.p50Ms)} / ${short(ours.p99Ms)}`,
    `${short(ours.health.p99Ms)} / ${short(ours.health.maxMs)}`,
    short(ours.rssMb),
  ]);
  console.error(`${agents} agents: ${rows.at(-1).slice(1).join(', ')}`);
}
console.log(
  markdown(
    [
      'sessions',
      'engines alone, tok/s',
      'through the gateway',
      'ratio',
      'window in use',
      'prefix hits',
      'ratio',
      'p50 / p99 ms',
      'health p99 / max ms',
      'RSS MB',
    ],
    rows,
  ),
);
if (args.json) writeFileSync(args.json, `${JSON.stringify({ machine: machine(), options: args, runs }, null, 1)}\n`);
if (runs.some((it) => !it.valid)) process.exitCode = 1;
