// npm run bench:load — the gateway under closed-loop agents, cell by cell; see ../README.md.
//
//   node bench/load/run-load.mjs [--cells 1k,8k,32k,100k] [--agents 16,64] [--protocols chat,messages] [--stream no,yes]
//        [--engines instant,gpu] [--repeats 1] [--seconds 5] [--shards N] [--model DIR|embedded] [--json FILE] [--svg FILE]
//
// Exit code 1 when a run is invalid.
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CELLS } from './cells.mjs';
import { markdown, median, short } from './figures.mjs';
import { startInstantEngine, startOurs, startSimEngine } from './gateways.mjs';
import { machine } from './machine.mjs';
import { benchModel } from './model.mjs';
import { launch } from './processes.mjs';
import { chart } from './svg.mjs';

const WINDOW = 256;
const { values: args } = parseArgs({
  options: {
    cells: { type: 'string', default: Object.keys(CELLS).join() },
    agents: { type: 'string', default: '16,64' },
    protocols: { type: 'string', default: 'chat,messages' },
    stream: { type: 'string', default: 'no,yes' },
    engines: { type: 'string', default: 'instant' },
    repeats: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '5' },
    sessions: { type: 'string' },
    shards: { type: 'string' },
    model: { type: 'string' },
    json: { type: 'string' },
    svg: { type: 'string' },
  },
});
const list = (text) => text.split(',');
const model = benchModel(args.model);
// with four cores and more, the programs do not share any
const pinned = cpus().length >= 4 ? { load: '0', engine: '1', gateway: `2-${cpus().length - 1}` } : {};

/** One run: fresh processes, one cell, one kind of agent. */
async function run(cell, agents, protocol, stream, engineKind) {
  const start = engineKind === 'instant' ? startInstantEngine : startSimEngine;
  const engine = await start({ model, window: WINDOW }, { cores: pinned.engine });
  try {
    const gateway = await startOurs({ engines: [engine.url], model, shards: args.shards }, { cores: pinned.gateway });
    try {
      const options = [
        '--target',
        gateway.url,
        '--model',
        model,
        '--cell',
        cell,
        '--agents',
        agents,
        '--protocol',
        protocol,
        '--pid',
        gateway.program.pid,
      ];
      const more = [
        ...(stream === 'yes' ? ['--stream'] : []),
        ...(args.sessions ? ['--sessions', args.sessions] : []),
        '--stats',
        engine.statsUrl,
        '--seconds',
        args.seconds,
      ];
      const load = launch(process.execPath, [fileURLToPath(new URL('./load.mjs', import.meta.url)), ...options, ...more].map(String), {
        cores: pinned.load,
      });
      await load.ended;
      const result = JSON.parse(load.stdout.trim().split('\n').at(-1) || '{"valid":false}');
      if (gateway.program.exit !== null)
        return { ...result, valid: false, failures: [`the gateway ended: ${gateway.program.output.slice(-1500)}`] };
      return { ...result, engine: engineKind };
    } finally {
      await gateway.program.stop();
    }
  } finally {
    await engine.program.stop();
  }
}

const runs = [];
for (let repeat = 0; repeat < Number(args.repeats); repeat++) {
  for (const engineKind of list(args.engines)) {
    for (const cell of list(args.cells)) {
      for (const agents of list(args.agents)) {
        for (const protocol of list(args.protocols)) {
          for (const stream of list(args.stream)) {
            const result = await run(cell, agents, protocol, stream, engineKind);
            runs.push(result);
            const said = result.valid
              ? `${short(result.cpuMsPerTurn)} ms CPU/turn, ${short(result.turnsPerS)} turns/s, p99 ${short(result.p99Ms)} ms, health p99 ${short(result.health.p99Ms)} ms`
              : `INVALID: ${(result.failures ?? []).slice(0, 3).join('\n  ')}`;
            console.error(`${cell.padEnd(5)} ${agents} agents ${protocol}${stream === 'yes' ? ' streamed' : ''}, ${engineKind}: ${said}`);
          }
        }
      }
    }
  }
}

const keyOf = (run) => `${run.engine}|${run.cell}|${run.agents}|${run.protocol}|${run.stream}`;
const groups = [...new Set(runs.filter((run) => run.valid).map(keyOf))].map((key) => runs.filter((run) => run.valid && keyOf(run) === key));
const of = (group, figure) => short(median(group.map(figure)));
const head = [
  'cell',
  'engine',
  'agents',
  'protocol',
  'CPU ms/turn',
  'turns/s',
  'sampled tok/s',
  'prompt tok/s',
  'p50 / p95 / p99 ms',
  'MB/session',
  'RSS MB',
  'health p99 / max ms',
  'other cores',
];
const rows = groups.map((group) => [
  group[0].cell,
  group[0].engine,
  group[0].agents,
  `${group[0].protocol}${group[0].stream ? ', streamed' : ''}`,
  of(group, (run) => run.cpuMsPerTurn),
  of(group, (run) => run.turnsPerS),
  of(group, (run) => run.sampledTokensPerS),
  of(group, (run) => run.promptTokensPerS),
  `${of(group, (run) => run.p50Ms)} / ${of(group, (run) => run.p95Ms)} / ${of(group, (run) => run.p99Ms)}`,
  of(group, (run) => run.mbPerSession),
  of(group, (run) => run.rssMb),
  `${of(group, (run) => run.health.p99Ms)} / ${of(group, (run) => run.health.maxMs)}`,
  of(group, (run) => run.otherCores),
]);
console.log(markdown(head, rows));
if (args.json) writeFileSync(args.json, `${JSON.stringify({ machine: machine(), options: args, runs }, null, 1)}\n`);
if (args.svg) {
  const kinds = [
    ...new Set(groups.map(([run]) => `${run.protocol}${run.stream ? ', streamed' : ''}, ${run.agents} agents, ${run.engine}`)),
  ];
  const series = kinds.map((name) => ({
    name,
    points: groups
      .filter(([run]) => `${run.protocol}${run.stream ? ', streamed' : ''}, ${run.agents} agents, ${run.engine}` === name)
      .map((group) => [median(group.map((run) => run.promptTokensMean)), median(group.map((run) => run.cpuMsPerTurn))]),
  }));
  writeFileSync(args.svg, chart({ title: 'CPU per turn', x: 'tokens of the prompt, mean', y: 'CPU ms per turn', series }));
}
if (runs.some((run) => !run.valid)) process.exitCode = 1;
