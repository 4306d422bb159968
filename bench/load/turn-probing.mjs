/** Short turns of other sessions while something heavy happens: how long each of them took. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { benchFolder } from './bench-folder.mjs';
import { percentile, short } from './figures.mjs';
import { launch, sleep } from './processes.mjs';

const PROBES_MAX = 60_000;
/** A heavy call may still be settled this long after it was answered. */
const SETTLE_MS = 30;
const WARM_MS = 2000;

/** Milliseconds since 1970, comparable between the processes of a machine. */
export const now = () => performance.timeOrigin + performance.now();

/** @param names of sessions that nobody has used, as many as will be asked for */
export async function startProbing(target, names, everyMs = 10) {
  const file = join(benchFolder(), 'sessions.json');
  writeFileSync(file, JSON.stringify(names.take === undefined ? taken(names, PROBES_MAX) : [...names.take(PROBES_MAX)]));
  const options = ['--target', target, '--sessions', file, '--every-ms', String(everyMs)];
  const program = launch(process.execPath, [fileURLToPath(new URL('./turn-probe.mjs', import.meta.url)), ...options]);
  await sleep(WARM_MS);
  const since = now();
  return {
    /** Ends it; gives the turns as `[due, took]` and what failed. */
    async end() {
      await program.stop();
      const lines = program.stdout.trim().split('\n');
      const last = JSON.parse(lines.pop() || '{}');
      const failures = last.failures === 0 ? [] : [`${last.failures ?? 'all'} probing turns failed: ${program.output.slice(-300)}`];
      return { turns: lines.map((line) => JSON.parse(line)).filter(([due]) => due > since), failures };
    },
  };
}

function taken(names, count) {
  const all = [];
  for (const name of names) {
    all.push(name);
    if (all.length === count) break;
  }
  return all;
}

/** Latencies, sorted, of the turns that were due or running in one of the spans `[from, to]`; `outside` for all others. */
export function latenciesIn(turns, spans, outside = false) {
  const touches = ([due, took]) => spans.some(([from, to]) => due < to + SETTLE_MS && due + took > from);
  return turns
    .filter((turn) => touches(turn) !== outside)
    .map(([, took]) => took)
    .sort((a, b) => a - b);
}

export const shownLatencies = (sorted) => [
  sorted.length,
  ...[0.5, 0.99].map((share) => short(percentile(sorted, share))),
  short(sorted.at(-1)),
];
