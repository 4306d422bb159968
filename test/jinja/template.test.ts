import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/canonical/json-parse.js';
import type { JsonObject } from '../../src/canonical/json-value.js';
import { GatewayError } from '../../src/errors.js';
import type { RenderLimits } from '../../src/jinja/runtime.js';
import { localTime, parseLocalTime, strftime } from '../../src/jinja/strftime.js';
import { compileTemplate, TemplateFailure } from '../../src/jinja/template.js';

const now = () => parseLocalTime('2025-06-04T13:07:09')!;
const render = (source: string, context = '{}', limits?: Partial<RenderLimits>): string =>
  compileTemplate(source, limits && { limits }).render(parseJson(context) as JsonObject, { now });

function failure(source: string, context = '{}', limits?: Partial<RenderLimits>): TemplateFailure {
  try {
    render(source, context, limits);
  } catch (error) {
    expect(error).toBeInstanceOf(TemplateFailure);
    expect(error).toBeInstanceOf(GatewayError);
    return error as TemplateFailure;
  }
  throw new Error('the template did not fail');
}

describe('errors', () => {
  it.each([
    ['a\n{{ missing.x }}', 'UndefinedError', "'missing' is undefined", 2],
    ['{% if true %}\n\n{{ x.y.z }}{% endif %}', 'UndefinedError', "'dict object' has no attribute 'y'", 3],
    ['{{ "a" + 1 }}', 'TypeError', 'can only concatenate str (not "int") to str', 1],
    ['\n{{ raise_exception("tools are not supported") }}', 'TemplateError', 'tools are not supported', 2],
    ['{% for i in 5 %}{% endfor %}', 'TypeError', "'int' object is not iterable", 1],
    ['{{ [].append(1) }}', 'SecurityError', "access to attribute 'append' of 'list' object is unsafe.", 1],
    [
      'a\n\n{% if x %}',
      'TemplateSyntaxError',
      "Unexpected end of template. Jinja was looking for the following tags: 'elif' or 'else' or 'endif'.",
      3,
    ],
    ['\n{{ x|nope }}', 'TemplateAssertionError', "No filter named 'nope'.", 2],
    ['{% macro m() %}\n{{ 1 // 0 }}{% endmacro %}\n\n{{ m() }}', 'ZeroDivisionError', 'integer division or modulo by zero', 2],
    ['{% macro m() %}x\n{% endmacro %}\n\n{{ m() ~ missing.x }}', 'UndefinedError', "'missing' is undefined", 4],
  ])('%s', (source, pythonClass, message, line) => {
    expect(failure(source, '{"x":{}}')).toMatchObject({ pythonClass, message, line, code: 'template_error' });
  });
});

describe('bounds', () => {
  it.each([
    ['steps', '{% for i in range(1000) %}{% for j in range(1000) %}{% endfor %}{% endfor %}', { steps: 10_000 }],
    ['output', '{% for i in range(1000) %}0123456789{% endfor %}', { outputLength: 1000 }],
    ['doubling text', '{% set ns = namespace(s="0123456789abcdef") %}{% for i in range(64) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}', {}],
    ['repetition', '{{ "x" * 1000000000 }}', {}],
    ['list repetition', '{{ ([0] * 1000000000)|length }}', {}],
    ['powers', '{{ 2 ** 100000000 }}', {}],
    ['padding', '{{ "x".ljust(4000000000) }}', {}],
  ])('%s', (_name, source, limits) => {
    expect(failure(source, '{}', limits)).toMatchObject({ pythonClass: 'LimitExceeded', code: 'template_limit' });
  });

  it('endless recursion is an error, in templates and in their text', () => {
    expect(failure('{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}')).toMatchObject({ pythonClass: 'RecursionError', line: 1 });
    expect(failure(`{{ ${'('.repeat(100_000)}1${')'.repeat(100_000)} }}`)).toMatchObject({ pythonClass: 'RecursionError' });
  });

  it('a range is bounded as in the sandbox', () => {
    expect(failure('{{ range(100001)|length }}').pythonClass).toBe('OverflowError');
    expect(render('{{ range(100000)|length }}')).toBe('100000');
  });
});

describe('values', () => {
  it('never changes the context', () => {
    const context = parseJson('{"l":[3,1,2],"d":{"b":1,"a":2}}') as JsonObject;
    const template = compileTemplate('{{ l|sort }}{{ l|reverse|list }}{{ d|dictsort }}{% set l = l + [4] %}{{ l }}{{ d.copy() }}');
    const text = template.render(context, { now });
    expect(template.render(context, { now })).toBe(text);
    expect(context).toEqual(parseJson('{"l":[3,1,2],"d":{"b":1,"a":2}}'));
  });

  it('a template renders the same again and keeps nothing between renders', () => {
    const template = compileTemplate('{% set ns = namespace(n=n) %}{% for i in range(3) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}');
    const at = (n: string) => template.render(parseJson(`{"n":${n}}`) as JsonObject, { now });
    expect([at('1'), at('10'), at('1'), at('0.5')]).toEqual(['4', '13', '4', '3.5']);
  });
});

describe('time', () => {
  it('formats as glibc does in the C locale', () => {
    const time = parseLocalTime('2024-12-30T00:05:09')!;
    expect(
      strftime(
        time,
        '%Y-%m-%d %H:%M:%S %y %C %j %-j %e %k|%l|%I %p %P %A %a %B %b %h %u %w %U %W %V %G %g %D %F %T %R %r %c %% %n%t%f %Q %-d %_d %^b %#Z',
      ),
    ).toBe(
      '2024-12-30 00:05:09 24 20 365 365 30  0|12|12 AM am Monday Mon December Dec Dec 1 1 52 53 01 2025 25 12/30/24 2024-12-30 00:05:09 00:05 12:05:09 AM Mon Dec 30 00:05:09 2024 % \n\t000000 %Q 30 30 DEC ',
    );
  });

  it('refuses what is no wall-clock time', () => {
    for (const text of ['2025-02-30', '2025-13-01', '2025-01-01T24:00', '2025-01-01T00:00:00Z', 'now', ''])
      expect(parseLocalTime(text)).toBeNull();
    expect(parseLocalTime('2025-02-03 04:05')).toMatchObject({ year: 2025, month: 2, day: 3, hour: 4, minute: 5, second: 0 });
    const moment = new Date(2025, 5, 4, 13, 7, 9, 250);
    expect(localTime(moment.getTime())).toEqual({ year: 2025, month: 6, day: 4, hour: 13, minute: 7, second: 9, microsecond: 250_000 });
  });
});
