// A thread that asks for /healthz every 20 ms. A question that had to wait for the one before counts from when it was due.
import { parentPort, workerData } from 'node:worker_threads';
import { Pool } from 'undici';
import { percentile } from './figures.mjs';
import { sleep } from './processes.mjs';

const EVERY_MS = 20;
const pool = new Pool(workerData.url, { connections: 1, pipelining: 1 });
const latenciesMs = [];
let failures = 0;
let running = true;
parentPort.once('message', () => {
  running = false;
});
parentPort.postMessage('ready');
for (let due = performance.now(); running; due += EVERY_MS) {
  const late = performance.now() > due;
  await sleep(Math.max(0, due - performance.now()));
  const from = late ? due : performance.now();
  const status = await pool
    .request({ method: 'GET', path: workerData.path })
    .then(async ({ statusCode, body }) => {
      await body.dump();
      return statusCode;
    })
    .catch(() => 0);
  if (status !== 200) failures++;
  latenciesMs.push(performance.now() - from);
}
latenciesMs.sort((a, b) => a - b);
parentPort.postMessage({
  probes: latenciesMs.length,
  failures,
  p50Ms: percentile(latenciesMs, 0.5),
  p99Ms: percentile(latenciesMs, 0.99),
  maxMs: latenciesMs.at(-1) ?? 0,
});
await pool.destroy();
