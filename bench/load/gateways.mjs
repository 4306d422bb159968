/** The programs that are measured: how each is started on a port, against an engine, with a model directory. */
import { fileURLToPath } from 'node:url';
import { launch, listeningUrl, untilReady } from './processes.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
/** DIST names another folder of compiled files, with a slash at its end. */
const DIST = fileURLToPath(new URL(process.env.DIST ?? '../../dist/', import.meta.url));

const node = (args, options) => launch(process.execPath, args, options);

/**
 * Starts the gateway and waits until it takes turns.
 * @param watch file in which `loop-watch.mjs` is to write
 */
export async function startOurs({ engines, model, engine = 'vllm', shards, more = [], nodeOptions = [], watch }, options = {}) {
  const urls = engines.flatMap((url) => ['--engine-url', url]);
  const args = [
    ...nodeOptions,
    ...(watch ? ['--import', new URL('loop-watch.mjs', import.meta.url).href] : []),
    `${DIST}main.js`,
    'serve',
    '--engine',
    engine,
    ...urls,
    '--model',
    model,
    '--port',
    '0',
    ...(shards ? ['--shards', String(shards)] : []),
    ...more,
  ];
  const program = node(args, { ...options, env: watch ? { LOOP_WATCH_FILE: watch } : {} });
  const url = await listeningUrl(program);
  await untilReady(program, `${url}/readyz`);
  return { program, url };
}

export async function startFloor({ engines, model, limit = false }, options) {
  const program = node([here('floor.mjs'), '--model', model, '--engine', engines[0], ...(limit ? ['--limit'] : [])], options);
  return { program, url: await listeningUrl(program) };
}

export async function startInstantEngine({ model }, options) {
  const program = node([here('engine.mjs'), '--model', model], options);
  const url = await listeningUrl(program);
  return { program, url, statsUrl: `${url}/stats` };
}

/** An engine with the latency model of a real one. */
export async function startSimEngine({ model, window }, options) {
  const program = node([here('sim.mjs'), '--model', model, '--window', String(window)], options);
  const url = await listeningUrl(program);
  return { program, url, statsUrl: `${url}/sim/counters` };
}
