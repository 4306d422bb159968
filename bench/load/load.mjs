// Closed-loop agents: so many at a time, each leads one session turn by turn and sends the whole history every time.
// Every answer is checked against the reply that its prompt chose. Prints one JSON object; see README.md.
//
//   node bench/load/load.mjs --target URL --model DIR --cell 8k [--agents 16] [--protocol chat|messages] [--stream]
//        [--sessions N] [--warm-sessions N] [--warm-s 2] [--seconds 5] [--pid ROOT] [--stats URL]
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { Pool } from 'undici';
import { CELLS, CUE, plannedPrompts } from './cells.mjs';
import { DIALECTS, streamedText } from './dialects.mjs';
import { percentile } from './figures.mjs';
import { machineBusyMs, sleep, usageOf } from './processes.mjs';
import { loadTexts, readOn } from './texts.mjs';
import { loadWords, reply } from './vocabulary.mjs';

const FAILURES_MAX = 10;
const SETTLE_MS = 400;
const STRETCH_MAX = 40;

const { values: args } = parseArgs({
  options: {
    target: { type: 'string' },
    model: { type: 'string' },
    cell: { type: 'string', default: '8k' },
    agents: { type: 'string', default: '16' },
    protocol: { type: 'string', default: 'chat' },
    stream: { type: 'boolean', default: false },
    sessions: { type: 'string' },
    'warm-sessions': { type: 'string' },
    'warm-s': { type: 'string' },
    seconds: { type: 'string', default: '5' },
    pid: { type: 'string' },
    stats: { type: 'string' },
    health: { type: 'string', default: '/healthz' },
    'timeout-s': { type: 'string', default: '300' },
  },
});
const cell = CELLS[args.cell];
const dialect = DIALECTS[args.protocol];
if (!cell || !dialect)
  throw new Error(`no cell "${args.cell}" or protocol "${args.protocol}": ${Object.keys(CELLS)}; ${Object.keys(DIALECTS)}`);
const agents = Number(args.agents);
const least = Math.max(agents, Number(args.sessions ?? cell.sessions));
const vocabulary = loadWords(args.model);
const texts = loadTexts(args.model);
const { frame } = texts;
const replies = vocabulary.tags.map((_, which) => reply(vocabulary, which, cell.replyTokens).text);
const planned = plannedPrompts(cell);
const close = dialect.close(cell.replyTokens, args.stream);
const timeoutMs = Number(args['timeout-s']) * 1000;
const pool = new Pool(args.target, { connections: agents, pipelining: 1, headersTimeout: timeoutMs, bodyTimeout: timeoutMs });

const failures = [];
function fail(what) {
  failures.push(what);
  if (failures.length >= FAILURES_MAX) throw new Error('too many failures');
}

let tally = { turns: 0, promptTokens: 0, latenciesMs: [] };

async function session(number) {
  const headers = { 'content-type': 'application/json', ...dialect.headers(`bench-${number}`) };
  let history = dialect.open;
  let promptTokens = frame.head + frame.assistant;
  let line = number * 997;
  for (let turn = 0; turn < cell.turns; turn++) {
    const piece = readOn(texts, line, Math.max(4, planned[turn] - promptTokens - frame.user));
    const which = (number * 31 + turn * 7) % vocabulary.tags.length;
    line = piece.next;
    promptTokens += piece.tokens + frame.user;
    history += dialect.user(`${piece.text}\n\n${CUE}${vocabulary.tags[which].text}`, turn === 0);
    const from = performance.now();
    const answer = await pool.request({
      method: 'POST',
      path: dialect.path,
      headers: { ...headers, 'x-bench-prompt-tokens': String(promptTokens) },
      body: history + close,
    });
    const body = await answer.body.text();
    tally.latenciesMs.push(performance.now() - from);
    tally.turns++;
    tally.promptTokens += promptTokens;
    if (answer.statusCode !== 200) return fail(`session ${number}, turn ${turn}: ${answer.statusCode} ${body.slice(0, 300)}`);
    let text;
    try {
      text = args.stream ? streamedText(dialect, body) : dialect.textOf(body);
    } catch (error) {
      return fail(`session ${number}, turn ${turn}: ${error.message}: ${body.slice(0, 300)}`);
    }
    if (text !== replies[which]) return fail(`session ${number}, turn ${turn}: the answer is not its own: ${String(text).slice(0, 100)}`);
    history += dialect.assistant(text);
    promptTokens += cell.replyTokens + frame.assistant;
  }
}

