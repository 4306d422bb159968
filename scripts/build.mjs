// Compiles src/ to dist/ and copies the data files that the program reads at run time. With --if-stale: only when a source is newer.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const STAMP = 'dist/.built';
const DATA = ['sim/model', 'canonical/trace.schema.json'];

const newest = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).reduce(
    (latest, entry) => Math.max(latest, statSync(join(entry.parentPath, entry.name)).mtimeMs),
    0,
  );

const ifStale = process.argv.includes('--if-stale');
const startedMs = Date.now();
const isFresh = existsSync(STAMP) && statSync(STAMP).mtimeMs >= newest('src');
if (!(ifStale && isFresh)) {
  if (!ifStale) rmSync('dist', { recursive: true, force: true });
  const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
  const compiled = spawnSync(process.execPath, [join(typescript, 'bin', 'tsc'), '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
  // Before tests a type error is only shown: code is emitted all the same, and `npm run types` is the check that fails.
  if (compiled.status !== 0 && !ifStale) process.exit(1);
  for (const path of DATA) if (existsSync(join('src', path))) cpSync(join('src', path), join('dist', path), { recursive: true });
  if (existsSync('dist/main.js')) chmodSync('dist/main.js', 0o755);
  writeFileSync(STAMP, '');
  utimesSync(STAMP, startedMs / 1000, startedMs / 1000);
}
