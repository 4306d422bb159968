import { CONTEXT_NAMES, Expressions, type Kind, type Names } from './jinja-expressions.js';
import type { Random } from './random.js';

const DATA = [
  ' ',
  '\n',
  'text',
  '  \n  ',
  '\n\n',
  'a b',
  '{',
  '}',
  '  ',
  '<|im|>',
  '\t',
  '\n   ',
  '{ %',
  '-',
  'x\r\ny',
  '  {-',
  '#',
  '%}',
  '\u2028',
  ' \n',
] as const;

/** What the statement that is being made can use. */
interface Place {
  readonly expressions: Expressions;
  readonly depth: number;
  readonly inLoop: boolean;
  readonly macros: readonly string[];
}

/** Builds random templates: statements of all kinds, white space control, and text that looks almost like tags. */
export class Templates {
  private counter = 0;
  constructor(
    private readonly random: Random,
    private readonly errors?: number,
  ) {}

  /** A template that runs over the objects of the lists `l` and `k`, with namespaces and macros around and within the loops. */
  history(): string {
    const start: Place = { expressions: new Expressions(this.random, CONTEXT_NAMES, this.errors), depth: 1, inLoop: false, macros: [] };
    let place = this.with(start, { int: ['ns.a'], str: ['ns.b'], any: ['ns.c'] });
    let text = '{% set ns = namespace(a=0, b="", c=none) %}';
    if (this.random.chance(0.5)) {
      const inner = this.with(place, { any: ['p.a', 'p.b'], dict: ['p'] }).expressions;
      text += `{% macro show(p) %}${this.print(inner.of('any', 2))}{% if ${inner.of('bool', 2)} %}{% set ns.a = ${inner.of('int', 1)} %}{% endif %}{% endmacro %}`;
      place = this.with(place, { str: ['show(e)'] });
    }
    for (let loops = 1 + this.random.int(2); loops > 0; loops--) {
      const names: Partial<Names> = {
        any: ['i.a', 'i.b', 'i', 'loop.previtem.a', 'l[loop.index0 - 1].a', 'k[0].b'],
        dict: ['i'],
        int: ['loop.index', 'loop.index0', 'loop.length', 'ns.a'],
        bool: ['loop.first', 'loop.last'],
        str: text.includes('macro show') ? ['show(i)', 'i.role'] : ['i.role'],
      };
      const inner = this.with(place, names);
      const print = (): string => this.print(inner.expressions.of(this.random.pick(['any', 'str', 'int', 'bool'] as const), 2));
      const write = (): string =>
        `{% set ns.${this.random.pick(['a = ns.a + 1', `b = ${inner.expressions.of('str', 2)}`, `c = ${inner.expressions.of('any', 1)}`, 'a = loop.index0'])} %}`;
      const parts = Array.from({ length: 1 + this.random.int(4) }, () =>
        this.random.pick([
          print,
          print,
          write,
          () => `{% if ${inner.expressions.of('bool', 2)} %}${this.random.pick([print, write])()}{% endif %}`,
          () => `{% set x = ${inner.expressions.of('any', 2)} %}{{ x }}`,
          () =>
            this.random.chance(0.3)
              ? `{% if ${inner.expressions.of('bool', 1)} %}{% ${this.random.pick(['break', 'continue'])} %}{% endif %}`
              : print(),
        ])(),
      );
      text += `{% for i in ${this.random.pick(['l', 'l', 'k', 'l[::-1]', 'l[1:]'])} %}${parts.join('')};{% endfor %}{{ ns.a }}`;
    }
    return text;
  }

  template(): string {
    const place: Place = { expressions: new Expressions(this.random, CONTEXT_NAMES, this.errors), depth: 2, inLoop: false, macros: [] };
    const prefix = this.random.chance(0.3) ? this.open('set ns = namespace(a=0, b="", c=[])') : '';
    const body = this.statements(
      prefix === '' ? place : this.with(place, { any: ['ns.a', 'ns.b', 'ns.zz'], str: ['ns.b'], int: ['ns.a'], list: ['ns.c'] }),
      1 + this.random.int(3),
    );
    return prefix + body;
  }

  private with(place: Place, names: Partial<Names>): Place {
    return { ...place, expressions: place.expressions.withNames(names) };
  }

  /** A tag with random marks. */
  private open(inside: string): string {
    const { random } = this;
    const left = random.chance(0.25) ? '-' : random.chance(0.05) ? '+' : '';
    const right = random.chance(0.25) ? '-' : random.chance(0.05) ? '+' : '';
    const space = random.chance(0.9) || left !== '' || right !== '' ? ' ' : '';
    return `{%${left}${space || ' '}${inside}${space || ' '}${right}%}`;
  }