let next = 0;
/** Leads whole sessions: at least `count` of them and for so long, at most forty times as many. */
async function lead(count, ms) {
  const first = next;
  const until = performance.now() + ms;
  const more = () => next - first < count || (performance.now() < until && next - first < count * STRETCH_MAX);
  await Promise.all(
    Array.from({ length: agents }, async () => {
      while (more()) await session(next++);
    }),
  );
  return next - first;
}

async function snapshot() {
  const stats = args.stats ? await (await fetch(args.stats)).json() : null;
  return {
    atMs: performance.now(),
    target: args.pid ? usageOf(Number(args.pid)) : null,
    own: process.cpuUsage(),
    busyMs: machineBusyMs(),
    stats,
  };
}

async function measure() {
  const warmMs = args['warm-s'] ? Number(args['warm-s']) * 1000 : Math.min(2000, Number(args.seconds) * 400);
  await lead(Number(args['warm-sessions'] ?? Math.max(1, Math.round(least / 8))), warmMs);
  await sleep(SETTLE_MS);
  tally = { turns: 0, promptTokens: 0, latenciesMs: [] };
  const before = await snapshot();
  const probe = new Worker(new URL('./health-probe.mjs', import.meta.url), { workerData: { url: args.target, path: args.health } });
  await new Promise((resolve) => probe.once('message', resolve));
  const sessions = await lead(least, Number(args.seconds) * 1000);
  const wallMs = performance.now() - before.atMs;
  probe.postMessage('stop');
  const health = await new Promise((resolve) => probe.once('message', resolve));
  await sleep(SETTLE_MS); // what a gateway does after its answers belongs to the turns
  const after = await snapshot();
  if (health.failures > 0) fail(`${health.failures} of ${health.probes} health probes failed`);
  const asked = after.stats && after.stats.requests - before.stats.requests;
  const seen = after.stats && after.stats.promptTokens - before.stats.promptTokens;
  if (asked !== null && asked !== tally.turns) fail(`the engine was asked ${asked} times for ${tally.turns} turns`);
  if (seen !== null && Math.abs(seen / tally.promptTokens - 1) > 0.05)
    fail(`the engine saw ${seen} prompt tokens, planned were ${tally.promptTokens}`);
  tally.latenciesMs.sort((a, b) => a - b);
  return {
    sessions,
    turns: tally.turns,
    wallMs,
    turnsPerS: (tally.turns / wallMs) * 1000,
    sampledTokensPerS: ((tally.turns * cell.replyTokens) / wallMs) * 1000,
    promptTokensPerS: ((seen ?? tally.promptTokens) / wallMs) * 1000,
    promptTokensMean: (seen ?? tally.promptTokens) / tally.turns,
    p50Ms: percentile(tally.latenciesMs, 0.5),
    p95Ms: percentile(tally.latenciesMs, 0.95),
    p99Ms: percentile(tally.latenciesMs, 0.99),
    cpuMsPerTurn: before.target && (after.target.cpuMs - before.target.cpuMs) / tally.turns,
    mbPerSession: before.target && (after.target.rssMb - before.target.rssMb) / sessions,
    rssMb: after.target?.rssMb ?? null,
    otherCores:
      before.target &&
      (after.busyMs -
        before.busyMs -
        (after.target.cpuMs - before.target.cpuMs) -
        (after.own.user + after.own.system - before.own.user - before.own.system) / 1000) /
        (after.atMs - before.atMs),
    health,
  };
}

const about = { cell: args.cell, agents, protocol: args.protocol, stream: args.stream };
let result;
try {
  const figures = await measure();
  result = { ...about, valid: failures.length === 0, failures, ...figures };
} catch (error) {
  result = { ...about, valid: false, failures: [...failures, error.stack] };
}
await pool.destroy();
console.log(JSON.stringify(result));
