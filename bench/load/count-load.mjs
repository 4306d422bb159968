// Counts tokens of prompts that their sessions never said, over and over: work of the shards alone, without an engine. Prints one JSON object.
//
//   node bench/load/count-load.mjs --target URL --bodies FOLDER --at-once 4 [--seconds 5] [--shards 2] [--shard 0]
//
// The calls of one worker go to one shard, each to another session; with --shard all go to that one.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { sessionsOn } from './shard-names.mjs';

const { values: args } = parseArgs({
  options: {
    target: { type: 'string' },
    bodies: { type: 'string' },
    'at-once': { type: 'string', default: '4' },
    seconds: { type: 'string', default: '5' },
    shards: { type: 'string', default: '1' },
    shard: { type: 'string' },
  },
});
const atOnce = Number(args['at-once']);
const shards = Number(args.shards);
const bodies = readdirSync(args.bodies)
  .sort()
  .map((name) => readFileSync(join(args.bodies, name)));
const pool = new Pool(args.target, { connections: atOnce, pipelining: 1, headersTimeout: 60_000, bodyTimeout: 60_000 });
const until = performance.now() + Number(args.seconds) * 1000;
let calls = 0;
let tokens = 0;
const failures = [];

async function work(worker) {
  const shard = args.shard === undefined ? worker % shards : Number(args.shard);
  const names = sessionsOn(shard, shards, `count-${worker}`);
  for (let at = worker; performance.now() < until && failures.length < 10; at += atOnce) {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${names.next().value}` };
    const path = '/v1/messages/count_tokens';
    const answer = await pool.request({ method: 'POST', path, headers, body: bodies[at % bodies.length] });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) failures.push(`${answer.statusCode} ${text.slice(0, 200)}`);
    else {
      calls++;
      tokens += JSON.parse(text).input_tokens;
    }
  }
}

const from = performance.now();
await Promise.all(Array.from({ length: atOnce }, (_, worker) => work(worker)));
const seconds = (performance.now() - from) / 1000;
console.log(JSON.stringify({ calls, tokens, seconds, tokensPerS: tokens / seconds, failures }));
await pool.destroy();