  private print(expression: string): string {
    const { random } = this;
    const left = random.chance(0.12) ? '-' : '';
    const right = random.chance(0.12) ? '-' : '';
    return `{{${left} ${expression} ${right}}}`;
  }

  private statements(place: Place, count: number): string {
    let text = '';
    let current = place;
    for (let index = 0; index < count; index++) {
      if (this.random.chance(0.4)) text += this.random.pick(DATA);
      const [statement, next] = this.statement(current);
      text += statement;
      current = next;
    }
    if (this.random.chance(0.3)) text += this.random.pick(DATA);
    return text;
  }

  private body(place: Place): string {
    return this.statements({ ...place, depth: place.depth - 1 }, 1 + this.random.int(2));
  }

  private statement(place: Place): [string, Place] {
    const { random } = this;
    const { expressions: e, depth } = place;
    const roll = random.int(depth > 0 ? 26 : 10);
    if (roll <= 6)
      return [
        this.print(e.of(random.pick(['str', 'int', 'float', 'bool', 'list', 'dict', 'any', 'str'] as const), 2 + random.int(2))),
        place,
      ];
    if (roll <= 8) return this.set(place);
    if (roll === 9) return [this.oddity(place), place];
    if (roll <= 12) return [this.branch(place), place];
    if (roll <= 17) return [this.loop(place), place];
    if (roll <= 19) return this.macro(place);
    if (roll === 20)
      return [
        `${this.open(`filter ${random.pick(['upper', 'trim', 'replace("a", "b")', 'indent', 'tojson', 'upper|lower', 'length', 'list'])}`)}${this.body(place)}${this.open('endfilter')}`,
        place,
      ];
    if (roll === 21)
      return [
        `${this.open(`with w${depth} = ${e.of('any', 2)}`)}${this.body(this.with(place, { any: [`w${depth}`] }))}${this.open('endwith')}`,
        place,
      ];
    if (roll === 22) return this.setBlock(place);
    if (roll === 23) return [`${this.open('generation')}${this.body({ ...place, inLoop: false })}${this.open('endgeneration')}`, place];
    if (roll === 24) return [this.callBlock(place), place];
    return [
      `${this.open(`block b${++this.counter}${random.chance(0.3) ? ' scoped' : ''}`)}${this.body({ ...place, inLoop: false })}${this.open('endblock')}`,
      place,
    ];
  }

  private set(place: Place): [string, Place] {
    const { random } = this;
    const { expressions: e } = place;
    const kind = random.pick(['str', 'int', 'list', 'dict', 'any', 'bool'] as const);
    const roll = random.int(8);
    if (roll === 0)
      return [
        this.open(`set p, q = ${random.pick([`${e.of('any', 2)}, ${e.of('any', 2)}`, e.of('list', 2)])}`),
        this.with(place, { any: ['p', 'q'] }),
      ];
    if (roll === 1) return [this.open(`set ns.${random.pick(['a', 'b', 'c', 'zz'])} = ${e.of(kind, 2)}`), place];
    if (roll === 2)
      return [
        this.open(`set ns = namespace(${random.pick(['', 'a=1', `a=${e.of('any', 1)}, b="x"`, e.of('dict', 2)])})`),
        this.with(place, { any: ['ns.a', 'ns.b'] }),
      ];
    const name = random.pick(['x', 'y', 's', 'l', 'v']);
    return [this.open(`set ${name} = ${e.of(kind, 3)}`), this.with(place, { [kind]: [name] } as Partial<Names>)];
  }

  private setBlock(place: Place): [string, Place] {
    const filter = this.random.chance(0.3) ? ` | ${this.random.pick(['upper', 'trim', 'length', 'safe'])}` : '';
    return [`${this.open(`set x${filter}`)}${this.body(place)}${this.open('endset')}`, this.with(place, { str: ['x'] })];
  }

  private branch(place: Place): string {
    const { random } = this;
    const test = (): string => place.expressions.of(random.pick(['bool', 'any'] as const), 3);
    let text = this.open(`if ${test()}`) + this.body(place);
    if (random.chance(0.3)) text += this.open(`elif ${test()}`) + this.body(place);
    if (random.chance(0.4)) text += this.open('else') + this.body(place);
    return text + this.open('endif');
  }

