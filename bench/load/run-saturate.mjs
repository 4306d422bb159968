// npm run bench:saturate — how much of what the engines can do reaches them through the gateway; see ../README.md.
//
//   node bench/load/run-saturate.mjs [--agents 64,256,512,1024,2000] [--replicas 2] [--window 256] [--warm-s 10] [--seconds 20]
//        [--repeats 1] [--shards N] [--model DIR|embedded] [--json FILE]
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { markdown, median, short } from './figures.mjs';
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
    repeats: { type: 'string', default: '1' },
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
const percent = (share) => `${(share * 100).toFixed(1)} %`;
for (const agents of args.agents.split(',')) {
  const pairs = [];
  for (let repeat = 0; repeat < Number(args.repeats); repeat++) {
    // by turns, so that a slow minute of the machine does not meet the same one each time
    const order = repeat % 2 === 0 ? ['direct', 'gateway'] : ['gateway', 'direct'];
    const pair = {};
    for (const through of order) pair[through] = await run(agents, through);
    runs.push(...Object.values(pair));
    for (const it of Object.values(pair))
      if (!it.valid) console.error(`${agents} agents, ${it.through}: INVALID: ${it.failures.slice(0, 3).join('\n  ')}`);
    if (Object.values(pair).every((it) => it.valid)) pairs.push(pair);
  }
  if (pairs.length === 0) continue;
  const of = (through, figure) => median(pairs.map((pair) => figure(pair[through])));
  const both = (figure) => `${percent(of('direct', figure))} / ${percent(of('gateway', figure))}`;
  const ratio = (figure) => {
    const ratios = pairs.map(({ direct, gateway }) => figure(gateway) / figure(direct));
    const spread = ratios.length > 1 ? ` (${percent(Math.min(...ratios))}–${percent(Math.max(...ratios))})` : '';
    return `${percent(median(ratios))}${spread}`;
  };
  rows.push([
    agents,
    short(of('direct', (it) => it.sampledTokensPerS)),
    short(of('gateway', (it) => it.sampledTokensPerS)),
    ratio((it) => it.sampledTokensPerS),
    both((it) => it.windowUse),
    both((it) => it.prefixHitShare),
    ratio((it) => it.prefixHitShare),
    `${short(of('gateway', (it) => it.p50Ms))} / ${short(of('gateway', (it) => it.p99Ms))}`,
    `${short(of('gateway', (it) => it.health.p99Ms))} / ${short(of('gateway', (it) => it.health.maxMs))}`,
    short(of('gateway', (it) => it.rssMb)),
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
