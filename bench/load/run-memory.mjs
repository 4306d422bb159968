// npm run bench:memory — what open sessions hold, and what is left of it when they are finished; see ../README.md.
//
//   node bench/load/run-memory.mjs [--held 8k:2000,100k:200] [--agents 16] [--rest-s 5] [--shards N] [--model DIR|embedded] [--json FILE]
//
// Exit code 1 when a run is invalid.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { CELLS } from './cells.mjs';
import { markdown, short } from './figures.mjs';
import { startInstantEngine, startOurs } from './gateways.mjs';
import { machine } from './machine.mjs';
import { benchModel } from './model.mjs';
import { launch, sleep, usageOf } from './processes.mjs';

const { values: args } = parseArgs({
  options: {
    held: { type: 'string', default: '8k:2000,100k:200' },
    agents: { type: 'string', default: '16' },
    'rest-s': { type: 'string', default: '5' },
    shards: { type: 'string' },
    model: { type: 'string' },
    json: { type: 'string' },
  },
});
const model = benchModel(args.model);
const restMs = Number(args['rest-s']) * 1000;

/** Sessions are led to the end of their cell and left open; then all are finished and acknowledged. */
async function run(cell, sessions) {
  const engine = await startInstantEngine({ model });
  const gateway = await startOurs({ engines: [engine.url], model, shards: args.shards });
  const rssMb = () => usageOf(gateway.program.pid).rssMb;
  try {
    await sleep(1000);
    const startMb = rssMb();
    const options = ['--target', gateway.url, '--model', model, '--cell', cell, '--agents', args.agents, '--sessions', sessions];
    const more = ['--seconds', 0, '--warm-sessions', 0, '--pid', gateway.program.pid, '--stats', engine.statsUrl];
    const load = launch(process.execPath, [fileURLToPath(new URL('./load.mjs', import.meta.url)), ...options, ...more].map(String));
    await load.ended;
    const led = JSON.parse(load.stdout.trim().split('\n').at(-1) || `{"valid":false,"failures":["the load generator printed nothing"]}`);
    const heldMb = rssMb();
    await sleep(restMs);
    const restedMb = rssMb();
    const failures = [...led.failures, ...(await finishAll(gateway.url, led.sessions))];
    await sleep(restMs);
    return {
      cell,
      valid: led.valid && failures.length === 0,
      failures,
      sessions: led.sessions,
      startMb,
      heldMb,
      restedMb,
      finishedMb: rssMb(),
    };
  } finally {
    await gateway.program.stop();
    await engine.program.stop();
  }
}

async function finishAll(url, sessions) {
  const pool = new Pool(url, { connections: 4, pipelining: 1 });
  const failures = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      while (next < sessions) {
        const path = `/sessions/bench-${next++}/finish`;
        const headers = { 'content-type': 'application/json', accept: 'application/msgpack' };
        const answer = await pool.request({ method: 'POST', path, headers, body: '{"ack":true}' });
        await answer.body.dump({ limit: Number.POSITIVE_INFINITY });
        if (answer.statusCode !== 200) failures.push(`${path}: ${answer.statusCode}`);
      }
    }),
  );
  await pool.destroy();
  return failures;
}

const runs = [];
for (const held of args.held.split(',')) {
  const [cell, sessions] = held.split(':');
  runs.push(await run(cell, Number(sessions)));
}
console.log(`${Object.values(machine()).join(' · ')}\n`);
console.log(
  markdown(
    ['open sessions', 'RSS MB: started', 'sessions held', `${args['rest-s']} s later`, 'all finished', 'MB/session', 'bytes/token'],
    runs.map((it) => [
      `${it.sessions} × ${it.cell} tokens`,
      short(it.startMb),
      short(it.heldMb),
      short(it.restedMb),
      short(it.finishedMb),
      short((it.restedMb - it.startMb) / it.sessions),
      short(((it.restedMb - it.startMb) * 2 ** 20) / it.sessions / CELLS[it.cell].contextTokens),
    ]),
  ),
);
if (args.json) writeFileSync(args.json, `${JSON.stringify({ machine: machine(), options: args, runs }, null, 1)}\n`);
for (const it of runs) for (const failure of it.failures.slice(0, 5)) console.error(`INVALID: ${it.cell}: ${failure}`);
if (runs.some((it) => !it.valid)) process.exitCode = 1;
