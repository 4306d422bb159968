// Memory of recorded sessions: 1,000 sessions of 20 turns and 32,000 tokens, then freed.
// `npm run build && node --expose-gc bench/micro/rows-memory.mjs [sessions]`. DIST names another folder of compiled files.
const dist = new URL(process.env.DIST ?? '../../dist/', import.meta.url);
const { TrajectoryTree } = await import(new URL('trajectory/tree.js', dist));

const SESSIONS = Number(process.argv.slice(2).find((it) => !it.startsWith('-')) ?? 1000);
const TURNS = 20;
const STEP_TOKENS = 1472;
const REPLY_TOKENS = 128;
const root = { model: 'policy', tools: [], templateKwargs: new Map() };
const sampling = { maxTokens: REPLY_TOKENS, temperature: 1, topP: 1, topK: -1, minP: 0, presencePenalty: 0, frequencyPenalty: 0 };

function used() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return { heapUsed, arrayBuffers };
}

/** One session; texts are a few words, so that what is measured is what the tree adds to them. */
function session(n) {
  const tree = new TrajectoryTree();
  const messages = [];
  for (let turn = 0; turn < TURNS; turn++) {
    messages.push({ role: 'user', content: `question ${n} ${turn}` });
    const base = tree.turns.at(-1);
    const delta = new Int32Array(STEP_TOKENS).fill(turn);
    const prompt = base ? { kind: 'extends', base, delta, proof: 'exact' } : { kind: 'whole', ids: delta };
    const located = tree.locate(root, [...messages]);
    const pending = tree.begin({ located, prompt, digest: `${turn}`, protocol: 'openai-chat', sampling, startedAtMs: turn });
    const message = {
      role: 'assistant',
      content: `answer ${n} ${turn}`,
      reasoning: null,
      toolCalls: [{ id: tree.callIds.issue(Math.random), name: 'look', arguments: '{}', value: new Map() }],
    };
    pending.finish({
      outputIds: new Int32Array(REPLY_TOKENS).fill(7),
      logprobs: new Float32Array(REPLY_TOKENS).fill(-0.5),
      message,
      shown: message,
      finishReason: 'tool_calls',
      stop: { kind: 'eos', tokenCount: 1 },
      stopString: null,
      weightVersions: [{ version: '1', start: 0, end: REPLY_TOKENS }],
      engine: 'vllm',
      replica: 'http://engine',
      engineRequestId: `cmpl-${n}-${turn}`,
      logprobBasis: 'raw',
      cachedTokens: 0,
      queueMs: 1,
      firstTokenMs: 2,
      engineMs: 3,
      illFormed: false,
      flags: [],
    });
    if (!pending.commit(turn).ok) throw new Error('the turn was not committed');
    messages.push(message);
  }
  return tree;
}

session(-1);
const before = used();
let trees = Array.from({ length: SESSIONS }, (_, n) => session(n));
const full = used();
const tokens = SESSIONS * TURNS * (STEP_TOKENS + REPLY_TOKENS);
const nodes = trees.reduce((sum, tree) => sum + tree.nodes.length, 0);
trees = null;
const after = used();

const arrays = full.arrayBuffers - before.arrayBuffers;
const heap = full.heapUsed - before.heapUsed;
const mb = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
console.log(`${SESSIONS} sessions, ${TURNS} turns and ${tokens / SESSIONS} tokens each, ${nodes} messages`);
console.log(`ids and logprobs: ${mb(arrays)}, ${(arrays / tokens).toFixed(2)} bytes a token`);
console.log(`everything else:  ${mb(heap)}, ${(heap / nodes).toFixed(0)} bytes a message, texts and calls included`);
console.log(`together:         ${((arrays + heap) / tokens).toFixed(2)} bytes a token`);
console.log(`left after the sessions are dropped: ${mb(after.arrayBuffers - before.arrayBuffers + after.heapUsed - before.heapUsed)}`);
