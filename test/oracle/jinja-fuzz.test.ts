import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/canonical/json-parse.js';
import type { JsonObject } from '../../src/canonical/json-value.js';
import { parseLocalTime } from '../../src/jinja/strftime.js';
import { compileTemplate, type Template, TemplateFailure } from '../../src/jinja/template.js';
import { Templates } from './jinja-templates.js';
import { randomContext } from './jinja-values.js';
import { Random } from './random.js';

/** Number of cases, and the seed of the first; `JINJA_FUZZ_CASES=100000 JINJA_FUZZ_SEED=1 npm run test:oracle`. */
const CASES = Number(process.env.JINJA_FUZZ_CASES ?? 20_000);
const SEED = Number(process.env.JINJA_FUZZ_SEED ?? 1);
const BATCH = 5_000;
const TIMEOUT_MS = 300_000 + CASES * 40;
/** Cases that share a template. */
const CONTEXTS = 4;

interface Case {
  readonly seed: number;
  readonly template: string;
  readonly context: string;
}
type Outcome = { readonly text?: string; readonly error?: string; readonly message?: string };

const root = path.resolve(import.meta.dirname, '../..');
const now = () => parseLocalTime('2025-06-04T13:07:09')!;

function python(): string | null {
  try {
    return execFileSync(process.execPath, [path.join(root, 'scripts/oracle-venv.mjs')], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}

function casesOf(seed: number): Case[] {
  const random = new Random(seed);
  const template = new Templates(random).template();
  return Array.from({ length: CONTEXTS }, () => ({ seed, template, context: randomContext(random) }));
}

function expectedOf(cases: readonly Case[], interpreter: string): Outcome[] {
  const input = cases.map(({ template, context }) => `{"template":${JSON.stringify(template)},"context":${context}}\n`).join('');
  const { stdout, status, stderr } = spawnSync(interpreter, [path.join(root, 'test/oracle/jinja-oracle.py')], {
    input,
    maxBuffer: 1 << 30,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the oracle ended with ${status}: ${stderr.slice(-2000)}`);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Outcome);
}

let last: { readonly source: string; readonly template: Template } | null = null;

function actualOf({ template, context }: Case): Outcome {
  try {
    if (last?.source !== template) last = { source: template, template: compileTemplate(template) };
    return { text: last.template.render(parseJson(context) as JsonObject, { now }) };
  } catch (error) {
    if (error instanceof TemplateFailure) return { error: error.pythonClass, message: error.message };
    throw error;
  }
}

/** Texts with an address in memory, and what a bound of ours or of the oracle's stops, cannot be compared. */
const comparable = (expected: Outcome, actual: Outcome): boolean =>
  !/0x[0-9a-f]{6,}/i.test(expected.text ?? '') &&
  !['MemoryError', 'RecursionError'].includes(expected.error ?? '') &&
  actual.error !== 'LimitExceeded';

describe('random templates', () => {
  const interpreter = python();
  if (interpreter === null) {
    it.skip('skipped: python3 with venv is needed, and a way to install jinja2', () => undefined);
    return;
  }
  it(
    `${CASES} cases from seed ${SEED} give what jinja2 gives`,
    () => {
      const different: unknown[] = [];
      let compared = 0;
      let failing = 0;
      for (let seed = SEED; compared < CASES; ) {
        const cases: Case[] = [];
        while (cases.length < Math.min(BATCH, CASES)) cases.push(...casesOf(seed++));
        const expected = expectedOf(cases, interpreter);
        cases.forEach((one, index) => {
          const wanted = expected[index]!;
          const actual = actualOf(one);
          if (!comparable(wanted, actual)) return;
          compared++;
          if (wanted.error !== undefined) failing++;
          if (actual.text !== wanted.text || actual.error !== wanted.error) different.push({ ...one, wanted, actual });
        });
        if (different.length > 50) break;
      }
      process.stdout.write(`${compared} cases compared, ${failing} of them errors, ${different.length} different\n`);
      for (const one of different.slice(0, 20)) process.stdout.write(`${JSON.stringify(one, null, 1)}\n`);
      expect(different.length).toBe(0);
      expect(compared).toBeGreaterThanOrEqual(CASES);
      expect(failing).toBeLessThan(compared * 0.75);
    },
    TIMEOUT_MS,
  );
});
