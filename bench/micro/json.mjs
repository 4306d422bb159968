// Reading and writing a tool-loop body of about 400 KB, beside the built-in reader: `npm run build && node bench/micro/json.mjs`.
// DIST names another folder of compiled files.
import { do_not_optimize } from 'mitata';

const dist = new URL(process.env.DIST ?? '../../dist/', import.meta.url);
const { parseJson, parseJsonBytes } = await import(new URL('canonical/json-parse.js', dist));
const { compactJson } = await import(new URL('canonical/json-write.js', dist));

/** A Chat body of an agent that reads and edits files: most bytes are tool results and arguments with escaped code. */
function toolLoop(turns, letters) {
  const code = Array.from(
    { length: 24 },
    (_, i) => `    if (row["k${i}"] !== undefined) {\n\t\treturn "${letters}" + row.k${i};\n    }`,
  ).join('\n');
  const messages = [{ role: 'system', content: 'You are a careful engineer. '.repeat(150) }];
  for (let i = 0; i < turns; i++) {
    const call = { id: `call_${(i * 7919).toString(36).padStart(8, 'a')}`, type: 'function' };
    const args = JSON.stringify({
      path: `src/part-${i}.ts`,
      offset: i * 10,
      limit: 200,
      old_string: code.slice(0, 300),
      new_string: code.slice(40, 400),
    });
    messages.push({
      role: 'assistant',
      content: null,
      reasoning_content: `I look at part ${i}. `.repeat(8),
      tool_calls: [{ ...call, function: { name: 'edit', arguments: args } }],
    });
    messages.push({ role: 'tool', tool_call_id: call.id, content: `${i}\n${code}` });
  }
  const parameters = {
    type: 'object',
    properties: { path: { type: 'string', description: 'Where.' }, offset: { type: 'integer', minimum: 0, default: 0 } },
    required: ['path'],
  };
  const tools = Array.from({ length: 20 }, (_, i) => ({
    type: 'function',
    function: { name: `tool_${i}`, description: 'Does a thing. '.repeat(20), parameters },
  }));
  return JSON.stringify({ model: 'policy', messages, tools, stream: true, max_tokens: 32000, temperature: 1 });
}

const numbers = JSON.stringify(Array.from({ length: 40_000 }, (_, i) => (i % 3 ? i * 17 : i / 7)));
for (const [name, text] of Object.entries({
  'tool loop, Latin': toolLoop(125, 'value'),
  'tool loop, emoji': toolLoop(125, '→ 值 😀'),
  'array of numbers': numbers,
})) {
  const bytes = new TextEncoder().encode(text);
  const value = parseJson(text);
  const megabytes = bytes.length / 1e6;
  const rate = (seconds) => `${(megabytes / seconds).toFixed(0)} MB/s`;
  console.log(`\n${name}: ${(bytes.length / 1000).toFixed(0)} kB`);
  // On a shared machine the median shows the neighbours, the best run the code.
  const measure = (work) => {
    const times = [];
    for (let i = 0; i < 100; i++) {
      const start = performance.now();
      do_not_optimize(work());
      times.push((performance.now() - start) / 1000);
    }
    times.sort((a, b) => a - b);
    return `median ${rate(times[50])}, best ${rate(times[0])}`;
  };
  for (const [what, work] of [
    ['JSON.parse', () => JSON.parse(text)],
    ['parseJson', () => parseJson(text)],
    ['decode + JSON.parse', () => JSON.parse(new TextDecoder().decode(bytes))],
    ['parseJsonBytes', () => parseJsonBytes(bytes)],
    ['compactJson', () => compactJson(value)],
  ])
    console.log(`  ${what.padEnd(20)} ${measure(work)}`);
}
