// Cost of recording a turn by the length of the history: a tool loop of 200 turns and 100,000 tokens, the same message objects each time.
// `npm run build && node bench/micro/identity.mjs [loops]`. DIST names another folder of compiled files.
const dist = new URL(process.env.DIST ?? '../../dist/', import.meta.url);
const { TrajectoryTree } = await import(new URL('trajectory/tree.js', dist));

const LOOPS = Number(process.argv.slice(2).find((it) => !it.startsWith('-')) ?? 60);
const TURNS = 200;
const STEP_TOKENS = 436;
const REPLY_TOKENS = 64;
const root = { model: 'policy', tools: [], templateKwargs: new Map() };
const text = 'Some lines of code and prose, as tools return them.\n'.repeat(35);
const steps = ['locate', 'begin', 'prompt ids', 'commit'];
const spent = steps.map(() => new Float64Array(TURNS));

for (let loop = 0; loop < LOOPS; loop++) {
  const tree = new TrajectoryTree();
  const messages = [{ role: 'user', content: `loop ${loop}` }];
  let known;
  for (let turn = 0; turn < TURNS; turn++) {
    const delta = new Int32Array(STEP_TOKENS).fill(turn);
    const base = tree.turns.at(-1);
    const times = [performance.now()];
    const located = tree.locate(root, messages, known);
    times.push(performance.now());
    const prompt = base ? { kind: 'extends', base, delta, proof: 'exact' } : { kind: 'whole', ids: delta };
    const pending = tree.begin({ located, prompt, digest: `${turn}`, protocol: 'openai-chat', sampling: {}, startedAtMs: turn });
    times.push(performance.now());
    pending.promptIds();
    times.push(performance.now());
    const id = `call_${turn}`;
    const reply = {
      role: 'assistant',
      content: null,
      reasoning: 'hm',
      toolCalls: [{ id, name: 'look', arguments: '{}', value: new Map() }],
    };
    pending.finish({
      outputIds: new Int32Array(REPLY_TOKENS).fill(turn),
      logprobs: new Float32Array(REPLY_TOKENS),
      message: reply,
      shown: reply,
      stop: { kind: 'eos', tokenCount: 1 },
      weightVersions: [],
    });
    if (!pending.commit(turn).ok) throw new Error('the turn was not committed');
    times.push(performance.now());
    for (const [i] of steps.entries()) spent[i][turn] += times[i + 1] - times[i];
    messages.push(reply, { role: 'tool', content: `${turn} ${text}`, toolCallId: id, name: null, isError: false });
    known = { located: tree.locate(root, messages, { located, count: located.reached.length }), count: messages.length - 1 };
  }
  if (tree.turns.some((turn, i) => i > 0 && turn.link?.kind !== 'clean')) throw new Error('a turn did not continue the one before');
}

console.log('microseconds a turn, mean of ten turns around it');
console.log(['turn', 'tokens', ...steps].map((it) => it.padStart(10)).join(''));
for (const turn of [15, 45, 95, 145, 195]) {
  const mean = spent.map((times) => times.slice(turn - 5, turn + 5).reduce((a, b) => a + b) / 10 / LOOPS);
  const row = [turn, turn * (STEP_TOKENS + REPLY_TOKENS), ...mean.map((ms) => (ms * 1000).toFixed(1))];
  console.log(row.map((it) => String(it).padStart(10)).join(''));
}
