/** What a session that keeps its shard busy does to sessions of the same and of another shard. */
import { startInstantEngine, startOurs } from './gateways.mjs';
import { sleep } from './processes.mjs';
import { coldBodies, launchCounting } from './scale-shards.mjs';
import { sessionsOn } from './shard-names.mjs';
import { latenciesIn, now, shownLatencies, startProbing } from './turn-probing.mjs';

const SHARDS = 2;
const TOKENS_PER_BODY = 16_000;

export async function hotPart({ model, seconds }) {
  const bodies = coldBodies(model, 12, Math.min(TOKENS_PER_BODY, seconds * TOKENS_PER_BODY));
  const engine = await startInstantEngine({ model });
  const gateway = await startOurs({ engines: [engine.url], model, shards: SHARDS });
  const rows = [];
  const runs = [];
  const failures = [];
  try {
    for (const [name, hot, probed] of [
      ['nothing else', null, 0],
      ['a hot session on the other shard', 1, 0],
      ['a hot session on the same shard', 0, 0],
    ]) {
      const probing = await startProbing(gateway.url, sessionsOn(probed, SHARDS, `probe-${rows.length}`));
      const from = now();
      let tokensPerS = 0;
      if (hot === null) await sleep(seconds * 1000);
      else {
        const options = ['--target', gateway.url, '--bodies', bodies, '--at-once', 1, '--shards', SHARDS, '--shard', hot];
        const load = launchCounting([...options, '--seconds', seconds]);
        await load.ended;
        const result = JSON.parse(load.stdout.trim() || `{"failures":["it printed nothing"]}`);
        failures.push(...result.failures);
        tokensPerS = result.tokensPerS;
      }
      const span = [from, now()];
      const answered = await probing.end();
      failures.push(...answered.failures);
      const latencies = latenciesIn(answered.turns, [span]);
      rows.push([name, ...shownLatencies(latencies)]);
      runs.push({ name, tokensPerS, latencies });
    }
  } finally {
    await gateway.program.stop();
    await engine.program.stop();
  }
  return {
    title: 'Short turns of other sessions, one every 10 ms, ms',
    head: ['beside', 'turns', 'p50', 'p99', 'max'],
    rows,
    runs,
    failures,
  };
}
