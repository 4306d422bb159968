// npm run bench:floor — the gateway, the bare transport of its design (floor) and the work that nobody can leave out (limit),
// by turns in one run; see ../README.md.
//
//   node bench/load/run-floor.mjs [--cells 1k,8k,32k,100k] [--agents 16] [--repeats 3] [--warm-s 8] [--seconds 5] [--targets floor,limit,ours] [--model DIR|embedded] [--json FILE] [--svg FILE]
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CELLS } from './cells.mjs';
import { markdown, median, short } from './figures.mjs';
import { startFloor, startInstantEngine, startOurs } from './gateways.mjs';
import { machine } from './machine.mjs';
import { benchModel } from './model.mjs';
import { launch } from './processes.mjs';
import { chart } from './svg.mjs';

const TARGETS = {
  floor: (options) => startFloor(options),
  limit: (options) => startFloor({ ...options, limit: true }),
  ours: (options) => startOurs({ ...options, shards: 1 }),
};
const { values: args } = parseArgs({
  options: {
    cells: { type: 'string', default: Object.keys(CELLS).join() },
    agents: { type: 'string', default: '16' },
    repeats: { type: 'string', default: '3' },
    // A process that runs for days has compiled its code; the first thousands of turns pay for that.
    'warm-s': { type: 'string', default: '8' },
    seconds: { type: 'string', default: '5' },
    sessions: { type: 'string' },
    targets: { type: 'string', default: Object.keys(TARGETS).join() },
    model: { type: 'string' },
    json: { type: 'string' },
    svg: { type: 'string' },
  },
});
const model = benchModel(args.model);
const targets = args.targets.split(',');
const cells = args.cells.split(',');

async function run(target, cell) {
  const engine = await startInstantEngine({ model });
  try {
    const gateway = await TARGETS[target]({ engines: [engine.url], model });
    try {
      const options = [
        '--target',
        gateway.url,
        '--model',
        model,
        '--cell',
        cell,
        '--agents',
        args.agents,
        '--pid',
        gateway.program.pid,
        '--stats',
        engine.statsUrl,
      ];
      const more = [...(args.sessions ? ['--sessions', args.sessions] : []), '--warm-s', args['warm-s'], '--seconds', args.seconds];
      const load = launch(process.execPath, [fileURLToPath(new URL('./load.mjs', import.meta.url)), ...options, ...more].map(String));
      await load.ended;
      return { target, ...JSON.parse(load.stdout.trim().split('\n').at(-1) || '{"valid":false}') };
    } finally {
      await gateway.program.stop();
    }
  } finally {
    await engine.program.stop();
  }
}

const runs = [];
for (let repeat = 0; repeat < Number(args.repeats); repeat++) {
  for (const cell of cells) {
    for (let i = 0; i < targets.length; i++) {
      const result = await run(targets[(i + repeat) % targets.length], cell);
      runs.push(result);
      console.error(
        `${result.target.padEnd(6)} ${cell.padEnd(5)} ${result.valid ? `${short(result.cpuMsPerTurn)} ms CPU/turn, ${short(result.turnsPerS)} turns/s` : `INVALID: ${(result.failures ?? []).slice(0, 2).join('\n  ')}`}`,
      );
    }
  }
}

const good = (target, cell) => runs.filter((run) => run.valid && run.target === target && run.cell === cell);
const cpu = (target, cell) => {
  const values = good(target, cell).map((run) => run.cpuMsPerTurn);
  return values.length === 0 ? null : { median: median(values), low: Math.min(...values), high: Math.max(...values) };
};
const shown = (it) => (it === null ? '–' : `${short(it.median)} (${short(it.low)}–${short(it.high)})`);
const ratio = (cell, a, b) => {
  const [left, right] = [cpu(a, cell), cpu(b, cell)];
  return left === null || right === null ? '–' : short(left.median / right.median);
};
console.log(
  markdown(
    ['CPU ms/turn', ...cells],
    [
      ...targets.map((target) => [target, ...cells.map((cell) => shown(cpu(target, cell)))]),
      ['ours ÷ limit', ...cells.map((cell) => ratio(cell, 'ours', 'limit'))],
      ['ours ÷ floor', ...cells.map((cell) => ratio(cell, 'ours', 'floor'))],
    ],
  ),
);
if (args.json) writeFileSync(args.json, `${JSON.stringify({ machine: machine(), options: args, runs }, null, 1)}\n`);
if (args.svg) {
  const series = targets.map((target) => ({
    name: target,
    points: cells
      .filter((cell) => good(target, cell).length > 0)
      .map((cell) => [median(good(target, cell).map((run) => run.promptTokensMean)), cpu(target, cell).median]),
  }));
  writeFileSync(
    args.svg,
    chart({ title: `CPU per turn, ${args.agents} agents, Chat`, x: 'tokens of the prompt, mean', y: 'CPU ms per turn', series }),
  );
}
if (runs.some((run) => !run.valid)) process.exitCode = 1;
