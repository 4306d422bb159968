// npm run bench:loop — one session of a thinking model that keeps its template append-only: does the cost of a turn grow with its history?
//
//   node bench/load/run-long-loop.mjs [--turns 200] [--tokens 370] [--sessions 4] [--svg FILE]
// Every turn thinks, calls a tool and gets a result of about `--tokens` tokens. CPU is that of the gateway's whole process tree.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { markdown, median, short } from './figures.mjs';
import { startOurs } from './gateways.mjs';
import { machine } from './machine.mjs';
import { usageOf } from './processes.mjs';
import { chart } from './svg.mjs';

const dist = new URL(process.env.DIST ?? '../../dist/', import.meta.url);
const { startSimEngine } = await import(new URL('sim/engine-server.js', dist));
const { SIM_MODEL_DIR } = await import(new URL('sim/model-dir.js', dist));
const { values: args } = parseArgs({
  options: {
    turns: { type: 'string', default: '200' },
    tokens: { type: 'string', default: '370' },
    sessions: { type: 'string', default: '4' },
    svg: { type: 'string' },
  },
});
const TURNS = Number(args.turns);
const SPAN = Math.max(1, Math.floor(TURNS / 10));
const RESULT = 'the number of the page is known and the word stands here '.repeat(Math.ceil(Number(args.tokens) / 12));
const sessions = Array.from({ length: Number(args.sessions) }, (_, n) => `loop-${n}`);

const policy = ({ turns }) => {
  const said = turns.filter(({ role }) => role === 'assistant').length;
  return { reasoning: `step ${said} needs a look`, text: `Looking at ${said}.`, calls: [{ name: 'look', arguments: { page: said } }] };
};
const sim = await startSimEngine({ policy, ledgerLimit: 0 });
const gateway = await startOurs({ engines: [sim.url], model: SIM_MODEL_DIR, shards: 1 });
const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: { page: { type: 'integer' } } } } }];
const histories = new Map(sessions.map((id) => [id, [{ role: 'user', content: 'Read the book.' }]]));
const cpuMs = () => usageOf(gateway.program.pid).cpuMs;
const spans = [];
let promptTokens = 0;
try {
  let before = cpuMs();
  for (let turn = 1; turn <= TURNS; turn++) {
    await Promise.all(
      sessions.map(async (id) => {
        const messages = histories.get(id);
        const headers = { authorization: `Bearer ${id}`, 'content-type': 'application/json' };
        const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ model: 'm', messages, tools }),
        });
        const answer = await reply.json();
        if (reply.status !== 200) throw new Error(`turn ${turn}: ${JSON.stringify(answer)}`);
        const { message } = answer.choices[0];
        promptTokens = answer.usage.prompt_tokens;
        messages.push(message, ...message.tool_calls.map((call) => ({ role: 'tool', tool_call_id: call.id, content: RESULT })));
      }),
    );
    if (turn % SPAN > 0) continue;
    const now = cpuMs();
    spans.push([promptTokens, (now - before) / SPAN / sessions.length]);
    before = now;
  }
  const rows = [];
  for (const id of sessions) {
    const finished = await (await fetch(`${gateway.url}/sessions/${id}/finish`, { method: 'POST', body: '{}' })).json();
    rows.push({ rows: finished.traces.length, forks: Object.keys(finished.summary.forks).length, yield: finished.summary.capture_yield });
  }
  console.log(`${Object.values(machine()).join(' · ')}\n`);
  console.log(
    markdown(['prompt tokens', ...spans.map(([tokens]) => short(tokens))], [['CPU ms/turn', ...spans.map(([, ms]) => short(ms))]]),
  );
  const [first, last] = [median(spans.slice(1, 4).map(([, ms]) => ms)), median(spans.slice(-3).map(([, ms]) => ms))];
  console.log(
    `\n${TURNS} turns a session; rows ${rows.map((row) => row.rows).join(', ')}; forks ${rows.map((row) => row.forks).join(', ')}; yield ${rows.map((row) => row.yield).join(', ')}; last ÷ first ${short(last / first)}`,
  );
  if (args.svg)
    writeFileSync(
      args.svg,
      chart({
        title: 'CPU of a turn as one session grows',
        x: 'prompt tokens',
        y: 'CPU ms per turn',
        series: [{ name: 'gateway', points: spans }],
      }),
    );
  if (rows.some((row) => row.rows !== 1 || row.forks > 0 || row.yield !== 1)) process.exitCode = 1;
} finally {
  await gateway.program.stop();
  await sim.close();
}
