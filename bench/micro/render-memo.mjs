// What remembering iterations saves, for every template of the matrix: `npm run build && node bench/micro/render-memo.mjs [TEMPLATE_FOLDER]`.
// "growing": the matrix's conversations rendered message by message; share of iterations over messages and tools that were not run.
// "turn": a history of 398 messages with 80 tools after one of 396; iterations run and reused, milliseconds with the memo and afresh.
// DIST names another folder of compiled files.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { history } from './agent-history.mjs';

const dist = new URL(process.env.DIST ?? '../../dist/', import.meta.url);
const { compileTemplate, RenderMemo } = await import(new URL('jinja/template.js', dist));
const { parseLocalTime } = await import(new URL('jinja/strftime.js', dist));
const { parseJson } = await import(new URL('canonical/json-parse.js', dist));

const folder = path.resolve(process.argv[2] ?? fileURLToPath(new URL('../../../shared/template-matrix/templates', import.meta.url)));
const time = parseLocalTime('2025-06-04T13:07:09');
const now = () => time;

function conversations() {
  const file = path.join(folder, '../contexts.json');
  if (!existsSync(file)) return [];
  const mark = ',"context":';
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{') && line.slice(0, 60).includes('/base"'))
    .map((line) => line.replace(/,$/, ''))
    .map((line) => parseJson(line.slice(line.indexOf(mark) + mark.length, -1)))
    .filter((context) => Array.isArray(context.get('messages')));
}

const first = (context, count) => new Map([...context, ['messages', context.get('messages').slice(0, count)]]);

/** Reused and executed iterations over the growing conversations; renders that fail are left out. */
function growing(template, contexts) {
  let reused = 0;
  let executed = 0;
  for (const context of contexts) {
    const memo = new RenderMemo();
    for (let count = 1; count <= context.get('messages').length; count++) {
      try {
        const text = template.render(first(context, count), { now, memo });
        if (text !== template.render(first(context, count), { now })) throw new Error('a render with a memo differs from a fresh one');
        reused += memo.report.reusedIterations;
        executed += memo.report.executedIterations;
      } catch (error) {
        if (!error.pythonClass) throw error;
      }
    }
  }
  return `${reused} of ${reused + executed} (${Math.round((100 * reused) / (reused + executed))}%)`;
}

function longTurn(template, context) {
  try {
    const memo = new RenderMemo();
    const passes = { memo: [], fresh: [] };
    for (let count = 370; count <= 398; count += 2) {
      const grown = first(context, count);
      let begin = performance.now();
      const text = template.render(grown, { now, memo });
      passes.memo.push(performance.now() - begin);
      begin = performance.now();
      const fresh = template.render(grown, { now });
      passes.fresh.push(performance.now() - begin);
      if (text !== fresh) throw new Error('a render with a memo differs from a fresh one');
    }
    const best = (times) =>
      Math.min(...times.slice(3))
        .toFixed(2)
        .padStart(7);
    const { reusedIterations, executedIterations } = memo.report;
    return `${String(executedIterations).padStart(4)} run, ${String(reusedIterations).padStart(4)} reused ${best(passes.memo)} ms, afresh ${best(passes.fresh)} ms`;
  } catch (error) {
    if (!error.pythonClass) throw error;
    return `refuses the history (${error.pythonClass})`;
  }
}

if (!existsSync(folder)) console.log(`no templates in ${path.basename(folder)}: give a folder of .jinja files`);
else {
  const contexts = conversations();
  const long = parseJson(JSON.stringify(history(400, 80)));
  console.log('template                                        growing: reused        turn');
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.jinja'))) {
    const template = compileTemplate(readFileSync(path.join(folder, name)).toString('utf8'));
    console.log(`${name.replace(/\.jinja$/, '').padEnd(47)} ${growing(template, contexts).padEnd(22)} ${longTurn(template, long)}`);
  }
}
