// One short turn of a new session every few milliseconds, whatever became of the one before; prints how long each took, from when it was due.
// Every line is a JSON array: when it was due (milliseconds since 1970) and how long it took. A last line counts failures.
//
//   node bench/load/turn-probe.mjs --target URL --sessions FILE [--every-ms 10]
//
// FILE holds the session names to use, a JSON array. Ends with SIGTERM.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { DIALECTS } from './dialects.mjs';

const { values: args } = parseArgs({
  options: { target: { type: 'string' }, sessions: { type: 'string' }, 'every-ms': { type: 'string', default: '10' } },
});
const everyMs = Number(args['every-ms']);
const names = JSON.parse(readFileSync(args.sessions, 'utf8'));
const dialect = DIALECTS.chat;
const body = `${dialect.open}${dialect.user('How many files are in the folder?')}${dialect.close(16, false)}`;
const pool = new Pool(args.target, { connections: 64, pipelining: 1, headersTimeout: 60_000, bodyTimeout: 60_000 });
const now = () => performance.timeOrigin + performance.now();
const lines = [];
let failures = 0;
let running = true;
process.once('SIGTERM', () => {
  running = false;
});

async function turn(due, name) {
  const headers = { 'content-type': 'application/json', ...dialect.headers(name) };
  const answer = await pool.request({ method: 'POST', path: dialect.path, headers, body });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
  lines.push(`[${due.toFixed(1)},${(now() - due).toFixed(2)}]`);
}

const turns = [];
let next = 0;
for (let due = now(); running && next < names.length; due += everyMs) {
  const early = due - now();
  if (early > 0) await sleep(early);
  turns.push(
    turn(due, names[next++]).catch(() => {
      failures++;
    }),
  );
}
await Promise.all(turns);
console.log(`${lines.join('\n')}\n{"failures":${failures}}`);
await pool.destroy();
