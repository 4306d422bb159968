/** How long other sessions of a shard wait while a long prompt comes that nothing is known of. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'undici';
import { benchFolder } from './bench-folder.mjs';
import { coldPrompts } from './cold-prompts.mjs';
import { percentile, short } from './figures.mjs';
import { startInstantEngine, startOurs } from './gateways.mjs';
import { sleep } from './processes.mjs';
import { sessionsOn } from './shard-names.mjs';
import { latenciesIn, now, shownLatencies, startProbing } from './turn-probing.mjs';

/** Messages of one prompt, and how many prompts come at once. */
const SHAPES = [
  { messages: 1, atOnce: 1 },
  { messages: 401, atOnce: 1 },
  { messages: 3001, atOnce: 1 },
  { messages: 401, atOnce: 8 },
];
const PAUSE_MS = 400;
/** The reply is committed after it was answered. */
const SETTLE_MS = 100;

export async function coldPart({ model, coldTokens, coldPrompts: count }) {
  const make = coldPrompts(model);
  const rows = [];
  const runs = [];
  const failures = [];
  for (const { messages, atOnce } of SHAPES) {
    // The heavy prompts go to an engine of their own, so that only the gateway can be what the others wait for.
    const engines = [await startInstantEngine({ model }), await startInstantEngine({ model })];
    const watch = join(benchFolder(), 'loop');
    const urls = engines.map(({ url }) => url);
    const gateway = await startOurs({ engines: urls, model, shards: 1, watch });
    const pool = new Pool(gateway.url, { connections: atOnce, headersTimeout: 60_000, bodyTimeout: 60_000 });
    try {
      const bodies = Array.from({ length: count * atOnce }, (_, at) => make({ tokens: coldTokens, messages, seed: at + 1 }));
      const heavy = sessionsOn(0, 1, 'heavy', urls[0], urls);
      const probing = await startProbing(gateway.url, sessionsOn(0, 1, 'probe', urls[1], urls), 5);
      const spans = [];
      let promptTokens = 0;
      for (let at = 0; at < bodies.length; at += atOnce) {
        const from = now();
        await Promise.all(
          bodies.slice(at, at + atOnce).map(async (body) => {
            const headers = { 'content-type': 'application/json', authorization: `Bearer ${heavy.next().value}` };
            const answer = await pool.request({ method: 'POST', path: '/v1/chat/completions', headers, body });
            const text = await answer.body.text();
            if (answer.statusCode !== 200) failures.push(`${answer.statusCode} ${text.slice(0, 300)}`);
            else promptTokens = JSON.parse(text).usage.prompt_tokens;
          }),
        );
        spans.push([from, now()]);
        await sleep(PAUSE_MS);
      }
      const probed = await probing.end();
      failures.push(...probed.failures);
      const usual = latenciesIn(probed.turns, spans, true);
      const beside = latenciesIn(probed.turns, spans);
      const tookMs = spans.map(([from, to]) => to - from).sort((a, b) => a - b);
      const turns = existsSync(watch)
        ? readFileSync(watch, 'utf8')
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line))
        : [];
      const longest = spans.map((span) => longestTurn(turns, span));
      const later = longest.slice(1).sort((a, b) => a - b);
      rows.push([
        `${atOnce} × ${short(promptTokens)} tokens in ${messages} message${messages === 1 ? '' : 's'}`,
        short(percentile(tookMs, 0.5)),
        shownLatencies(usual).slice(1).join(' / '),
        shownLatencies(beside).slice(1).join(' / '),
        shownTurn(longest[0]),
        `${shownTurn(later.length === 0 ? undefined : percentile(later, 0.5))} / ${shownTurn(later.at(-1))}`,
      ]);
      runs.push({ messages, atOnce, promptTokens, tookMs, usual, beside, longest });
    } finally {
      await pool.destroy();
      await gateway.program.stop();
      for (const { program } of engines) await program.stop();
    }
  }
  return {
    title: 'Short turns of other sessions on the same shard, one every 5 ms, beside prompts that nothing is known of, ms',
    head: [
      'cold prompts',
      'they took',
      'others, else: p50 / p99 / max',
      'others, meanwhile: p50 / p99 / max',
      'longest turn of the loop, CPU ms: first prompts',
      'later ones: median / worst',
    ],
    rows,
    runs,
    failures,
  };
}

/** Shorter turns are not noted. */
const shownTurn = (cpuMs) => (cpuMs === undefined ? '–' : cpuMs === 0 ? 'none over 8 ms' : short(cpuMs));

/** CPU time of the longest turn of the shard's event loop that ended in the span, or soon after it. */
function longestTurn(turns, [from, to]) {
  return turns.reduce((longest, [ended, , cpuMs]) => (ended > from && ended < to + SETTLE_MS ? Math.max(longest, cpuMs) : longest), 0);
}
