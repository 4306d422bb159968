// Rendering a history of 400 messages with 80 tools: our evaluator beside jinja2 in Python and the runtime of @huggingface/jinja (which
// gives other texts) on the same templates, warm, and compiling.
// usage: npm run build && node bench/micro/render-jinja.mjs [TEMPLATE_FOLDER]      DIST names another folder of compiled files
// The ten largest templates of the folder are taken (default: the template matrix beside the repository). Python comes from
// `node scripts/oracle-venv.mjs`; without it only our times are printed.
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Template } from '@huggingface/jinja';
import { history } from './agent-history.mjs';

const dist = new URL(process.env.DIST ?? '../../dist/', import.meta.url);
const { compileTemplate } = await import(new URL('jinja/template.js', dist));
const { parseLocalTime } = await import(new URL('jinja/strftime.js', dist));
const { parseJson } = await import(new URL('canonical/json-parse.js', dist));

const PASSES = 15;
const MESSAGES = 400;
const TOOLS = 80;
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = path.resolve(process.argv[2] ?? path.join(root, '../shared/template-matrix/templates'));
const largest = readdirSync(folder)
  .filter((name) => name.endsWith('.jinja'))
  .sort((a, b) => statSync(path.join(folder, b)).size - statSync(path.join(folder, a)).size)
  .slice(0, 10);

const contextText = JSON.stringify(history(MESSAGES, TOOLS));
const context = parseJson(contextText);
const now = () => parseLocalTime('2025-06-04T13:07:09');
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

const PYTHON = `
import datetime, json, sys, time
import jinja2, jinja2.ext, jinja2.nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment
class Generation(jinja2.ext.Extension):
    tags = {"generation"}
    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_run"), [], [], body).set_lineno(line)
    @jinja2.pass_eval_context
    def _run(self, context, caller):
        return caller()
def fail(message): raise jinja2.exceptions.TemplateError(message)
def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False): return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
context = json.loads(sys.stdin.read())
for path in sys.argv[2:]:
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = fail
    env.globals["strftime_now"] = lambda f: datetime.datetime(2025, 6, 4, 13, 7, 9).strftime(f)
    begin = time.perf_counter(); template = env.from_string(open(path, "rb").read().decode()); compiled = time.perf_counter() - begin
    try:
        times = []
        for _ in range(int(sys.argv[1])):
            begin = time.perf_counter(); text = template.render(**context); times.append(time.perf_counter() - begin)
        print(json.dumps({"ms": sorted(times)[len(times) // 2] * 1000, "compile": compiled * 1000, "length": len(text)}))
    except Exception as error:
        print(json.dumps({"error": type(error).__name__}))
`;

function pythonTimes() {
  try {
    const python = execFileSync(process.execPath, [path.join(root, 'scripts/oracle-venv.mjs')], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    const files = largest.map((name) => path.join(folder, name));
    const { stdout } = spawnSync(python, ['-c', PYTHON, String(PASSES), ...files], { input: contextText, encoding: 'utf8' });
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  } catch {
    console.log('Python with jinja2 is not to be had here: only our times follow');
    return null;
  }
}

function ourTimes(name) {
  const source = readFileSync(path.join(folder, name)).toString('utf8');
  const compiles = [];
  let template;
  for (let pass = 0; pass < 5; pass++) {
    const begin = performance.now();
    template = compileTemplate(source);
    compiles.push(performance.now() - begin);
  }
  try {
    const times = [];
    let length = 0;
    for (let pass = 0; pass < PASSES + 5; pass++) {
      const begin = performance.now();
      const text = template.render(context, { now });
      // Reading one character makes the engine join the pieces of the text, which a caller needs too.
      length = text.length + (text.charCodeAt(text.length >> 1) & 0);
      times.push(performance.now() - begin);
    }
    return { ms: median(times.slice(5)), compile: compiles[0], compileWarm: median(compiles), length };
  } catch (error) {
    return { error: error.pythonClass ?? String(error) };
  }
}

/** `-` where the package refuses the template or the history. */
function packageTime(name) {
  try {
    const template = new Template(readFileSync(path.join(folder, name)).toString('utf8'));
    const plain = JSON.parse(contextText);
    const times = [];
    for (let pass = 0; pass < 5; pass++) {
      const begin = performance.now();
      template.render(plain);
      times.push(performance.now() - begin);
    }
    return median(times).toFixed(1);
  } catch {
    return '-';
  }
}

const theirs = pythonTimes();
const logs = [];
console.log('template                             ours ms  jinja2 ms  ratio  package ms  compile ms (first, warm, jinja2)  characters');
for (const [index, name] of largest.entries()) {
  const ours = ourTimes(name);
  const python = theirs?.[index];
  const label = name.replace(/\.jinja$/, '').padEnd(36);
  if (ours.error) {
    console.log(`${label} refuses the history: ${ours.error}${python ? `, as jinja2 (${python.error})` : ''}`);
    continue;
  }
  const ratio = python ? ours.ms / python.ms : Number.NaN;
  if (python) logs.push(Math.log(ratio));
  const compile = `${ours.compile.toFixed(1)}, ${ours.compileWarm.toFixed(1)}, ${python?.compile.toFixed(1) ?? '-'}`;
  console.log(
    `${label} ${ours.ms.toFixed(1).padStart(7)} ${(python?.ms.toFixed(1) ?? '-').padStart(10)} ${ratio.toFixed(2).padStart(6)}  ${packageTime(name).padStart(10)}  ${compile.padStart(32)}  ${ours.length}`,
  );
}
if (logs.length > 0)
  console.log(
    `geometric mean of the ratios: ${Math.exp(logs.reduce((a, b) => a + b, 0) / logs.length).toFixed(2)} (over ${logs.length} templates; ${MESSAGES} messages, ${TOOLS} tools)`,
  );
