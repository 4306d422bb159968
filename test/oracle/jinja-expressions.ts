import { keyNames, literalTexts } from './jinja-values.js';
import type { Random } from './random.js';

export type Kind = 'str' | 'int' | 'float' | 'bool' | 'list' | 'dict' | 'any';
const KINDS: readonly Kind[] = ['str', 'int', 'float', 'bool', 'list', 'dict', 'any'];

/** Names that hold values of a kind where the expression stands. */
export type Names = Readonly<Record<Kind, readonly string[]>>;

export const CONTEXT_NAMES: Names = {
  str: ['s', 't'],
  int: ['n', 'm'],
  float: ['n', 'm'],
  bool: ['yes', 'no'],
  list: ['l', 'k'],
  dict: ['d', 'e'],
  any: ['v', 'w', 'nil', 'missing', 's', 'l', 'd', 'n'],
};

const METHOD_NAMES: ReadonlySet<string> = new Set(['items', 'keys', 'get', 'pop']);

/** Builds random expressions of a wanted kind; a few are of another kind, so that errors are compared too. */
export class Expressions {
  constructor(
    private readonly random: Random,
    private readonly names: Names,
    /** Share of expressions that are of another kind than wanted. */
    private readonly errors = 0.03,
  ) {}

  withNames(extra: Partial<Names>): Expressions {
    const names = Object.fromEntries(
      KINDS.map((kind) => [kind, [...this.names[kind], ...(extra[kind] ?? []), ...(extra[kind] ?? [])]]),
    ) as unknown as Names;
    return new Expressions(this.random, names, this.errors);
  }

  /** An expression of about the given depth. */
  of(wanted: Kind, depth: number): string {
    const { random } = this;
    const kind = random.chance(this.errors) ? random.pick(KINDS) : wanted;
    if (depth <= 0 || random.chance(0.25)) return this.leaf(kind);
    const roll = random.int(20);
    if (roll === 0) return `(${this.of(kind, depth - 1)} if ${this.of('bool', depth - 1)} else ${this.of(kind, depth - 1)})`;
    if (roll === 1) return `(${this.of(kind, depth - 1)} ${random.pick(['or', 'and'])} ${this.of(kind, depth - 1)})`;
    if (roll === 2) return `${this.operand('any', depth)}|default(${this.of(kind, depth - 1)}${random.chance(0.3) ? ', true' : ''})`;
    if (roll === 3 && (kind === 'any' || random.chance(0.3))) return this.access(depth);
    switch (kind) {
      case 'str':
        return this.text(depth);
      case 'int':
        return this.int(depth);
      case 'float':
        return this.float(depth);
      case 'bool':
        return this.bool(depth);
      case 'list':
        return this.list(depth);
      case 'dict':
        return this.dict(depth);
      default:
        return this.of(random.pick(KINDS), depth - 1);
    }
  }

  /** An expression that can stand before a dot, bracket or bar. */
  operand(kind: Kind, depth: number): string {
    const text = this.of(kind, depth - 1);
    return /^[\w]+$/.test(text) && !/^\d/.test(text) ? text : `(${text})`;
  }

  literal(): string {
    return quoted(this.random.pick(literalTexts), this.random);
  }

  private leaf(kind: Kind): string {
    const { random } = this;
    if (random.chance(0.55) && this.names[kind].length > 0) return random.pick(this.names[kind]);
    switch (kind) {
      case 'str':
        return this.literal();
      case 'int':
        return random.pick(['0', '1', '2', '3', '-1', '7', '10', '255', '0x1f', '0b11', '1_000', '100000000000000000000', '-5']);
      case 'float':
        return random.pick(['0.5', '1.0', '2.5', '1e3', '1.5e-3', '-0.0', '0.1', '3.14', '1e16', '1e-7']);
      case 'bool':
        return random.pick(['true', 'false', 'True', 'False']);
      case 'list':
        return random.pick([
          '[]',
          '[1, 2, 3]',
          '["a", "b"]',
          '(1, 2)',
          '(1,)',
          '()',
          '["b", "a", "C", "c"]',
          '[3, 1, 2.0]',
          '[none, 1]',
          'range(4)',
          '[[1, 2], [3]]',
          '[("a", 1), ("b", 2)]',
        ]);
      case 'dict':
        return random.pick([
          '{}',
          '{"a": 1}',
          '{"b": 2, "a": [1]}',
          '{1: "x", "k": none}',
          '{"items": 5}',
          'dict(a=1, b=2)',
          '{true: 1, 2.0: "f"}',
          '{(1, 2): 3}',
        ]);
      default:
        return random.pick(['none', 'missing', 'missing.x', '""', '0', 'true', 'namespace(a=1).a', '"<b>"|safe']);
    }
  }

