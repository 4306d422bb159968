// Closed-loop agents that never stop, through the gateway or straight to the engines; measures what the engines do meanwhile.
// Prints one JSON object.
//
//   node bench/load/saturate.mjs --model DIR --engines URL,URL --agents 64 [--target URL] [--warm-s 10] [--seconds 20]
//
// Without --target the agents speak token ids to the engines, each agent to one of them: the placement that is best for the
// prefix caches, and queues that are kept full without a gateway in between.
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { Pool } from 'undici';
import { CUE } from './cells.mjs';
import { DIALECTS } from './dialects.mjs';
import { percentile } from './figures.mjs';
import { sleep } from './processes.mjs';
import { loadTexts, readOn } from './texts.mjs';
import { loadWords, reply } from './vocabulary.mjs';

const { values: args } = parseArgs({
  options: {
    model: { type: 'string' },
    engines: { type: 'string' },
    target: { type: 'string' },
    agents: { type: 'string', default: '64' },
    'warm-s': { type: 'string', default: '10' },
    seconds: { type: 'string', default: '20' },
    turns: { type: 'string', default: '8' },
    'step-tokens': { type: 'string', default: '400' },
    'reply-tokens': { type: 'string', default: '128' },
  },
});
const agents = Number(args.agents);
const turns = Number(args.turns);
const stepTokens = Number(args['step-tokens']);
const replyTokens = Number(args['reply-tokens']);
const engines = args.engines.split(',');
const vocabulary = loadWords(args.model);
const replies = vocabulary.tags.map((_, which) => reply(vocabulary, which, replyTokens).text);
const poolOf = (url, connections) => new Pool(url, { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
const pools = args.target ? [poolOf(args.target, agents)] : engines.map((url) => poolOf(url, Math.ceil(agents / engines.length)));
const texts = loadTexts(args.model);
const { frame } = texts;
const failures = [];
const latenciesMs = [];
let running = true;

async function post(pool, path, headers, body) {
  const from = performance.now();
  const answer = await pool.request({ method: 'POST', path, headers: { 'content-type': 'application/json', ...headers }, body });
  const text = await answer.body.text();
  latenciesMs.push(performance.now() - from);
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${text.slice(0, 200)}`);
  return text;
}

/** A session in Chat Completions, the whole history with every turn. */
async function chatSession(number) {
  const dialect = DIALECTS.chat;
  const close = dialect.close(replyTokens, false);
  let history = dialect.open;
  let line = number * 997;
  for (let turn = 0; turn < turns && running; turn++) {
    const piece = readOn(texts, line, stepTokens - frame.user);
    const which = (number * 31 + turn * 7) % vocabulary.tags.length;
    line = piece.next;
    history += dialect.user(`${piece.text}\n\n${CUE}${vocabulary.tags[which].text}`);
    const text = dialect.textOf(await post(pools[0], dialect.path, dialect.headers(`saturate-${number}`), history + close));
    if (text !== replies[which]) throw new Error(`session ${number}, turn ${turn}: the answer is not its own`);
    history += dialect.assistant(text);
  }
}

/** The same in token ids: as many per turn, always with the same engine. */
async function idSession(number, agent) {
  const ids = Array.from({ length: frame.head }, (_, i) => vocabulary.words[i % vocabulary.words.length].id);
  for (let turn = 0; turn < turns && running; turn++) {
    for (let i = 0; i < stepTokens; i++) ids.push(vocabulary.words[(number * 131 + turn * 17 + i * 31) % vocabulary.words.length].id);
    const body = JSON.stringify({
      token_ids: ids,
      sampling_params: { max_tokens: replyTokens, temperature: 1, logprobs: 0, detokenize: false },
    });
    const answer = JSON.parse(await post(pools[agent % pools.length], '/inference/v1/generate', {}, body));
    ids.push(...answer.choices[0].token_ids);
  }
}

let next = 0;
const all = Array.from({ length: agents }, async (_, agent) => {
  while (running && failures.length < 10) {
    const number = next++;
    await (args.target ? chatSession(number) : idSession(number, agent)).catch((error) => running && failures.push(error.message));
  }
});

async function counters() {
  const each = await Promise.all(engines.map(async (url) => (await fetch(`${url}/sim/counters`)).json()));
  const sum = (name) => each.reduce((total, it) => total + it[name], 0);
  return {
    atMs: performance.now(),
    decoded: sum('decodedTokens'),
    busyMs: sum('busyMs'),
    queries: sum('prefixQueries'),
    hits: sum('prefixHits'),
  };
}

await sleep(Number(args['warm-s']) * 1000);
latenciesMs.length = 0;
const probe = args.target
  ? new Worker(new URL('./health-probe.mjs', import.meta.url), { workerData: { url: args.target, path: '/healthz' } })
  : null;
if (probe) await new Promise((resolve) => probe.once('message', resolve));
const before = await counters();
await sleep(Number(args.seconds) * 1000);
const after = await counters();
probe?.postMessage('stop');
const health = probe && (await new Promise((resolve) => probe.once('message', resolve)));
running = false;
latenciesMs.sort((a, b) => a - b);
const wallMs = after.atMs - before.atMs;
if (latenciesMs.length === 0) failures.push('no turn ended while it was measured');
console.log(
  JSON.stringify({
    valid: failures.length === 0,
    failures,
    agents,
    through: args.target ? 'gateway' : 'direct',
    sampledTokensPerS: ((after.decoded - before.decoded) / wallMs) * 1000,
    windowUse: (after.busyMs - before.busyMs) / wallMs / engines.length,
    prefixHitShare: (after.hits - before.hits) / (after.queries - before.queries),
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    health,
  }),
);
await Promise.all(pools.map((pool) => pool.destroy()));
await Promise.all(all);
process.exit(0);
