import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs in a fresh process: loads the light entry as a user does and prints every file that was loaded for it. */
const PROBE = `
  import { writeSync } from 'node:fs';
  import { register } from 'node:module';
  const hook = "import { writeSync } from 'node:fs'; export async function load(url, context, next) { writeSync(1, url + String.fromCharCode(10)); return next(url, context); }";
  register('data:text/javascript,' + encodeURIComponent(hook));
  const core = await import('rollout-gateway/core');
  const tree = new core.TrajectoryTree();
  writeSync(1, \`turns \${tree.turns.length} \${Object.keys(core).length}\`);
`;

test('the light entry loads no package, no server, no threads and no tokenizer', () => {
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', PROBE], { cwd: root, encoding: 'utf8' });
  const lines = output.trim().split('\n');
  expect(lines.at(-1)).toMatch(/^turns 0 \d+$/);
  const files = lines.filter((line) => line.startsWith('file:'));
  expect(files.length).toBeGreaterThan(20);
  for (const file of files) expect(file).toMatch(/\/dist\/(core|canonical\/[\w-]+|trajectory\/[\w-]+)\.js$/);
  expect(lines.filter((line) => line.startsWith('node:') && line !== 'node:fs')).toEqual([]);
});

test('trajectory/ imports only canonical/ and itself', () => {
  const folder = join(root, 'src/trajectory');
  const imports = readdirSync(folder).flatMap((file) => {
    const source = readFileSync(join(folder, file), 'utf8');
    return [...source.matchAll(/from '([^']+)'/g)].map((match) => match[1]!);
  });
  expect(imports.length).toBeGreaterThan(50);
  for (const name of imports) expect(name).toMatch(/^(\.\.\/canonical|\.)\/[\w-]+\.js$/);
});
