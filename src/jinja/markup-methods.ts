import { escapeValue, stripTags } from './html.js';
import { each } from './iterate.js';
import type { Kwargs, Value } from './object.js';
import { STR_METHODS } from './str-methods.js';
import { isStr, Markup, strText, Tuple } from './values.js';

type MarkupMethod = (self: Markup, args: readonly Value[], kwargs: Kwargs) => Value;

/** Methods whose result Markup wraps; the others give what str gives. */
const WRAPPED = (
  'split rsplit splitlines capitalize title lower upper replace ljust rjust center lstrip rstrip strip translate expandtabs swapcase zfill ' +
  'casefold removeprefix removesuffix partition rpartition'
).split(' ');
/** Position of the argument that is escaped before it becomes part of the text. */
const ESCAPED: Readonly<Record<string, number>> = { replace: 1, ljust: 1, rjust: 1, center: 1 };

function wrap(value: Value): Value {
  if (typeof value === 'string') return new Markup(value);
  if (Array.isArray(value)) return value.map(wrap);
  return value instanceof Tuple ? new Tuple(value.items.map(wrap)) : value;
}

function wrapped(name: string): MarkupMethod {
  const method = STR_METHODS.get(name)!;
  const place = ESCAPED[name];
  return (self, args, kwargs) => {
    const given = args.map((value, index) => (index === place ? escapeValue(value).text : isStr(value) ? strText(value) : value));
    return wrap(method(self.text, given, kwargs));
  };
}

export const MARKUP_METHODS: ReadonlyMap<string, MarkupMethod> = new Map<string, MarkupMethod>([
  ...[...STR_METHODS].map(([name, method]): [string, MarkupMethod] => [name, (self, args, kwargs) => method(self.text, args, kwargs)]),
  ...WRAPPED.map((name): [string, MarkupMethod] => [name, wrapped(name)]),
  ['join', (self, args) => new Markup([...each(args[0] ?? null)].map((item) => escapeValue(item).text).join(self.text))],
  ['striptags', (self) => stripTags(self.text)],
  ['unescape', (self) => stripTags(`${self.text}`)],
  ['escape', (_self, args) => escapeValue(args[0] ?? null)],
]);
