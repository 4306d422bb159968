// npm run bench:refusals — how many turns of a session that is over are refused per second, beside a bare server that answers
// the same bytes, by turns in one run; see ../README.md.
//
//   node bench/load/run-refusals.mjs [--bodies 1000,50000] [--connections 32] [--repeats 3] [--seconds 3] [--cpu-prof DIR] [--json FILE]
import { writeFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { markdown, median, short } from './figures.mjs';
import { startInstantEngine, startOurs } from './gateways.mjs';
import { machine } from './machine.mjs';
import { benchModel } from './model.mjs';
import { launch, listeningUrl, usageOf } from './processes.mjs';

const { values: args } = parseArgs({
  options: {
    bodies: { type: 'string', default: '1000,50000' },
    connections: { type: 'string', default: '32' },
    repeats: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    'cpu-prof': { type: 'string' },
    json: { type: 'string' },
  },
});
const KEY = 'finished-0001';
/** Set by the server itself. */
const OWN = ['content-length', 'date', 'uwebsockets'];
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const model = benchModel('embedded');

const nodeOptions = args['cpu-prof'] ? ['--cpu-prof', `--cpu-prof-dir=${args['cpu-prof']}`] : [];
const engine = await startInstantEngine({ model });
const ours = await startOurs({ engines: [engine.url], model, shards: 1, nodeOptions });
const post = (path, body, headers = {}) => fetch(`${ours.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
await post('/sessions', { session_id: KEY });
await post(`/sessions/${KEY}/finish`, {});
const refusal = await post('/v1/messages', {}, { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' });
const answer = {
  status: `${refusal.status} ${STATUS_CODES[refusal.status]}`,
  headers: [...refusal.headers].filter(([name]) => !OWN.includes(name)),
  body: await refusal.text(),
};
const floor = launch(process.execPath, [here('refusal-floor.mjs'), '--answer', JSON.stringify(answer)]);
const targets = {
  floor: { url: await listeningUrl(floor), pid: floor.pid },
  ours: { url: ours.url, pid: ours.program.pid },
};

async function run(name, bodyBytes, seconds) {
  const { url, pid } = targets[name];
  const before = usageOf(pid);
  const options = ['--target', url, '--key', KEY, '--connections', args.connections, '--seconds', seconds, '--body-bytes', bodyBytes];
  const load = launch(process.execPath, [here('refusal-load.mjs'), ...options]);
  await load.ended;
  const after = usageOf(pid);
  const result = JSON.parse(load.stdout.trim().split('\n').at(-1) || '{"valid":false}');
  return { target: name, bodyBytes: Number(bodyBytes), cpuUs: ((after.cpuMs - before.cpuMs) * 1000) / result.answers, ...result };
}

const bodies = args.bodies.split(',');
const runs = [];
try {
  for (const name of Object.keys(targets)) await run(name, bodies[0], '1');
  for (let repeat = 0; repeat < Number(args.repeats); repeat++) {
    for (const bytes of bodies) {
      for (const name of repeat % 2 === 0 ? ['floor', 'ours'] : ['ours', 'floor']) {
        const result = await run(name, bytes, args.seconds);
        runs.push(result);
        const { valid, perSecond, cpuUs, loadBusy, failures } = result;
        console.error(
          valid
            ? `${name.padEnd(5)} ${bytes} B: ${short(perSecond)}/s, ${short(cpuUs)} µs CPU each, load generator ${Math.round(loadBusy * 100)} % busy`
            : `${name} ${bytes} B INVALID: ${(failures ?? []).join('\n  ')}`,
        );
      }
    }
  }
} finally {
  await Promise.all([ours.program, floor, engine.program].map((program) => program.stop()));
}

const of = (name, bytes) => runs.filter((run) => run.valid && run.target === name && run.bodyBytes === Number(bytes));
const shown = (values) =>
  values.length === 0 ? '–' : `${short(median(values))} (${short(Math.min(...values))}–${short(Math.max(...values))})`;
const rows = bodies.flatMap((bytes) =>
  Object.keys(targets).map((name) => [
    `${bytes} B`,
    name,
    shown(of(name, bytes).map((run) => run.perSecond)),
    shown(of(name, bytes).map((run) => run.cpuUs)),
    shown(of(name, bytes).map((run) => 1e6 / run.cpuUs)),
  ]),
);
console.log(markdown(['body', 'server', 'refusals/s', 'µs CPU each', 'refusals per CPU second'], rows));
if (args.json) writeFileSync(args.json, `${JSON.stringify({ machine: machine(), options: args, runs }, null, 1)}\n`);
if (runs.some((run) => !run.valid)) process.exitCode = 1;
