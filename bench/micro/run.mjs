// npm run bench:micro — every bench of this folder, one process after the other; names choose some: node bench/micro/run.mjs json
// With --brief each does a small part of its work: a check that it runs, no figures.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ONE_TEMPLATE = fileURLToPath(new URL('../../src/sim/model', import.meta.url));
/** What the benches are given where they are to be brief; those that are not named are brief anyway. */
const BRIEF = {
  body: ['3'],
  encode: ['1'],
  identity: ['5'],
  'render-jinja': [ONE_TEMPLATE],
  'render-memo': [ONE_TEMPLATE],
  'rows-memory': ['50'],
};
const isBrief = process.argv.includes('--brief');
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
  const { status } = spawnSync(process.execPath, ['--expose-gc', `${folder}${name}.mjs`, ...((isBrief && BRIEF[name]) || [])], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exitCode = 1;
}
