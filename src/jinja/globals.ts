import { bind, positional } from './arguments.js';
import { each, Range } from './iterate.js';
import { Namespace } from './namespace.js';
import { intOf } from './numbers.js';
import { Callable, type Kwargs, NativeFunction, PyObject, type StrDict, type Value } from './object.js';
import { raise, typeError, valueError } from './python-error.js';
import { str } from './repr.js';
import { type LocalTime, strftime } from './strftime.js';
import { touched, tracing } from './tracing.js';
import { typeName } from './type-names.js';
import { dictEntries, isDict, isStr, makeDict, strText, Tuple, Undefined } from './values.js';

class Cycler extends PyObject {
  override readonly typeName = 'Cycler';
  private position = 0;
  private readonly birth = tracing.clock;
  constructor(private readonly items: readonly Value[]) {
    super();
  }
  override truthy(): boolean {
    return true;
  }
  override getAttribute(name: string): Value | undefined {
    touched(this.birth);
    if (name === 'current') return this.items[this.position];
    if (name === 'items') return new Tuple(this.items);
    if (name === 'pos') return this.position;
    if (name === 'reset')
      return new NativeFunction(name, () => {
        this.position = 0;
        return null;
      });
    if (name !== 'next') return undefined;
    return new NativeFunction(name, () => {
      const item = this.items[this.position]!;
      this.position = (this.position + 1) % this.items.length;
      return item;
    });
  }
}

class Joiner extends Callable {
  override readonly typeName = 'Joiner';
  private used = false;
  private readonly birth = tracing.clock;
  constructor(private readonly separator: Value) {
    super();
  }
  override call(args: readonly Value[], kwargs: Kwargs): Value {
    positional('__call__', 0, 0, args, kwargs);
    touched(this.birth);
    if (this.used) return this.separator;
    this.used = true;
    return '';
  }
  override getAttribute(name: string): Value | undefined {
    touched(this.birth);
    if (name === 'sep') return this.separator;
    return name === 'used' ? this.used : undefined;
  }
}

const MAX_RANGE = 100_000;

function range(args: readonly Value[], kwargs: Kwargs): Value {
  positional('range', 1, 3, args, kwargs);
  const numbers = args.map((value) => {
    const int = intOf(value);
    return int === undefined ? typeError(`'${typeName(value)}' object cannot be interpreted as an integer`) : Number(int);
  });
  const [start, stop, step] = numbers.length === 1 ? [0, numbers[0]!, 1] : [numbers[0]!, numbers[1]!, numbers[2] ?? 1];
  if (step === 0) valueError('range() arg 3 must not be zero');
  const made = new Range(start, stop, step);
  if (made.size > MAX_RANGE) raise('OverflowError', `Range too big. The sandbox blocks ranges larger than MAX_RANGE (${MAX_RANGE}).`);
  return made;
}

/** The members that `dict(*args, **kwargs)` gets. */
function dictMembers(args: readonly Value[], kwargs: Kwargs): (readonly [Value, Value])[] {
  if (args.length > 1) typeError(`dict expected at most 1 argument, got ${args.length}`);
  const members: (readonly [Value, Value])[] = [];
  const source = args[0];
  if (source instanceof Undefined) source.fail();
  if (source instanceof Namespace) typeError("'Namespace' object is not iterable");
  if (source !== undefined && isDict(source)) members.push(...dictEntries(source));
  else if (source !== undefined)
    for (const [index, pair] of [...each(source)].entries()) {
      const parts = [...each(pair)];
      if (parts.length !== 2) valueError(`dictionary update sequence element #${index} has length ${parts.length}; 2 is required`);
      members.push([parts[0]!, parts[1]!]);
    }
  return kwargs === null ? members : [...members, ...kwargs];
}

const builtin = (name: string, run: (args: readonly Value[], kwargs: Kwargs) => Value, text: string): [string, Value] => [
  name,
  new NativeFunction(name, run, text.startsWith('<class') ? 'type' : 'function', text),
];

const WORDS =
  'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua'.split(' ');

function lipsum(args: readonly Value[], kwargs: Kwargs): Value {
  const [count = 5] = bind('generate_lorem_ipsum', ['n', 'html', 'min', 'max'], 0, args, kwargs);
  const int = intOf(count);
  if (int === undefined) typeError(`'${typeName(count)}' object cannot be interpreted as an integer`);
  return Array.from({ length: Math.max(0, Math.min(Number(int), 1000)) }, () => `<p>${WORDS.join(' ')}.</p>`).join('\n');
}

/** The environment's global names; the context's names win over them. */
export const GLOBALS: StrDict = new Map<string, Value>([
  builtin('range', range, '<function safe_range>'),
  builtin('dict', (args, kwargs) => makeDict(dictMembers(args, kwargs)), "<class 'dict'>"),
  builtin(
    'namespace',
    (args, kwargs) => new Namespace(dictEntries(makeDict(dictMembers(args, kwargs)))),
    "<class 'jinja2.utils.Namespace'>",
  ),
  builtin(
    'cycler',
    (args, kwargs) => {
      positional('Cycler', 0, Number.MAX_SAFE_INTEGER, args, kwargs);
      return args.length === 0 ? raise('RuntimeError', 'at least one item has to be provided') : new Cycler(args);
    },
    "<class 'jinja2.utils.Cycler'>",
  ),
  builtin('joiner', (args, kwargs) => new Joiner(bind('Joiner', ['sep'], 0, args, kwargs)[0] ?? ', '), "<class 'jinja2.utils.Joiner'>"),
  builtin('lipsum', lipsum, '<function generate_lorem_ipsum>'),
]);

/** {@link GLOBALS} with the functions of chat templates: `raise_exception` and a `strftime_now` on the given clock. */
export function chatGlobals(now: () => LocalTime): StrDict {
  return new Map<string, Value>([
    ...GLOBALS,
    builtin(
      'raise_exception',
      (args, kwargs) => raise('TemplateError', str(bind('raise_exception', ['message'], 1, args, kwargs)[0]!)),
      '<function raise_exception>',
    ),
    builtin(
      'strftime_now',
      (args, kwargs) => {
        touched(-1);
        const [format] = bind('strftime_now', ['format'], 1, args, kwargs);
        return isStr(format!) ? strftime(now(), strText(format)) : typeError(`strftime() argument 1 must be str, not ${typeName(format!)}`);
      },
      '<function strftime_now>',
    ),
  ]);
}

/** `callee(*args, **kwargs)`. */
export function callValue(callee: Value, args: readonly Value[], kwargs: Kwargs): Value {
  if (callee instanceof Callable) return callee.call(args, kwargs);
  if (callee instanceof Undefined) callee.fail();
  typeError(`'${typeName(callee)}' object is not callable`);
}