  /** Members and items. Methods are not taken as values: their text is an address. */
  private access(depth: number): string {
    const { random } = this;
    const key = random.pick(keyNames.filter((name) => !METHOD_NAMES.has(name)));
    const roll = random.int(7);
    if (roll === 0 && /^\w+$/.test(key) && !/^\d/.test(key)) return `${this.operand('dict', depth)}.${key}`;
    if (roll === 1) return `${this.operand('dict', depth)}[${quoted(key, random)}]`;
    if (roll === 2) return `${this.operand('list', depth)}[${this.of('int', depth - 2)}]`;
    if (roll === 3) return `${this.operand(random.pick(['str', 'list'] as const), depth)}[${this.slice(depth)}]`;
    if (roll === 4)
      return `${this.operand('dict', depth)}.get(${quoted(random.pick(keyNames), random)}${random.chance(0.4) ? `, ${this.of('any', depth - 2)}` : ''})`;
    if (roll === 5)
      return `(${this.operand('any', depth)}${random.pick(['.items', "['items']", '.pop', '.upper', '.append', '.__class__', '.__len__', "['get']"])} is ${random.pick(['defined', 'callable', 'string', 'number'])})`;
    return `${this.operand('any', depth)}.${random.pick(['a', 'b', 'x', '0', 'real', 'grouper', 'content'])}`;
  }

  private slice(depth: number): string {
    const { random } = this;
    const part = (): string => (random.chance(0.5) ? '' : random.chance(0.8) ? String(random.int(7) - 3) : this.of('int', depth - 2));
    return random.chance(0.5)
      ? `${part()}:${part()}`
      : `${part()}:${part()}:${random.chance(0.7) ? random.pick(['-1', '2', '-2', '1', '']) : part()}`;
  }

  private text(depth: number): string {
    const { random } = this;
    const a = (kind: Kind = 'str'): string => this.operand(kind, depth);
    const of = (kind: Kind = 'str'): string => this.of(kind, depth - 2);
    const arm = random.int(13);
    if (arm === 0) return `(${this.of('any', depth - 1)} ~ ${this.of('any', depth - 1)})`;
    if (arm === 1) return `(${a()} + ${a()})`;
    if (arm === 2) return `(${a()} * ${of('int')})`;
    if (arm === 3)
      return `(${random.pick(['"%s-%s"', '"%d"', '"%5.2f|"', '"%r"', '"%-6s|"', '"%06d"', '"%x"', '"%e"', '"%g"', '"%(a)s"', '"%s"', '"%+d"', '"%%"', '"%c"'])} % ${random.pick([a('any'), `(${of('any')}, ${of('any')})`, a('int'), a('float'), a('dict')])})`;
    if (arm <= 7) return this.textMethod(depth);
    if (arm <= 11) return this.textFilter(depth);
    return `${this.literal()}.format(${of('any')}${random.chance(0.4) ? `, ${of('any')}` : ''}${random.chance(0.3) ? `, a=${of('any')}` : ''})`;
  }

