// Parsing replies of 4,096 tokens (16 KB) and probing templates.
// usage: npm run build && node bench/micro/parse.mjs      DIST names another folder of compiled files
import { readdirSync, readFileSync } from 'node:fs';
import { do_not_optimize } from 'mitata';

const dist = new URL(process.env.DIST ?? '../../dist/', import.meta.url);
const { FAMILIES, usualFamily } = await import(new URL('families/registry.js', dist));
const { recogniseFamily } = await import(new URL('families/probe.js', dist));
const { compileTemplate } = await import(new URL('jinja/template.js', dist));

const CHARACTERS = 4096 * 4;
const WORDS = 'The file has 12 lines; the third one reads `a < b && c > d`, so "x" is [1, 2] and {y} is 3.\n';
const words = (length) => WORDS.repeat(Math.ceil(length / WORDS.length)).slice(0, length);
const parameters = { type: 'object', properties: { s: { type: 'string' }, n: { type: 'integer' } } };
const tools = [{ name: 'f', parameters: new Map(Object.entries(parameters)) }];
const think = `<think>\n${words(CHARACTERS / 2)}\n</think>\n\n`;
const json = (text) => JSON.stringify({ s: text, n: 7 });

/** One call of each grammar, its string argument filled with `text`. */
const CALL = {
  hermes: (text) => `<tool_call>\n{"name": "f", "arguments": ${json(text)}}\n</tool_call>`,
  'qwen3-coder': (text) =>
    `<tool_call>\n<function=f>\n<parameter=s>\n${text}\n</parameter>\n<parameter=n>\n7\n</parameter>\n</function>\n</tool_call>`,
  'glm-4.7': (text) =>
    `<tool_call>f<arg_key>s</arg_key><arg_value>${text}</arg_value><arg_key>n</arg_key><arg_value>7</arg_value></tool_call>`,
  'minimax-m2': (text) =>
    `<minimax:tool_call>\n<invoke name="f">\n<parameter name="s">${text}</parameter>\n<parameter name="n">7</parameter>\n</invoke>\n</minimax:tool_call>`,
  'deepseek-v3.1': (text) =>
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>${json(text)}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  'kimi-k2': (text) =>
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>${json(text)}<|tool_call_end|><|tool_calls_section_end|>`,
  lfm2: (text) => `<|tool_call_start|>[f(s=${JSON.stringify(text)}, n=7)]<|tool_call_end|>`,
  gemma4: (text) => `<|tool_call>call:f{n:7,s:<|"|>${text}<|"|>}<tool_call|>`,
  harmony: (text) => `<|channel|>commentary to=functions.f<|message|>${json(text)}<|call|>`,
};

/** Milliseconds, the median of 41 passes. */
const median = (work, passes = 41) => {
  const times = [];
  for (let pass = 0; pass < passes; pass++) {
    const start = performance.now();
    do_not_optimize(work());
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[passes >> 1];
};
const shown = (ms) => ms.toFixed(3);

console.log(
  'ms for a reply of 16 KB, medians\n\n| family | words | reasoning and words | one long call | many short calls | tags that nothing closes |\n|---|---|---|---|---|---|',
);
for (const entry of FAMILIES) {
  const { family } = usualFamily(entry);
  const call = CALL[entry.name];
  const parse = (text) =>
    shown(median(() => family.parse({ text, stopStart: text.length, isMarker: () => true, reasoningOpen: false, tools })));
  const repeat = (text) => text.repeat(Math.ceil(CHARACTERS / text.length)).slice(0, CHARACTERS);
  const calls =
    call === undefined
      ? ['–', '–', '–']
      : [parse(call(words(CHARACTERS))), parse(repeat(call('a'))), parse(repeat(call('a').slice(0, 24)))];
  console.log(`| ${entry.name} | ${parse(words(CHARACTERS))} | ${parse(think + words(CHARACTERS / 2))} | ${calls.join(' | ')} |`);
}

console.log('\nms to recognise a template, medians of 5, without compiling it\n\n| template | family | renders | ms |\n|---|---|---|---|');
const folder = new URL('../../test/fixtures/families/templates/', import.meta.url);
const moment = { year: 2025, month: 6, day: 4, hour: 13, minute: 7, second: 9, microsecond: 0 };
for (const file of readdirSync(folder)) {
  const template = compileTemplate(readFileSync(new URL(file, folder), 'utf8'));
  let renders = 0;
  const render = (context) => {
    renders++;
    return template.render(context, { now: () => moment });
  };
  const { family } = recogniseFamily(render);
  const once = renders;
  console.log(`| ${file.replace('.jinja', '')} | ${family.name} | ${once} | ${shown(median(() => recogniseFamily(render), 5))} |`);
}
