import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/canonical/json-parse.js';
import type { JsonObject, JsonValue } from '../../src/canonical/json-value.js';
import { parseLocalTime } from '../../src/jinja/strftime.js';
import { compileTemplate, RenderMemo, type Template, TemplateFailure } from '../../src/jinja/template.js';
import { Templates } from '../oracle/jinja-templates.js';
import { randomJson } from '../oracle/jinja-values.js';
import { Random } from '../oracle/random.js';

const now = () => parseLocalTime('2025-06-04T13:07:09')!;

function outcome(template: Template, context: ReadonlyMap<string, JsonValue>, memo?: RenderMemo): string {
  try {
    return template.render(context, { now, ...(memo && { memo }) });
  } catch (error) {
    if (error instanceof TemplateFailure) return `${error.pythonClass}: ${error.message} (${error.line})`;
    throw error;
  }
}

/** Renders the contexts one after the other with one memo; each must be what a fresh render gives. Returns the iterations reused. */
function compare(template: Template, contexts: readonly ReadonlyMap<string, JsonValue>[]): { reused: number; executed: number } {
  const memo = new RenderMemo();
  const light = new RenderMemo({ texts: 'drop' });
  let previous = '';
  let reused = 0;
  let executed = 0;
  for (const context of contexts) {
    const before = memo.report;
    const text = outcome(template, context, memo);
    expect(text).toBe(outcome(template, context));
    if (memo.report === before) continue;
    const { reusedPrefixLength, tail } = template.renderTail(context, { now, memo: light });
    expect(previous.slice(0, reusedPrefixLength) + tail).toBe(text);
    expect(text.slice(0, memo.reusedPrefixLength)).toBe(previous.slice(0, memo.reusedPrefixLength));
    previous = text;
    reused += memo.report.reusedIterations;
    executed += memo.report.executedIterations;
  }
  return { reused, executed };
}

/** The conversation message by message; then without generation prompt, with its last message replaced, and without its first. */
function growing(context: JsonObject): ReadonlyMap<string, JsonValue>[] {
  const messages = context.get('messages') as readonly JsonValue[];
  const extra = parseJson('{"role":"user","content":"Something else."}');
  const lists = [
    ...messages.map((_, index) => messages.slice(0, index + 1)),
    [...messages.slice(0, -1), extra],
    messages,
    [...messages, extra],
    messages.slice(1),
  ];
  const grown = lists.map((list) => new Map([...context, ['messages', list]]));
  return [...grown, new Map([...context, ['add_generation_prompt', !context.get('add_generation_prompt')]])];
}

const { templates, contexts } = JSON.parse(
  gunzipSync(readFileSync(new URL('../fixtures/jinja/matrix-subset.json.gz', import.meta.url))).toString('utf8'),
) as { templates: Readonly<Record<string, string>>; contexts: Readonly<Record<string, string>> };

describe('a growing history rendered with a memo', () => {
  it.each(Object.keys(templates))('%s: equals fresh renders, and many iterations are not run again', (name) => {
    const template = compileTemplate(templates[name]!);
    let reused = 0;
    let executed = 0;
    for (const [id, text] of Object.entries(contexts)) {
      const context = parseJson(text) as JsonObject;
      if (!id.endsWith('/base') || !Array.isArray(context.get('messages'))) continue;
      const counts = compare(template, growing(context));
      reused += counts.reused;
      executed += counts.executed;
    }
    expect(reused).toBeGreaterThan(executed / 2);
  });
});

describe('random templates with a memo', () => {
  it('equal fresh renders while items come, go and change places', () => {
    let reused = 0;
    for (let seed = 1; seed <= 1500; seed++) {
      const random = new Random(seed);
      let template: Template;
      try {
        template = compileTemplate(new Templates(random, 0).history());
      } catch (error) {
        if (error instanceof TemplateFailure) continue;
        throw error;
      }
      const item = (): JsonValue => parseJson(`{"a":${randomJson(random, 1)},"b":${randomJson(random, 2)},"role":"user"}`);
      const pool = Array.from({ length: 5 }, item);
      const stable = ['s', 't', 'n', 'm', 'd', 'e', 'w'].map((name): [string, JsonValue] => [name, parseJson(randomJson(random))]);
      const steps = Array.from({ length: 6 }, () => {
        const list = Array.from({ length: random.int(5) }, () => random.pick(pool));
        const changed = random.chance(0.3) ? parseJson(randomJson(random)) : pool;
        return new Map<string, JsonValue>([
          ...stable,
          ['l', list],
          ['k', pool],
          ['v', changed],
          ['yes', random.chance(0.8)],
          ['no', false],
          ['nil', null],
        ]);
      });
      reused += compare(template, steps).reused;
    }
    expect(reused).toBeGreaterThan(500);
  });
});