  private textMethod(depth: number): string {
    const { random } = this;
    const of = (kind: Kind = 'str'): string => this.of(kind, depth - 2);
    const call = random.pick([
      () => 'upper()',
      () => 'lower()',
      () => 'title()',
      () => 'capitalize()',
      () => 'swapcase()',
      () => 'casefold()',
      () => 'strip()',
      () => `strip(${of()})`,
      () => 'lstrip()',
      () => `lstrip(${of()})`,
      () => `rstrip(${of()})`,
      () => `replace(${of()}, ${of()})`,
      () => `replace(${of()}, ${of()}, ${of('int')})`,
      () => `join(${of('list')})`,
      () => `center(${of('int')})`,
      () => `ljust(${of('int')}, "*")`,
      () => `rjust(${of('int')})`,
      () => `zfill(${of('int')})`,
      () => `removeprefix(${of()})`,
      () => `removesuffix(${of()})`,
      () => 'expandtabs()',
      () => `expandtabs(${of('int')})`,
      () => `format(${of('any')})`,
    ]);
    return `${this.operand('str', depth)}.${call()}`;
  }

  private textFilter(depth: number): string {
    const { random } = this;
    const of = (kind: Kind = 'str'): string => this.of(kind, depth - 2);
    const filters: readonly (() => [Kind, string])[] = [
      () => ['str', 'upper'],
      () => ['str', 'lower'],
      () => ['str', 'title'],
      () => ['str', 'capitalize'],
      () => ['str', 'trim'],
      () => ['str', `trim(${of()})`],
      () => ['any', 'string'],
      () => ['any', 'tojson'],
      () => ['any', `tojson(indent=${random.pick(['2', '0', 'none', '"  "', '-1'])})`],
      () => ['any', 'tojson(sort_keys=true)'],
      () => ['any', 'tojson(ensure_ascii=true)'],
      () => ['any', 'tojson(separators=(",", ":"))'],
      () => ['list', `join(${of()})`],
      () => ['list', 'join'],
      () => ['list', `join(", ", attribute=${quoted(random.pick(keyNames), random)})`],
      () => ['str', `replace(${of()}, ${of()})`],
      () => ['str', `indent(${of('int')}${random.chance(0.4) ? ', true' : ''}${random.chance(0.2) ? ', blank=true' : ''})`],
      () => ['str', `truncate(${random.int(12)}${random.chance(0.5) ? ', true' : ''})`],
      () => ['str', `truncate(${random.int(9)}, ${of('bool')}, "..", 0)`],
      () => ['str', 'e'],
      () => ['str', 'safe'],
      () => ['str', 'striptags'],
      () => ['str', `center(${random.int(20)})`],
      () => ['str', 'forceescape'],
      () => ['str', `format(${of('any')}, ${of('any')})`],
      () => ['str', 'urlencode'],
      () => ['dict', 'urlencode'],
      () => ['dict', 'xmlattr'],
      () => ['float', 'filesizeformat'],
      () => ['str', `wordwrap(${random.int(10)})`],
      () => ['str', 'reverse'],
      () => ['any', 'pprint'],
      () => ['str', 'first'],
      () => ['list', 'last'],
      () => ['str', 'urlize'],
    ];
    const [kind, name] = random.pick(filters)();
    return `${this.operand(kind, depth)}|${name}`;
  }

  private int(depth: number): string {
    const { random } = this;
    const of = (kind: Kind): string => this.of(kind, depth - 2);
    const a = (kind: Kind): string => this.operand(kind, depth);
    const arm = random.int(9);
    if (arm <= 2) return `(${a('int')} ${random.pick(['+', '-', '*', '//', '%', '-', '+'])} ${a('int')})`;
    if (arm === 3) return `${a(random.pick(['str', 'list', 'dict'] as const))}|${random.pick(['length', 'count'])}`;
    if (arm === 4) return `${a('any')}|int${random.chance(0.4) ? `(${of('int')}${random.chance(0.3) ? ', 16' : ''})` : ''}`;
    if (arm === 5)
      return `${a('str')}.${random.pick(['find', 'rfind', 'index', 'count'])}(${of('str')}${random.chance(0.3) ? `, ${of('int')}` : ''})`;
    if (arm === 6)
      return random.pick([
        `-${a('int')}`,
        `+${a('int')}`,
        `${a('int')}|abs`,
        `(${a('int')} ** ${random.int(5)})`,
        `${a('str')}|wordcount`,
        `${a('str')}.encode()|length`,
      ]);
    if (arm === 7) return `${a('list')}|${random.pick(['sum', 'min', 'max', 'first', 'last', 'sum(start=3)'])}`;
    return `${a('list')}.${random.pick(['index', 'count'])}(${of('any')})`;
  }

