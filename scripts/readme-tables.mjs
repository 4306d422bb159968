// Writes the tables of settings, errors, routes and engines' lies into README.md, between their markers, from the compiled program.
// With --check: changes nothing and fails where README.md says something else.
import { readFileSync, writeFileSync } from 'node:fs';

const { SETTINGS } = await import('../dist/config.js');
const { ANSWER_LIES } = await import('../dist/engines/answer-lies.js');
const { ERRORS } = await import('../dist/errors.js');
const { ROUTES } = await import('../dist/front/routes.js');

// Cells are padded as the formatter pads them.
const table = (head, rows) => {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((cells) => cells[column].length)));
  const line = (cells) => `| ${cells.map((text, column) => text.padEnd(widths[column])).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
};
const code = (text) => `\`${text}\``;
const cell = (text) => text.replaceAll('|', '\\|');
const shown = (value) =>
  value === null || (Array.isArray(value) && value.length === 0) ? '' : code(typeof value === 'string' ? value : JSON.stringify(value));

const TABLES = {
  settings: table(
    ['setting', 'default', 'allowed', 'meaning'],
    SETTINGS.filter(({ setting }) => !setting.hidden).map(({ name, setting }) => [
      code(name),
      shown(setting.default),
      cell(setting.bounds),
      cell(setting.meaning),
    ]),
  ),
  errors: table(
    ['code', 'Chat and trainer', 'Messages', '`x-should-retry`', 'meaning'],
    Object.entries(ERRORS).map(([name, entry]) => [
      code(name),
      `${entry.status} ${code(entry.openaiType)}`,
      `${entry.anthropicStatus ?? entry.status} ${code(entry.anthropicType)}`,
      String(entry.shouldRetry),
      cell(entry.meaning),
    ]),
  ),
  lies: table(
    ['name', 'decision', 'what the engine does'],
    Object.entries(ANSWER_LIES).map(([name, { decision, meaning }]) => [code(name), decision, cell(meaning)]),
  ),
  routes: table(
    ['route', 'for', 'does'],
    ROUTES.filter(({ hidden }) => !hidden).map(({ method, path, audience, meaning }) => [
      code(`${method} ${path}`),
      audience,
      cell(meaning),
    ]),
  ),
};

const readme = readFileSync('README.md', 'utf8');
let fresh = readme;
for (const [name, text] of Object.entries(TABLES)) {
  const [start, end] = [`<!-- table: ${name} -->`, `<!-- end of table: ${name} -->`];
  const [from, to] = [fresh.indexOf(start), fresh.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`README.md lacks the markers ${start} and ${end}`);
  fresh = `${fresh.slice(0, from + start.length)}\n${text}\n${fresh.slice(to)}`;
}
if (!process.argv.includes('--check')) writeFileSync('README.md', fresh);
else if (fresh !== readme) {
  console.error('README.md is behind the code: run `node scripts/readme-tables.mjs`');
  process.exitCode = 1;
}
