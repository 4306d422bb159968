// A server that answers every request with the same bytes and looks at nothing: what the library and the machine cost.
//
//   node bench/load/refusal-floor.mjs --answer '{"status": "403 Forbidden", "headers": [["name", "value"]], "body": "…"}'
import { App, us_socket_local_port as localPort } from 'uWebSockets.js';
import { parseArgs } from 'node:util';

const { values: args } = parseArgs({ options: { answer: { type: 'string' } } });
const { status, headers, body } = JSON.parse(args.answer);

App()
  .any('/*', (response) => {
    response.writeStatus(status);
    for (const [name, value] of headers) response.writeHeader(name, value);
    response.end(body);
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (!socket) throw new Error('no port is free');
    console.log(`listening on http://127.0.0.1:${localPort(socket)}`);
  });
