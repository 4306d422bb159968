/** What users say: documentation and source code of a pinned dependency, line by line, with each line's number of tokens. */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { FRAME_TEXTS } from './cells.mjs';
import { CACHE_DIR } from './model.mjs';

const LINE_LENGTH_MAX = 400;

/** Counts tokens once per tokenizer and keeps the counts in the cache folder; `frame` has those of what stands around texts. */
export function loadTexts(modelDir) {
  const require = createRequire(import.meta.url);
  const definition = readFileSync(join(modelDir, 'tokenizer.json'));
  const name = createHash('sha256')
    .update(definition)
    .update(JSON.stringify(FRAME_TEXTS))
    .update(require('undici/package.json').version)
    .digest('hex')
    .slice(0, 16);
  const cached = join(CACHE_DIR, `texts-${name}.json`);
  if (existsSync(cached)) return JSON.parse(readFileSync(cached, 'utf8'));
  const root = dirname(require.resolve('undici/package.json'));
  const tokenizer = new Tokenizer(JSON.parse(definition), JSON.parse(readFileSync(join(modelDir, 'tokenizer_config.json'), 'utf8')));
  const lines = ['docs', 'lib']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((file) => file.isFile() && /\.(md|js)$/.test(file.name))
    .map((file) => join(file.parentPath ?? file.path, file.name))
    .sort()
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .filter((line) => line.length <= LINE_LENGTH_MAX);
  const count = (text) => tokenizer.encode(text, { add_special_tokens: false }).ids.length;
  const counts = lines.map((line) => count(`${line}\n`));
  mkdirSync(CACHE_DIR, { recursive: true });
  const frame = Object.fromEntries(Object.entries(FRAME_TEXTS).map(([name, text]) => [name, count(text)]));
  writeFileSync(cached, JSON.stringify({ lines, counts, frame }));
  return { lines, counts, frame };
}

/** Reads on from line `at` until about `tokens` tokens are there. */
export function readOn({ lines, counts }, at, tokens) {
  const taken = [];
  let sum = 0;
  let next = at % lines.length;
  while (sum < tokens && (taken.length === 0 || sum + counts[next] <= tokens + 8)) {
    taken.push(lines[next]);
    sum += counts[next];
    next = (next + 1) % lines.length;
  }
  return { text: taken.join('\n'), tokens: sum, next };
}
