// Asks for turns of a session that is over, on keep-alive connections without pipelining, and counts the refusals.
// Raw sockets: answers of one run have one length, so none needs to be parsed.
//
//   node bench/load/refusal-load.mjs --target URL --key KEY [--connections 32] [--seconds 3] [--body-bytes 1000]
import { connect } from 'node:net';
import { parseArgs } from 'node:util';

const { values: args } = parseArgs({
  options: {
    target: { type: 'string' },
    key: { type: 'string' },
    connections: { type: 'string', default: '32' },
    seconds: { type: 'string', default: '3' },
    'body-bytes': { type: 'string', default: '1000' },
  },
});
const { hostname, port } = new URL(args.target);
const body = 'x'.repeat(Number(args['body-bytes']));
const request = Buffer.from(
  `POST /v1/messages HTTP/1.1\r\nhost: ${hostname}\r\nx-api-key: ${args.key}\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
);
const STATUS = 'HTTP/1.1 403 ';
const failures = [];
let answerLength = 0;
let answers = 0;
let isRunning = true;

/** Resolves when the run is over and its last answer has come. */
const agent = () =>
  new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let received = 0;
    const fail = (why) => {
      failures.push(why);
      socket.destroy();
      resolve();
    };
    socket.on('connect', () => socket.write(request));
    socket.on('error', (error) => fail(error.message));
    socket.on('close', () => resolve());
    socket.on('data', (chunk) => {
      if (received === 0 && chunk.latin1Slice(0, STATUS.length) !== STATUS) return fail(chunk.toString().slice(0, 300));
      if (answerLength === 0) answerLength = lengthOf(chunk.toString());
      received += chunk.length;
      if (received < answerLength) return;
      if (received > answerLength) return fail(`an answer has ${received} bytes, the first one had ${answerLength}`);
      received = 0;
      answers++;
      if (isRunning) socket.write(request);
      else socket.end();
    });
  });

function lengthOf(text) {
  const [head] = text.split('\r\n\r\n');
  return head.length + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1]);
}

const agents = Array.from({ length: Number(args.connections) }, agent);
const { user, system } = process.cpuUsage();
const startedMs = performance.now();
await new Promise((resolve) => setTimeout(resolve, Number(args.seconds) * 1000));
isRunning = false;
const seconds = (performance.now() - startedMs) / 1000;
const counted = answers;
const spent = process.cpuUsage({ user, system });
await Promise.all(agents);
console.log(
  JSON.stringify({
    valid: failures.length === 0 && counted > 0,
    failures: failures.slice(0, 3),
    answers: counted,
    answerBytes: answerLength,
    perSecond: counted / seconds,
    loadBusy: (spent.user + spent.system) / 1e6 / seconds,
  }),
);