describe('what an iteration shares with the rest of the render', () => {
  const messages = ['a', 'b', 'c', 'd'].map((content) => new Map<string, JsonValue>([['content', content]]));
  const renders = (source: string, ...steps: ReadonlyMap<string, JsonValue>[]) => {
    const template = compileTemplate(source);
    const memo = new RenderMemo();
    const texts = steps.map((step) => template.render(step, { now, memo }));
    expect(texts).toEqual(steps.map((step) => template.render(step, { now })));
    return { texts, report: memo.report };
  };
  const step = (count: number, more: readonly [string, JsonValue][] = []) =>
    new Map<string, JsonValue>([['messages', messages.slice(0, count)], ...more]);

  it('reuses iterations that read nothing else, and says how much of the text stayed', () => {
    const { report } = renders('<{% for m in messages %}[{{ m.content }}]{% endfor %}>', step(3), step(4));
    expect(report).toEqual({ reusedPrefixLength: '<[a][b][c]'.length, reusedIterations: 3, executedIterations: 1 });
  });

  it('needs no text of the previous render to give what follows the unchanged part', () => {
    const template = compileTemplate(
      '{{ start }}{% for m in messages %}[{{ m.content }}]{% endfor %}{% if add_generation_prompt %}>{% endif %}',
    );
    const start: [string, JsonValue] = ['start', 'x'.repeat(1000)];
    const memo = new RenderMemo({ texts: 'drop' });
    const tail = (context: ReadonlyMap<string, JsonValue>) => template.renderTail(context, { now, memo });
    expect(tail(step(2, [start, ['add_generation_prompt', true]])).reusedPrefixLength).toBe(0);
    expect(tail(step(3, [start, ['add_generation_prompt', true]]))).toEqual({ reusedPrefixLength: 1006, tail: '[c]>' });
    expect(memo.report).toMatchObject({ reusedIterations: 2, executedIterations: 1 });
    expect(tail(step(3, [start]))).toEqual({ reusedPrefixLength: 1009, tail: '' });
    expect(tail(step(2, [['start', `${'x'.repeat(999)}y`]])).tail).toBe(`${'x'.repeat(999)}y[a][b]`);
    expect(memo.report).toMatchObject({ reusedPrefixLength: 0, reusedIterations: 0, executedIterations: 2 });
    expect(() => template.render(step(2, [['start', `${'x'.repeat(999)}y`]]), { now, memo })).toThrow('renderTail');
  });

  it('runs an iteration again when what it read of the loop changed', () => {
    const { report } = renders('{% for m in messages %}{{ m.content }}{% if not loop.last %},{% endif %}{% endfor %}', step(3), step(4));
    expect(report).toMatchObject({ reusedIterations: 2, executedIterations: 2, reusedPrefixLength: 'a,b,c'.length });
  });

  it('applies what an iteration wrote into a namespace, and guards what it read there', () => {
    const source =
      '{% set ns = namespace(n=0, start=x) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{{ ns.n }}{{ m.content }}{{ ns.start }};{% endfor %}{{ ns.n }}';
    expect(renders(source, step(2, [['x', 1]]), step(4, [['x', 1]])).report.reusedIterations).toBe(2);
    expect(renders(source, step(4, [['x', 1]]), step(4, [['x', 2]])).report.reusedIterations).toBe(0);
  });

  it('guards other messages, names of the context and macros with what they read', () => {
    const source =
      '{% macro show(m) %}{{ prefix }}{{ m.content }}{% endmacro %}{% for m in messages %}{{ show(m) }}{{ messages[loop.index0 - 1].content }}{% endfor %}';
    const before = step(3, [['prefix', '-']]);
    expect(renders(source, before, step(4, [['prefix', '-']])).report.reusedIterations).toBe(2);
    expect(renders(source, before, step(3, [['prefix', '+']])).report.reusedIterations).toBe(0);
  });

  it('never reuses what has a state that it cannot see', () => {
    const sources = [
      '{% set j = joiner(",") %}{% for m in messages %}{{ j() }}{{ m.content }}{% endfor %}',
      '{% set c = cycler("x", "y") %}{% for m in messages %}{{ c.next() }}{{ m.content }}{% endfor %}',
      '{% set g = messages|map(attribute="content") %}{% for m in messages %}{{ g|first }}{% endfor %}',
      '{% for m in messages %}{{ loop.changed(m.content) }}{% endfor %}',
      '{% for m in messages %}{{ strftime_now("%H") }}{% endfor %}',
    ];
    for (const source of sources) expect(renders(source, step(3), step(4), step(2)).report.reusedIterations).toBe(0);
  });

  it('does not take what an iteration wrote itself for something from outside', () => {
    const source =
      '{% set ns = namespace(a=x, b=y) %}{% for m in messages %}{% set ns.a = 5 %}{{ ns["a"] + ns["b"] }}{{ m.content }}{% endfor %}';
    const given = (x: number, y: number) =>
      step(2, [
        ['x', x],
        ['y', y],
      ]);
    expect(renders(source, given(0, 1), given(4, 2)).texts).toEqual(['6a6b', '7a7b']);
  });

  it('keeps the memo as it was when a render fails', () => {
    const template = compileTemplate(
      '{% for m in messages %}{{ m.content }}{% if m.stop %}{{ raise_exception("no") }}{% endif %}{% endfor %}',
    );
    const memo = new RenderMemo();
    template.render(step(3), { now, memo });
    const failing = new Map<string, JsonValue>([['messages', [...messages.slice(0, 3), new Map<string, JsonValue>([['stop', true]])]]]);
    expect(() => template.render(failing, { now, memo })).toThrow('no');
    template.render(step(3), { now, memo });
    expect(memo.report).toMatchObject({ reusedIterations: 3, executedIterations: 0, reusedPrefixLength: 3 });
  });
});
