// Agents and a trainer that keep a gateway busy for long: sessions are created, run, finished or deleted, leased, acknowledged.
// Ends with SIGTERM and then prints one JSON object.
//
//   node bench/load/churn-agents.mjs --target URL --model DIR [--agents 16]
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { CELLS, CUE, plannedPrompts } from './cells.mjs';
import { DIALECTS } from './dialects.mjs';
import { loadTexts, readOn } from './texts.mjs';
import { loadWords, reply } from './vocabulary.mjs';

/** One session in so many is long, is deleted before its end, has a turn whose client leaves. */
const LONG_EVERY = 8;
const DELETED_EVERY = 11;
const LEFT_EVERY = 5;
const FAILURES_MAX = 10;

const { values: args } = parseArgs({
  options: { target: { type: 'string' }, model: { type: 'string' }, agents: { type: 'string', default: '16' } },
});
const agents = Number(args.agents);
const vocabulary = loadWords(args.model);
const texts = loadTexts(args.model);
const { frame } = texts;
const pool = new Pool(args.target, { connections: agents + 4, pipelining: 1, headersTimeout: 60_000, bodyTimeout: 60_000 });
const counts = { sessions: 0, turns: 0, left: 0, deleted: 0, finished: 0, leased: 0, acknowledged: 0, rows: 0 };
const failures = [];
let running = true;
process.once('SIGTERM', () => {
  running = false;
});

async function call(method, path, body, headers = {}) {
  const head = { 'content-type': 'application/json', ...headers };
  const answer = await pool.request({ method, path, headers: head, body }).catch((error) => {
    throw new Error(`${method} ${path} of ${Object.values(headers)[0] ?? 'the trainer'}: ${error.message}`);
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 200)}`);
  return text;
}

/** Sends a turn and leaves before its answer. */
async function leave(path, body, headers) {
  const abort = new AbortController();
  const sent = pool.request({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', ...headers },
    body,
    signal: abort.signal,
  });
  setImmediate(() => abort.abort());
  await sent.then((answer) => answer.body.dump()).catch(() => {});
  counts.left++;
}

async function session(number) {
  const id = `churn-${number}`;
  const dialect = number % 2 === 0 ? DIALECTS.chat : DIALECTS.messages;
  const cell = CELLS[number % LONG_EVERY === 0 ? '8k' : '1k'];
  const close = dialect.close(cell.replyTokens, false);
  await call('POST', '/sessions', JSON.stringify({ session_id: id, group_id: `group-${number >> 3}`, metadata: { number } }));
  counts.sessions++;
  let history = dialect.open;
  let promptTokens = frame.head + frame.assistant;
  let line = number * 997;
  for (const [turn, planned] of plannedPrompts(cell).entries()) {
    const piece = readOn(texts, line, Math.max(4, planned - promptTokens - frame.user));
    const which = (number * 31 + turn * 7) % vocabulary.tags.length;
    line = piece.next;
    promptTokens += piece.tokens + frame.user;
    history += dialect.user(`${piece.text}\n\n${CUE}${vocabulary.tags[which].text}`, turn === 0);
    if (turn === 2 && number % LEFT_EVERY === 0) await leave(dialect.path, history + close, dialect.headers(id));
    const text = dialect.textOf(await call('POST', dialect.path, history + close, dialect.headers(id)));
    if (text !== reply(vocabulary, which, cell.replyTokens).text)
      throw new Error(`session ${number}, turn ${turn}: the answer is not its own`);
    counts.turns++;
    history += dialect.assistant(text);
    promptTokens += cell.replyTokens + frame.assistant;
    if (turn === 1 && number % DELETED_EVERY === 0) {
      await call('DELETE', `/sessions/${id}`);
      counts.deleted++;
      return;
    }
  }
  // A third is acknowledged by its finish, a third by its id, a third is left to the lease.
  const ack = number % 3 === 0;
  const finished = JSON.parse(await call('POST', `/sessions/${id}/finish`, JSON.stringify({ reward: 1, ack })));
  counts.finished++;
  counts.rows += finished.traces.length;
  if (finished.summary.capture_yield !== 1) throw new Error(`session ${number}: capture yield ${finished.summary.capture_yield}`);
  if (number % 3 === 1) counts.acknowledged += JSON.parse(await call('POST', '/traces/ack', JSON.stringify({ session_ids: [id] }))).acked;
  if (ack) counts.acknowledged++;
}

async function trainer() {
  for (let idle = false; running || !idle; ) {
    const leased = JSON.parse(await call('GET', '/traces?max=50&wait_ms=200'));
    idle = leased.lease_id === null;
    if (idle) continue;
    counts.leased += leased.sessions.length;
    counts.acknowledged += JSON.parse(await call('POST', '/traces/ack', JSON.stringify({ lease_id: leased.lease_id }))).acked;
  }
}

const failed = (error) => failures.push(error.message);
let next = 0;
const all = Array.from({ length: agents }, async () => {
  while (running && failures.length < FAILURES_MAX) await session(next++).catch(failed);
});
const fetching = trainer().catch(failed);
await Promise.all(all);
running = false;
await fetching;
await sleep(100);
console.log(JSON.stringify({ ...counts, failures }));
await pool.destroy();
