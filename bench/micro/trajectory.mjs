// A session of 25 turns and 100,000 tokens: finding its history again, making its rows, encoding them.
// `npm run build && node bench/micro/trajectory.mjs`. DIST names another folder of compiled files.
import { bench, do_not_optimize, group, run } from 'mitata';

const dist = new URL(process.env.DIST ?? '../../dist/', import.meta.url);
const load = (path) => import(new URL(path, dist));
const { TrajectoryTree } = await load('trajectory/tree.js');
const { planRows, summarise } = await load('trajectory/rows.js');
const { NO_FACTS, rowRecords } = await load('trajectory/row-record.js');
const { encodeSession } = await load('shard/trace-msgpack.js');

const TURNS = 25;
const STEP_TOKENS = 3872;
const REPLY_TOKENS = 128;
const root = { model: 'policy', tools: [], templateKwargs: new Map() };
const sampling = {
  maxTokens: REPLY_TOKENS,
  temperature: 1,
  topP: 1,
  topK: -1,
  minP: 0,
  presencePenalty: 0,
  frequencyPenalty: 0,
  repetitionPenalty: 1,
  seed: null,
  minTokens: 0,
  stopTokenIds: [151_645],
  stopStrings: [],
};
const said = (turn) => `Answer number ${turn}. ${'It says something of about this length. '.repeat(12)}`;
const asked = (turn) => ({
  role: 'user',
  content: `Question number ${turn}. ${'Some lines of code and prose, as tools return them.\n'.repeat(290)}`,
});
const reply = (turn) => ({ role: 'assistant', content: said(turn), reasoning: null, toolCalls: [] });

const tree = new TrajectoryTree();
const messages = [];
for (let turn = 0; turn < TURNS; turn++) {
  messages.push(asked(turn));
  const delta = Int32Array.from({ length: STEP_TOKENS }, (_, i) => (i * 31 + turn) % 151_000);
  const base = tree.turns.at(-1);
  const prompt = base ? { kind: 'extends', base, delta, proof: 'exact' } : { kind: 'whole', ids: delta };
  const located = tree.locate(root, [...messages]);
  const pending = tree.begin({ located, prompt, digest: `d${turn}`, protocol: 'openai-chat', sampling, startedAtMs: turn * 10 });
  const message = reply(turn);
  pending.finish({
    outputIds: Int32Array.from({ length: REPLY_TOKENS }, (_, i) => (i * 17 + turn) % 151_000),
    logprobs: new Float32Array(REPLY_TOKENS).fill(-0.5),
    message,
    shown: message,
    finishReason: 'stop',
    stop: { kind: 'eos', tokenCount: 1 },
    stopString: null,
    weightVersions: [],
    engine: 'vllm',
    replica: 'http://engine',
    engineRequestId: `r${turn}`,
    logprobBasis: 'raw',
    cachedTokens: null,
    queueMs: null,
    firstTokenMs: null,
    engineMs: null,
    illFormed: false,
    flags: [],
  });
  if (!pending.commit(turn * 10 + 5).ok) throw new Error('the turn was not committed');
  messages.push(message);
}

const facts = { ...NO_FACTS, sessionId: 'bench', tokenizerHash: '0' };
const rows = () => rowRecords(planRows(tree.turns), facts, { decode: () => '' });
const finished = { session_id: 'bench', traces: rows(), summary: summarise(tree, planRows(tree.turns), 0, 1) };
// a request brings copies of all messages, parsed anew
const copies = JSON.parse(JSON.stringify(messages));
const located = tree.locate(root, messages);
const mine = [...messages, asked(TURNS)];

group('identity', () => {
  bench('find 50 messages by what they say', () => do_not_optimize(tree.locate(root, copies)));
  bench('find one new message after 50 known ones', () => do_not_optimize(tree.locate(root, mine, { located, count: messages.length })));
});
group('rows', () => {
  bench('make the row of 100,000 tokens', () => do_not_optimize(rows()));
  for (const encoding of ['json', 'msgpack']) bench(`encode it as ${encoding}`, () => do_not_optimize(encodeSession(finished, encoding)));
});
await run({ format: process.env.MITATA_FORMAT ?? 'mitata' });
