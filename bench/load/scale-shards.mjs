/** How the work of the shards alone grows with their number: prompts that their sessions never said are counted, without an engine's turn. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { benchFolder } from './bench-folder.mjs';
import { coldPrompts } from './cold-prompts.mjs';
import { short } from './figures.mjs';
import { startInstantEngine, startOurs } from './gateways.mjs';
import { launch, machineBusyMs, usageOf } from './processes.mjs';

const BODIES = 24;
const TOKENS_PER_BODY = 16_000;
const CALLS_PER_SHARD = 3;

/** A folder of such bodies. */
export function coldBodies(model, count, tokens) {
  const folder = join(benchFolder(), 'bodies');
  mkdirSync(folder);
  const make = coldPrompts(model);
  for (let seed = 1; seed <= count; seed++) {
    const body = make({ tokens, messages: 1 + 2 * Math.ceil(tokens / 1000), seed, protocol: 'messages' });
    writeFileSync(join(folder, `${String(seed).padStart(3, '0')}.json`), body);
  }
  return folder;
}

export const launchCounting = (args) =>
  launch(process.execPath, [fileURLToPath(new URL('./count-load.mjs', import.meta.url)), ...args.map(String)]);

export async function shardsPart({ model, shards, seconds }) {
  const bodies = coldBodies(model, BODIES, Math.min(TOKENS_PER_BODY, seconds * TOKENS_PER_BODY));
  const runs = [];
  const failures = [];
  for (const count of shards) {
    const engine = await startInstantEngine({ model });
    const gateway = await startOurs({ engines: [engine.url], model, shards: count });
    try {
      const options = ['--target', gateway.url, '--bodies', bodies, '--at-once', count * CALLS_PER_SHARD, '--shards', count];
      await launchCounting([...options, '--seconds', Math.max(0.5, seconds / 5)]).ended;
      const before = { ...usageOf(gateway.program.pid), busyMs: machineBusyMs() };
      const load = launchCounting([...options, '--seconds', seconds]);
      await load.ended;
      const printed = load.stdout.trim();
      if (printed === '') failures.push(load.output.slice(-500));
      const result = JSON.parse(printed || '{"failures":[],"tokens":0,"seconds":1}');
      const cpuMs = usageOf(gateway.program.pid).cpuMs - before.cpuMs;
      failures.push(...result.failures);
      runs.push({ shards: count, ...result, cpuMs, cores: cpuMs / result.seconds / 1000, busyMs: machineBusyMs() - before.busyMs });
    } finally {
      await gateway.program.stop();
      await engine.program.stop();
    }
  }
  const first = runs[0];
  return {
    title: `CPU-bound work by shards: token counts of prompts that their sessions never said, ${CALLS_PER_SHARD} calls a shard at a time`,
    head: ['shards', 'prompt tokens/s', '÷ one shard', 'CPU ms per 1,000 tokens', 'cores of the gateway', 'cores of the rest'],
    rows: runs.map((run) => [
      run.shards,
      short(run.tokensPerS),
      short(run.tokensPerS / first.tokensPerS),
      short((run.cpuMs / run.tokens) * 1000),
      short(run.cores),
      short((run.busyMs - run.cpuMs) / run.seconds / 1000),
    ]),
    runs,
    failures,
  };
}
