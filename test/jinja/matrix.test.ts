import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/canonical/json-parse.js';
import type { JsonObject } from '../../src/canonical/json-value.js';
import { parseLocalTime } from '../../src/jinja/strftime.js';
import { compileTemplate, type Template, TemplateFailure } from '../../src/jinja/template.js';

type Outcome = { readonly text?: string; readonly error?: string };
interface Fixture {
  readonly templates: Readonly<Record<string, string>>;
  readonly contexts: Readonly<Record<string, string>>;
  readonly expected: Readonly<Record<string, Readonly<Record<string, Outcome>>>>;
}

const now = () => parseLocalTime('2025-06-04T13:07:09')!;
const fixture = (name: string): unknown =>
  JSON.parse(gunzipSync(readFileSync(new URL(`../fixtures/jinja/${name}`, import.meta.url))).toString('utf8'));

function outcome(render: () => string): Outcome {
  try {
    return { text: render() };
  } catch (error) {
    if (!(error instanceof TemplateFailure)) throw error;
    return { error: error.pythonClass };
  }
}

const compiled = (source: string): Template | TemplateFailure => {
  try {
    return compileTemplate(source);
  } catch (error) {
    if (error instanceof TemplateFailure) return error;
    throw error;
  }
};

const run = (template: Template | TemplateFailure, context: string): Outcome =>
  outcome(() => {
    if (template instanceof TemplateFailure) throw template;
    return template.render(parseJson(context) as JsonObject, { now });
  });

describe('templates of the matrix', () => {
  const { templates, contexts, expected } = fixture('matrix-subset.json.gz') as Fixture;
  it.each(Object.keys(templates))('%s renders every context as Python does, with the same class of error', (name) => {
    const template = compiled(templates[name]!);
    const different = Object.entries(contexts).filter(([id, context]) => {
      const { text, error } = run(template, context);
      return text !== expected[name]![id]!.text || error !== expected[name]![id]!.error;
    });
    expect(different.map(([id]) => id)).toEqual([]);
    expect(Object.keys(contexts)).toHaveLength(312);
  });
});

describe('snippets', () => {
  const { snippets } = fixture('snippets.json.gz') as {
    snippets: readonly ({ id: string; template: string; context: string } & Outcome)[];
  };
  it.each(snippets.map((snippet) => [snippet.id, snippet] as const))('%s', (_id, { template, context, text, error }) => {
    const actual = run(compiled(template), context);
    expect(actual).toEqual(text === undefined ? { error } : { text });
  });
});

describe('edge cases', () => {
  const file = readFileSync(new URL('../fixtures/jinja/edge-cases.json', import.meta.url), 'utf8');
  const { context, cases } = JSON.parse(file) as { context: unknown; cases: readonly ({ template: string } & Outcome)[] };
  it.each(cases.map((one) => [one.template, one] as const))('%s', (_name, { template, text, error }) => {
    expect(run(compiled(template), JSON.stringify(context))).toEqual(text === undefined ? { error } : { text });
  });
});

const MATRIX = path.resolve(import.meta.dirname, '../../../shared/template-matrix');

describe('the whole matrix', () => {
  if (!existsSync(MATRIX)) {
    it.skip(`skipped: ${path.basename(MATRIX)} is not beside the repository`, () => undefined);
    return;
  }
  const { contexts } = fixture('matrix-subset.json.gz') as Fixture;
  const expected = new Map<string, Outcome>();
  for (const line of gunzipSync(readFileSync(path.join(MATRIX, 'expected.jsonl.gz')))
    .toString('utf8')
    .split('\n')) {
    if (line === '') continue;
    const { template, context, ...rest } = JSON.parse(line) as { template: string; context: string } & Outcome;
    expected.set(`${template} ${context}`, rest);
  }
  it.each(readdirSync(path.join(MATRIX, 'templates')))('%s', (file) => {
    const name = file.replace(/\.jinja$/, '');
    const template = compiled(readFileSync(path.join(MATRIX, 'templates', file)).toString('utf8'));
    const different = Object.entries(contexts).filter(([id, context]) => {
      const wanted = expected.get(`${name} ${id}`)!;
      const { text, error } = run(template, context);
      return text !== wanted.text || error !== wanted.error;
    });
    expect(different.map(([id]) => id)).toEqual([]);
  });
});