  private float(depth: number): string {
    const { random } = this;
    const a = (kind: Kind): string => this.operand(kind, depth);
    const arm = random.int(4);
    if (arm <= 1) return `(${a('float')} ${random.pick(['+', '-', '*', '/', '//', '%'])} ${a(random.pick(['int', 'float'] as const))})`;
    if (arm === 2) return `${a('any')}|float${random.chance(0.3) ? '(1.5)' : ''}`;
    return `${a('float')}|round${random.pick(['', '(1)', '(2, "floor")', '(0, "ceil")', '(-1)', '(3)'])}`;
  }

  private bool(depth: number): string {
    const { random } = this;
    const of = (kind: Kind): string => this.of(kind, depth - 1);
    const a = (kind: Kind): string => this.operand(kind, depth);
    const arm = random.int(10);
    if (arm <= 1) return `(${of('any')} ${random.pick(['==', '!='])} ${of('any')})`;
    if (arm === 2)
      return `(${a('int')} ${random.pick(['<', '<=', '>', '>=', '==', '!='])} ${a(random.pick(['int', 'float'] as const))}${random.chance(0.2) ? ` < ${a('int')}` : ''})`;
    if (arm === 3) return `(${a('str')} ${random.pick(['<', '>', 'in', 'not in', '==', '<='])} ${a('str')})`;
    if (arm === 4) return `(${of('any')} ${random.pick(['in', 'not in'])} ${a(random.pick(['list', 'dict', 'str'] as const))})`;
    if (arm === 5) return `not ${a('any')}`;
    if (arm === 6)
      return `${a('str')}.${random.pick(['startswith', 'endswith'])}(${random.pick([of('str'), `(${of('str')}, ${of('str')})`])}${random.chance(0.2) ? `, ${of('int')}` : ''})`;
    if (arm === 7)
      return `${a('str')}.${random.pick(['isdigit', 'isalpha', 'isupper', 'islower', 'isspace', 'isalnum', 'istitle', 'isnumeric', 'isdecimal', 'isidentifier', 'isprintable', 'isascii'])}()`;
    return this.test(depth);
  }

  private test(depth: number): string {
    const { random } = this;
    const of = (kind: Kind): string => this.of(kind, depth - 2);
    const name = random.pick([
      () => 'defined',
      () => 'undefined',
      () => 'none',
      () => 'string',
      () => 'number',
      () => 'integer',
      () => 'float',
      () => 'boolean',
      () => 'mapping',
      () => 'sequence',
      () => 'iterable',
      () => 'callable',
      () => 'true',
      () => 'false',
      () => 'odd',
      () => 'even',
      () => 'divisibleby 3',
      () => `divisibleby(${of('int')})`,
      () => 'lower',
      () => 'upper',
      () => `eq(${of('any')})`,
      () => `ne(${of('any')})`,
      () => `lt(${of('int')})`,
      () => `ge(${of('float')})`,
      () => `in(${of('list')})`,
      () => 'escaped',
      () => 'filter',
      () => 'test',
      () => `sameas(${random.pick(['none', 'true', 'false'])})`,
      () => 'equalto 1',
    ])();
    return `(${this.operand('any', depth)} is ${random.chance(0.3) ? 'not ' : ''}${name})`;
  }

