/** Thousands of sessions at the same time: all their turns are answered and the front stays quick. */
import { fileURLToPath } from 'node:url';
import { short } from './figures.mjs';
import { startInstantEngine, startOurs } from './gateways.mjs';
import { launch } from './processes.mjs';

export async function crowdPart({ model, agents, seconds }) {
  const engine = await startInstantEngine({ model });
  const gateway = await startOurs({ engines: [engine.url], model });
  try {
    const options = ['--target', gateway.url, '--model', model, '--cell', '1k', '--agents', agents, '--sessions', agents];
    const more = ['--pid', gateway.program.pid, '--stats', engine.statsUrl, '--seconds', seconds];
    const load = launch(process.execPath, [fileURLToPath(new URL('./load.mjs', import.meta.url)), ...options, ...more].map(String));
    await load.ended;
    const run = JSON.parse(load.stdout.trim().split('\n').at(-1) || `{"valid":false,"failures":["the load generator printed nothing"]}`);
    const shown = (value) => (run.valid ? short(value()) : '–');
    return {
      title: `${agents} sessions at the same time, cell 1k, an engine that takes no time`,
      head: ['turns', 'turns/s', 'CPU ms/turn', 'p50 / p99 ms', 'health p99 / max ms', 'RSS MB'],
      rows: [
        [
          shown(() => run.turns),
          shown(() => run.turnsPerS),
          shown(() => run.cpuMsPerTurn),
          `${shown(() => run.p50Ms)} / ${shown(() => run.p99Ms)}`,
          `${shown(() => run.health.p99Ms)} / ${shown(() => run.health.maxMs)}`,
          shown(() => run.rssMb),
        ],
      ],
      runs: [run],
      failures: run.failures ?? [],
    };
  } finally {
    await gateway.program.stop();
    await engine.program.stop();
  }
}
