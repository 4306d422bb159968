/** Each thing that hostile clients do and each way in has a test that is named after it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const files = readdirSync('test', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts') && entry.name !== 'tidy-faults.test.ts')
  .map((entry) => join(entry.parentPath, entry.name));
const titles = files.flatMap((path) =>
  [...readFileSync(path, 'utf8').matchAll(/(?:\b(?:test|it)|\))\(\s*(['"`])(.+?)\1/g)].map(([, , title]) => title!),
);

test.each([
  ['slow heads and bodies', /slow heads/],
  ['bodies that never end', /bodies that never end/],
  ['many headers', /hundred thousand headers/],
  ['pipelining', /^pipelining/],
  ['compressed bombs', /compressed bomb/],
  ['deep JSON', /^deep JSON/],
  ['prototype keys', /names of prototypes/],
  ['control characters in keys', /a key with the control character/],
  ['control characters in ids', /an id with control characters/],
  ['paths in ids', /an id that looks like a path/],
  ['ids that look alike', /ids that look alike/],
  ['forged signatures', /signature of thinking that was forged/],
  ['forged tool-call ids', /tool call’s id of another session/],
  ['comparison of the admin token', /admin token is asked for whole/],
  ['other origins', /another origin/],
  ['secrets in logs, metrics and errors', /keys, prompts, replies and tokens are in no log line/],
  ['ports that others can reach', /not opened without an admin token/],
  ['the engine’s key', /engine’s key comes from the environment or a file/],
  ['two lengths of one body', /two lengths of one body/],
  ['two keys', /key that came twice/],
])('%s', (_row, named) => {
  expect(titles.filter((title) => named.test(title)).length).toBeGreaterThan(0);
});
