// npm run bench:micro — every bench of this folder, one process after the other; names choose some: node bench/micro/run.mjs json
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const wanted = process.argv.slice(2).filter((it) => !it.startsWith('-'));
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.mjs') && name !== 'run.mjs')
  .map((name) => name.slice(0, -4))
  .filter((name) => wanted.length === 0 || wanted.includes(name));
for (const name of wanted)
  if (!names.includes(name)) throw new Error(`no bench "${name}" in bench/micro; there are ${readdirSync(folder).join(', ')}`);
for (const name of names) {
  console.log(`\n## ${name}\n`);
  const { status } = spawnSync(process.execPath, ['--expose-gc', `${folder}${name}.mjs`], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
