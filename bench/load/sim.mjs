// The simulated engine with the latency model of a real one, saying the replies that prompts choose by their tags.
//
//   node bench/load/sim.mjs --model DIR [--window 256] [--port 0]
import { parseArgs } from 'node:util';
import { loadWords, reply } from './vocabulary.mjs';

const { values: args } = parseArgs({
  options: {
    model: { type: 'string' },
    window: { type: 'string', default: '256' },
    port: { type: 'string', default: '0' },
    seed: { type: 'string', default: '0' },
  },
});
const dist = new URL(process.env.DIST ?? '../../dist/', import.meta.url);
const { startSimEngine } = await import(new URL('sim/engine-server.js', dist));
const { GPU_LATENCY } = await import(new URL('sim/scheduler.js', dist));

const vocabulary = loadWords(args.model);
const prepared = new Map();
function idsOf(which, tokens) {
  const key = `${which}/${tokens}`;
  if (!prepared.has(key)) prepared.set(key, reply(vocabulary, which, tokens).ids);
  return prepared.get(key);
}

const TAIL = 32;
const engine = await startSimEngine({
  modelDir: args.model,
  port: Number(args.port),
  seed: Number(args.seed),
  window: Number(args.window),
  latency: GPU_LATENCY,
  cacheBlocks: 400_000,
  ledgerLimit: 0,
  policy: ({ promptIds, maxTokens }) => {
    const tag = promptIds.subarray(-TAIL).findLast((id) => vocabulary.tagById.has(id));
    return { ids: idsOf(vocabulary.tagById.get(tag) ?? 0, maxTokens), ends: false };
  },
});
console.log(`listening on ${engine.url}`);
process.once('SIGTERM', () => void engine.close());