  private list(depth: number): string {
    const { random } = this;
    const of = (kind: Kind): string => this.of(kind, depth - 2);
    const a = (kind: Kind): string => this.operand(kind, depth);
    const key = quoted(random.pick(keyNames), random);
    const test = random.pick([
      '"string"',
      '"defined"',
      '"none"',
      `"equalto", ${of('any')}`,
      '"odd"',
      '"number"',
      `"in", ${of('list')}`,
      '"mapping"',
      `"gt", ${of('int')}`,
    ]);
    const arms: readonly (() => string)[] = [
      () => `[${of('any')}, ${of('any')}]`,
      () => `(${of('any')}, ${of('any')})`,
      () => `(${a('list')} + ${a('list')})`,
      () => `${a('list')}[${this.slice(depth)}]`,
      () => `${a('any')}|list`,
      () => `${a('str')}.split(${random.chance(0.6) ? of('str') : ''})`,
      () => `${a('str')}.${random.pick(['split', 'rsplit'])}(${of('str')}, ${of('int')})`,
      () => `${a('str')}.rsplit()`,
      () => `${a('str')}.split(none, ${random.int(3)})`,
      () => `${a('str')}.splitlines(${random.pick(['', 'true'])})`,
      () => `${a('str')}.${random.pick(['partition', 'rpartition'])}(${of('str')})`,
      () => `range(${random.int(6)}${random.chance(0.4) ? `, ${random.int(9) - 3}` : ''})`,
      () => `${a('dict')}.${random.pick(['keys', 'values', 'items'])}()`,
      () =>
        `${a('dict')}|${random.pick(['list', 'dictsort', 'items', 'items|list', 'dictsort(true)', 'dictsort(by="value")', 'dictsort(reverse=true)'])}`,
      () =>
        `${a('list')}|${random.pick(['sort', 'sort(reverse=true)', 'sort(case_sensitive=true)', 'unique|list', 'reverse|list', 'batch(2)|list', 'batch(2, 0)|list', 'slice(2)|list', 'slice(3, "x")|list', 'unique(true)|list'])}`,
      () => `${a('list')}|map(attribute=${key}${random.chance(0.3) ? `, default=${of('any')}` : ''})|list`,
      () =>
        `${a('list')}|map(${random.pick(['"upper"', '"string"', '"length"', '"trim"', '"default", 1', '"int"', '"tojson"', '"replace", "a", "b"', '"nope"'])})|list`,
      () => `${a('list')}|${random.pick(['select', 'reject'])}${random.chance(0.7) ? `(${test})` : ''}|list`,
      () => `${a('list')}|${random.pick(['selectattr', 'rejectattr'])}(${key}${random.chance(0.7) ? `, ${test}` : ''})|list`,
      () => `${a('list')}|groupby(${key}${random.chance(0.3) ? ', default="z"' : ''})`,
      () => `${a('list')}|sort(attribute=${key})`,
      () => `(${a('list')} * ${random.int(3)})`,
      () => `${a('list')}|sum(start=[])`,
      () => `${a('list')}|map("first")|list`,
    ];
    return random.pick(arms)();
  }

  private dict(depth: number): string {
    const { random } = this;
    const of = (kind: Kind): string => this.of(kind, depth - 2);
    const arm = random.int(4);
    if (arm === 0) return `{${quoted(random.pick(keyNames), random)}: ${of('any')}, ${of('any')}: ${of('any')}}`;
    if (arm === 1) return `dict(${of('dict')}, ${random.pick(['a', 'b', 'class'])}=${of('any')})`;
    if (arm === 2) return `dict(${random.pick([`${this.operand('dict', depth)}.items()`, '[["a", 1]]', '[("k", 2), ("a", 3)]'])})`;
    return `${this.operand('dict', depth)}.copy()`;
  }
}

/** A text as a literal, in either kind of quotes and with a choice of escapes. */
export function quoted(text: string, random: Random): string {
  const quote = random.chance(0.5) ? '"' : "'";
  let body = '';
  for (const character of text) {
    const code = character.codePointAt(0)!;
    if (character === quote || character === '\\') body += `\\${character}`;
    else if (code < 0x20 || (code > 0x7e && code < 0x10000 && random.chance(0.3)))
      body += code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
    else body += character;
  }
  return quote + body + quote;
}
