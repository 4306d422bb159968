// Compiles src/ to dist/ and copies the data files that the program reads at run time.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
rmSync('dist', { recursive: true, force: true });
execFileSync(process.execPath, [join(typescript, 'bin', 'tsc'), '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
for (const path of ['sim/model', 'canonical/trace.schema.json']) {
  if (existsSync(join('src', path))) cpSync(join('src', path), join('dist', path), { recursive: true });
}
if (existsSync('dist/main.js')) chmodSync('dist/main.js', 0o755);
