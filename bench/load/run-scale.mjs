// npm run bench:scale — what shards bring, and what a session suffers from others; see ../README.md.
//
//   node bench/load/run-scale.mjs [--parts shards,hot,cold,crowd] [--shards 1,2] [--seconds 5] [--cold-tokens 128000] [--cold-prompts 10]
//        [--agents 2000] [--model DIR|embedded] [--json FILE]
//
// Exit code 1 when a call fails.
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { markdown } from './figures.mjs';
import { machine } from './machine.mjs';
import { benchModel } from './model.mjs';
import { coldPart } from './scale-cold.mjs';
import { crowdPart } from './scale-crowd.mjs';
import { hotPart } from './scale-hot.mjs';
import { shardsPart } from './scale-shards.mjs';

/** Each gives `{ title, head, rows, runs, failures }`. */
const PARTS = { shards: shardsPart, hot: hotPart, cold: coldPart, crowd: crowdPart };
const { values: args } = parseArgs({
  options: {
    parts: { type: 'string', default: Object.keys(PARTS).join() },
    shards: { type: 'string', default: [...new Set([1, 2, Math.max(2, cpus().length - 1)])].join() },
    seconds: { type: 'string', default: '5' },
    'cold-tokens': { type: 'string', default: '128000' },
    'cold-prompts': { type: 'string', default: '10' },
    agents: { type: 'string', default: '2000' },
    model: { type: 'string' },
    json: { type: 'string' },
  },
});
const options = {
  model: benchModel(args.model),
  shards: args.shards.split(',').map(Number),
  seconds: Number(args.seconds),
  coldTokens: Number(args['cold-tokens']),
  coldPrompts: Number(args['cold-prompts']),
  agents: Number(args.agents),
};
console.log(Object.values(machine()).join(' · '));
const results = {};
for (const name of args.parts.split(',')) {
  if (PARTS[name] === undefined) throw new Error(`no part "${name}": ${Object.keys(PARTS)}`);
  const part = await PARTS[name](options);
  results[name] = part;
  console.log(`\n${part.title}\n\n${markdown(part.head, part.rows)}`);
  for (const failure of part.failures.slice(0, 5)) console.error(`INVALID: ${failure}`);
  if (part.failures.length > 0) process.exitCode = 1;
}
if (args.json) writeFileSync(args.json, `${JSON.stringify({ machine: machine(), options: args, results }, null, 1)}\n`);
