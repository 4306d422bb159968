// What this design costs before it does anything: uWebSockets.js front → one piscina thread per shard → undici → engine, with
// bodies of the real sizes. No JSON, no template, no tokens, no record.
// With --limit each turn also does the work that no gateway can leave out: it parses the new bytes of the body and the
// engine's reply, and encodes the new text with the product's own encoder.
//
//   node bench/load/floor.mjs --model DIR --engine URL [--port 0] [--limit]

import { App, us_socket_local_port as localPort } from 'uWebSockets.js';
import { parseArgs } from 'node:util';
import { Piscina } from 'piscina';

const { values: args } = parseArgs({
  options: {
    model: { type: 'string' },
    engine: { type: 'string' },
    port: { type: 'string', default: '0' },
    limit: { type: 'boolean', default: false },
  },
});
const shard = new Piscina({
  filename: new URL('./floor-shard.mjs', import.meta.url).href,
  minThreads: 1,
  maxThreads: 1,
  concurrentTasksPerWorker: 4096,
  atomics: 'disabled',
  workerData: args,
});
await shard.run(null); // loaded before the first turn

App()
  .get('/healthz', (response) => response.end('{"status":"ok"}'))
  .post('/v1/chat/completions', (response, request) => {
    const key = request.getHeader('authorization');
    const promptTokens = Number(request.getHeader('x-bench-prompt-tokens'));
    const body = new Uint8Array(Number(request.getHeader('content-length')));
    let used = 0;
    let gone = false;
    response.onAborted(() => {
      gone = true;
    });
    response.onData((chunk, last) => {
      body.set(new Uint8Array(chunk), used);
      used += chunk.byteLength;
      if (!last) return;
      shard.run({ key, body, promptTokens }, { transferList: [body.buffer] }).then(
        (answer) => gone || response.cork(() => response.writeHeader('content-type', 'application/json').end(answer)),
        (error) => gone || response.cork(() => response.writeStatus('502 Bad Gateway').end(error.stack)),
      );
    });
  })
  .listen('127.0.0.1', Number(args.port), (socket) => {
    if (!socket) throw new Error(`port ${args.port} is taken`);
    console.log(`listening on http://127.0.0.1:${localPort(socket)}`);
  });
