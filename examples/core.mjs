// For a program that renders and samples by itself: conversations in, rows out, without server, threads or tokenizer.
import { NO_FACTS, planRows, rowRecords, summarise, TrajectoryTree } from 'rollout-gateway/core';

const tree = new TrajectoryTree();
const root = { model: 'policy', tools: [], templateKwargs: new Map() };
const sampling = {
  maxTokens: 8,
  temperature: 1,
  topP: 1,
  topK: -1,
  minP: 0,
  presencePenalty: 0,
  frequencyPenalty: 0,
  repetitionPenalty: 1,
  seed: null,
  minTokens: 0,
  stopTokenIds: [0],
  stopStrings: [],
};

/** One turn: what was said, the prompt's ids as a whole or behind a recorded turn, and what was sampled. */
function turn(messages, prompt, text, outputIds, logprobs) {
  const located = tree.locate(root, messages);
  const pending = tree.begin({ located, prompt, digest: text, protocol: 'openai-chat', sampling, startedAtMs: Date.now() });
  const message = { role: 'assistant', content: text, reasoning: null, toolCalls: [] };
  pending.finish({
    outputIds: Int32Array.from(outputIds),
    logprobs: Float32Array.from(logprobs),
    message,
    shown: message,
    finishReason: 'stop',
    stop: { kind: 'eos', tokenCount: 1 },
    stopString: null,
    weightVersions: [],
    engine: 'mine',
    replica: 'gpu-0',
    engineRequestId: null,
    logprobBasis: 'raw',
    cachedTokens: null,
    queueMs: null,
    firstTokenMs: null,
    engineMs: null,
    illFormed: false,
    flags: [],
  });
  const committed = pending.commit(Date.now());
  if (!committed.ok) throw new Error(`the turn was not committed: ${committed.reason}`);
  return { record: committed.turn, history: [...messages, message] };
}

const user = (content) => ({ role: 'user', content });
const first = turn([user('Name a river.')], { kind: 'whole', ids: Int32Array.of(1, 2, 3) }, 'Nile', [4, 0], [-0.5, -0.1]);
const behind = { kind: 'extends', base: first.record, delta: Int32Array.of(5, 6), proof: 'exact' };
turn([...first.history, user('Another.')], behind, 'Rhine', [7, 0], [-1, -0.2]);

tree.close();
const plan = planRows(tree.turns);
const facts = { ...NO_FACTS, sessionId: 'rivers', tokenizerHash: 'none', reward: 1 };
for (const row of rowRecords(plan, facts, { decode: (ids) => ids.join(' ') })) {
  console.log(`${row.role}: tokens ${row.token_ids.join(' ')}, mask ${row.loss_mask.join('')} behind ${row.prompt_length}`);
}
console.log(`capture yield ${summarise(tree, plan, 0, 0).capture_yield}`);
