// Reading the request of a tool loop whose body grows by about 4 KB a turn up to about 400 KB, in both protocols, with the tools
// behind the history as Claude Code sends them: anew (`shortcuts: false`) and against the bodies before it.
// `npm run build && node --expose-gc bench/micro/body.mjs [rounds]`. DIST names another folder of compiled files.
const dist = new URL(process.env.DIST ?? '../../dist/', import.meta.url);
const { RequestReaders } = await import(new URL('shard/request-readers.js', dist));
const { createProtocols } = await import(new URL('protocols/registry.js', dist));

const protocols = createProtocols({ reasoning: 'reasoning_content' });
const code = Array.from({ length: 36 }, (_, i) => `    if (row["k${i}"] !== undefined) {\n\t\treturn "value → " + row.k${i};\n    }`).join(
  '\n',
);
const words = (i, bytes) => `${i}\n${code}`.slice(0, bytes);
const schema = {
  type: 'object',
  properties: { path: { type: 'string', description: 'Where the file stands, from the root.' }, offset: { type: 'integer', minimum: 0 } },
  required: ['path'],
};

/** Bodies of the turns of one conversation. `marker` sets a cache marker on the last entry of each, as Claude Code does. */
const dialects = {
  'openai-chat': (turns) => {
    const messages = [{ role: 'system', content: 'You are a careful engineer. '.repeat(150) }];
    const tools = Array.from({ length: 20 }, (_, i) => ({
      type: 'function',
      function: { name: `tool_${i}`, description: 'Does a thing. '.repeat(20), parameters: schema },
    }));
    return Array.from({ length: turns }, (_, i) => {
      if (i === 0) messages.push({ role: 'user', content: 'Fix it.' });
      else {
        const call = {
          id: `call_${i}`,
          type: 'function',
          function: { name: 'edit', arguments: JSON.stringify({ path: `${i}`, text: words(i, 1200) }) },
        };
        messages.push({ role: 'assistant', content: null, tool_calls: [call] });
        messages.push({ role: 'tool', tool_call_id: call.id, content: words(i, 2200) });
      }
      return JSON.stringify({ model: 'policy', messages, tools, stream: true, max_tokens: 32000 });
    });
  },
  'anthropic-messages': (turns) => {
    const messages = [];
    const system = [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=sdk-cli;' },
      { type: 'text', text: 'You are a careful engineer. '.repeat(500), cache_control: { type: 'ephemeral' } },
    ];
    const tools = Array.from({ length: 20 }, (_, i) => ({
      name: `tool_${i}`,
      description: 'Does a thing. '.repeat(200),
      input_schema: schema,
    }));
    return Array.from({ length: turns }, (_, i) => {
      if (i === 0) messages.push({ role: 'user', content: [{ type: 'text', text: 'Fix it.' }] });
      else {
        const input = { path: `${i}`, text: words(i, 1200) };
        messages.push({ role: 'assistant', content: [{ type: 'tool_use', id: `toolu_${i}`, name: 'edit', input }] });
        messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${i}`, content: words(i, 2200) }] });
      }
      const last = messages.at(-1);
      const marked = { ...last, content: [{ ...last.content[0], cache_control: { type: 'ephemeral' } }] };
      return JSON.stringify({
        model: 'policy',
        messages: [...messages.slice(0, -1), marked],
        system,
        tools,
        metadata: { user_id: 'u' },
        max_tokens: 32000,
        stream: true,
      });
    });
  },
};

const settings = (shortcuts) => ({ shortcuts, limits: { jsonDepth: 128, rememberedBytes: 2 ** 30 } });
const signatures = { verify: () => null };

/** Milliseconds of every turn of a conversation, each body in a buffer of its own. */
function play(readers, protocol, bodies, session) {
  const times = [];
  for (const body of bodies) {
    const bytes = new TextEncoder().encode(body);
    const start = performance.now();
    const { keep } = readers.read({ sessionKey: session, body: bytes }, protocol);
    keep();
    times.push(performance.now() - start);
  }
  return times;
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const TURNS = 100;
const ROUNDS = Number(process.argv[2] ?? 12);
const ms = (x) => `${x.toFixed(3)} ms`;

function time(protocol, bodies) {
  const ways = { plain: new RequestReaders(settings(false), signatures), remembered: new RequestReaders(settings(true), signatures) };
  const found = { plain: [], remembered: [], cold: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [way, readers] of Object.entries(ways)) {
      const times = play(readers, protocol, bodies, `s${round}`);
      if (round >= 2) found[way].push(median(times.slice(-10)));
      readers.forget(`s${round}`);
    }
    const cold = play(new RequestReaders(settings(true), signatures), protocol, bodies.slice(-1), 'cold');
    if (round >= 2) found.cold.push(cold[0]);
  }
  const [plain, remembered, cold] = [found.plain, found.remembered, found.cold].map(median);
  console.log(`  plain ${ms(plain)} a turn, remembered ${ms(remembered)}: ${(plain / remembered).toFixed(1)} times less`);
  console.log(`  a first body of that size ${ms(cold)}: ${(cold / plain).toFixed(2)} of plain`);
}

/** Memory when all garbage is gone; buffers are freed beside the main thread. */
async function heldNow() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await new Promise((done) => setTimeout(done, 50));
  }
  return process.memoryUsage();
}

async function hold(protocol, bodies) {
  const sessions = 20;
  const readers = new RequestReaders(settings(true), signatures);
  const before = await heldNow();
  for (let i = 0; i < sessions; i++) play(readers, protocol, bodies.slice(-3), `s${i}`);
  const after = await heldNow();
  const kB = (bytes) => `${(bytes / sessions / 1000).toFixed(0)} kB`;
  const outside = after.arrayBuffers - before.arrayBuffers;
  if (readers.rememberedBytes === 0) throw new Error('nothing is remembered');
  console.log(`  held for a session: ${kB(outside)} of bytes, ${kB(after.heapUsed - before.heapUsed)} of values and messages`);
}

for (const [name, converse] of Object.entries(dialects)) {
  const bodies = converse(TURNS);
  const bytes = new TextEncoder().encode(bodies.at(-1)).length;
  console.log(`${name}: ${TURNS} turns to ${(bytes / 1000).toFixed(0)} kB, the last ten turns`);
  time(protocols[name], bodies);
  await hold(protocols[name], bodies);
}