  private loop(place: Place): string {
    const { random } = this;
    const { expressions: e } = place;
    const pairs = random.chance(0.2);
    const item = `i${place.depth}`;
    const target = pairs ? random.pick(['k2, v2', '(k2, v2)']) : item;
    const source = pairs
      ? random.pick([`${e.operand('dict', 2)}.items()`, '[("a", 1), ("b", 2)]', `${e.operand('dict', 2)}|dictsort`, e.of('list', 2)])
      : random.pick([e.of('list', 3), e.of('list', 3), e.of('any', 2), e.of('str', 2)]);
    const names: Partial<Names> = {
      any: pairs ? ['k2', 'v2', 'loop.previtem', 'loop.nextitem'] : [item, 'loop.previtem', 'loop.nextitem', `${item}.a`],
      int: ['loop.index', 'loop.index0', 'loop.length', 'loop.revindex', 'loop.depth', 'loop.revindex0'],
      bool: ['loop.first', 'loop.last', 'loop.changed(1)'],
      str: ['loop.cycle("a", "b")'],
    };
    const inner = { ...this.with(place, names), inLoop: true };
    const test = random.chance(0.2) ? ` if ${this.with(place, { any: pairs ? ['k2'] : [item] }).expressions.of('bool', 2)}` : '';
    const recursive = !pairs && random.chance(0.08);
    let body = this.body(inner);
    if (recursive)
      body +=
        this.open(`if ${item} is iterable and ${item} is not string and loop.depth < 4`) + this.print(`loop(${item})`) + this.open('endif');
    if (random.chance(0.25))
      body +=
        this.open(`if ${inner.expressions.of('bool', 2)}`) +
        this.open(random.pick(['break', 'continue'])) +
        this.open('endif') +
        this.body(inner);
    const otherwise = random.chance(0.2) ? this.open('else') + this.body(place) : '';
    return this.open(`for ${target} in ${source}${test}${recursive ? ' recursive' : ''}`) + body + otherwise + this.open('endfor');
  }

  private macro(place: Place): [string, Place] {
    const { random } = this;
    const name = `m${++this.counter}`;
    const { expressions: e } = place;
    const parameters = random.pick(['', 'a', 'a, b', 'a, b=2', `a=${e.of('any', 1)}`, 'a, b="x", c=none', 'x']);
    const names: Record<string, Kind> = { a: 'any', b: 'any', c: 'any', x: 'any' };
    const used = Object.keys(names).filter((parameter) => new RegExp(`\\b${parameter}\\b`).test(parameters));
    const inner = { ...this.with(place, { any: [...used, 'varargs', 'kwargs', 'caller'] }), inLoop: false };
    const body = this.body(inner);
    const text =
      this.open(`macro ${name}(${parameters})`) +
      body +
      (random.chance(0.15) ? this.print(random.pick(['caller()', 'varargs', 'kwargs', 'caller(1)'])) : '') +
      this.open('endmacro');
    const args = random.pick([
      '',
      e.of('any', 2),
      `${e.of('any', 2)}, ${e.of('any', 1)}`,
      `a=${e.of('any', 2)}`,
      `${e.of('any', 1)}, b=${e.of('any', 1)}`,
      `*${e.of('list', 1)}`,
      `**${e.of('dict', 1)}`,
    ]);
    const call = `${name}(${args})`;
    const next = { ...this.with(place, { str: [call] }), macros: [...place.macros, name] };
    return [random.chance(0.8) ? text + this.print(random.pick([call, `${call}|trim`, `${call} ~ "."`])) : this.print(call) + text, next];
  }

  private callBlock(place: Place): string {
    const { random } = this;
    const name = place.macros.length > 0 ? random.pick(place.macros) : random.pick(['nomacro', 'dict', 'joiner', 'namespace']);
    return (
      this.open(`call${random.chance(0.3) ? '(u)' : ''} ${name}(${random.chance(0.4) ? place.expressions.of('any', 2) : ''})`) +
      this.body({ ...place, inLoop: false }) +
      this.open('endcall')
    );
  }

  private oddity(place: Place): string {
    const { random } = this;
    return random.pick([
      '{# comment #}',
      '{#- c -#}',
      '{% raw %} {{ x }} {% endraw %}',
      '{%- raw -%} {% y %}  {%- endraw %}',
      '  {# c #}\n',
      this.open('print 1, 2'),
      this.print('strftime_now("%Y-%m-%d %B %-d")'),
      this.print('loop.index'),
      this.print('self'),
      this.print('joiner("|")()'),
      this.print('cycler(1, 2).next()'),
      this.open('if x'),
      this.open('endfor'),
      '{{',
      '{% set %}',
      this.print('raise_exception("stop")'),
      this.print('lipsum is defined'),
      this.print('x.y.z'),
      `{%if ${place.expressions.of('bool', 1)}%}y{%endif%}`,
      this.print('namespace(a=1)'),
      this.print('range(3)'),
      this.print('"a" "b"'),
      place.inLoop ? this.open('break') : this.print('1'),
      this.print('caller is defined'),
      this.print('dict(a=1).a'),
      this.open('do 1'),
    ]);
  }
}
