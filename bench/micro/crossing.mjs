// What it costs to hand a body of 400 KB to another thread and get an answer of 2 KB back: `node bench/micro/crossing.mjs`.
import { MessageChannel, Worker } from 'node:worker_threads';
import { bench, do_not_optimize, group, run } from 'mitata';

const ECHO = `
const { parentPort } = require('node:worker_threads');
parentPort.once('message', ({ port }) => port.on('message', (batch) => {
  const answers = (Array.isArray(batch) ? batch : [batch]).map(({ id }) => ({ id, body: new Uint8Array(2048) }));
  port.postMessage(Array.isArray(batch) ? answers : answers[0], answers.map(({ body }) => body.buffer));
}));`;
const worker = new Worker(ECHO, { eval: true });
const { port1, port2 } = new MessageChannel();
worker.postMessage({ port: port2 }, [port2]);

const BODY_BYTES = 400_000;
const body = new Uint8Array(BODY_BYTES);
const text = 'x'.repeat(BODY_BYTES);
const answered = () => new Promise((resolve) => port1.once('message', resolve));

async function exchange(message, transfer = []) {
  const answer = answered();
  port1.postMessage(message, transfer);
  return answer;
}

group('one call and its answer', () => {
  bench('body transferred', async () => {
    const own = body.slice();
    do_not_optimize(await exchange({ id: 1, body: own }, [own.buffer]));
  });
  bench('body copied', async () => do_not_optimize(await exchange({ id: 1, body })));
  bench('body as a string', async () => do_not_optimize(await exchange({ id: 1, body: text })));
  bench('16 calls in one message', async () => {
    const own = Array.from({ length: 16 }, (_, id) => ({ id, body: body.slice() }));
    const transfer = own.map((call) => call.body.buffer);
    do_not_optimize(await exchange(own, transfer));
  });
});
await run({ format: process.env.MITATA_FORMAT ?? 'mitata' });
port1.close();
await worker.terminate();
