import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const FIXTURES = fileURLToPath(new URL('../fixtures/tokenizers', import.meta.url));
export const FIXTURE_NAMES: readonly string[] = readdirSync(FIXTURES).sort();

/** What the Rust crate made of a fixture's tokenizer (scripts/make-tokenizer-fixtures.py). */
export interface ExpectedTokens {
  readonly texts: readonly { readonly text: string; readonly ids: readonly number[]; readonly decoded: string }[];
  readonly sequences: readonly { readonly ids: readonly number[]; readonly decoded: string }[];
}

export function readExpected(name: string): ExpectedTokens {
  return JSON.parse(readFileSync(join(FIXTURES, name, 'expected.json'), 'utf8'));
}
