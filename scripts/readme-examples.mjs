// Copies files of examples/ into README.md, between `<!-- include: PATH -->` and `<!-- end of include -->`.
// With --check: changes nothing and fails where README.md says something else.
import { readFileSync, writeFileSync } from 'node:fs';
import { extname } from 'node:path';

const LANGUAGES = { '.py': 'python', '.mjs': 'js' };

const readme = readFileSync('README.md', 'utf8');
const fresh = readme.replace(/(<!-- include: (\S+) -->\n)[\s\S]*?(<!-- end of include -->)/g, (_, start, path, end) => {
  const fence = '```';
  return `${start}\n${fence}${LANGUAGES[extname(path)]}\n${readFileSync(path, 'utf8')}${fence}\n\n${end}`;
});
if (!process.argv.includes('--check')) writeFileSync('README.md', fresh);
else if (fresh !== readme) {
  console.error('README.md is behind examples/: run `node scripts/readme-examples.mjs`');
  process.exitCode = 1;
}
