import { bind } from './arguments.js';
import { TEXT_PREDICATES } from './case-mapping.js';
import { equal, hashKey, type Ordering, ordered } from './compare.js';
import { findFilter } from './filters.js';
import { contains, DictView, PyIterator, tryIterate } from './iterate.js';
import { isFloat, isInt } from './numbers.js';
import type { Kwargs, Value } from './object.js';
import { Callable, PyObject } from './object.js';
import { modulo } from './operators.js';
import { raise, typeError } from './python-error.js';
import { repr, str } from './repr.js';
import { typeName } from './type-names.js';
import { isDict, isStr, Markup, strText, Undefined } from './values.js';

export type Test = (value: Value, args: readonly Value[], kwargs: Kwargs) => boolean;

const plain =
  (name: string, run: (value: Value) => boolean): Test =>
  (value, args, kwargs) => {
    if (args.length > 0 || kwargs !== null) bind(name, ['value'], 1, [value, ...args], kwargs);
    return run(value);
  };

const withArgument =
  (name: string, parameter: string, run: (value: Value, argument: Value) => boolean): Test =>
  (value, args, kwargs) => {
    const [, argument] = bind(name, ['value', parameter], 2, [value, ...args], kwargs);
    return run(value, argument!);
  };

const orderTest = (name: string, ordering: Ordering): Test => withArgument(name, 'b', (a, b) => ordered(ordering, a, b));
const equalTest = (name: string): Test => withArgument(name, 'b', equal);
const unequalTest = (name: string): Test => withArgument(name, 'b', (a, b) => !equal(a, b));

function isSequence(value: Value): boolean {
  if (isStr(value) || Array.isArray(value) || value instanceof Map) return true;
  return (
    value instanceof PyObject &&
    value.length() >= 0 &&
    value.subscriptable &&
    !(value instanceof DictView) &&
    !(value instanceof PyIterator)
  );
}

function nameIn(find: (name: string) => unknown, value: Value): boolean {
  if (hashKey(value) === undefined) typeError(`unhashable type: '${typeName(value)}'`);
  return isStr(value) && find(strText(value)) !== undefined;
}

const same = (a: Value, b: Value): boolean => a === b;

const TESTS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['defined', plain('defined', (value) => !(value instanceof Undefined))],
  ['undefined', plain('undefined', (value) => value instanceof Undefined)],
  ['none', plain('none', (value) => value === null)],
  ['boolean', plain('boolean', (value) => typeof value === 'boolean')],
  ['true', plain('true', (value) => value === true)],
  ['false', plain('false', (value) => value === false)],
  ['integer', plain('integer', isInt)],
  ['float', plain('float', isFloat)],
  ['number', plain('number', (value) => isInt(value) || isFloat(value) || typeof value === 'boolean')],
  ['string', plain('string', isStr)],
  ['mapping', plain('mapping', isDict)],
  ['sequence', plain('sequence', isSequence)],
  ['iterable', plain('iterable', (value) => (value instanceof PyIterator ? true : tryIterate(value) !== null))],
  ['callable', plain('callable', (value) => value instanceof Callable || value instanceof Undefined)],
  ['escaped', plain('escaped', (value) => value instanceof Markup)],
  ['odd', plain('odd', (value) => equal(modulo(value, 2), 1))],
  ['even', plain('even', (value) => equal(modulo(value, 2), 0))],
  ['divisibleby', withArgument('divisibleby', 'num', (value, by) => equal(modulo(value, by), 0))],
  ['lower', plain('lower', (value) => TEXT_PREDICATES.islower!(str(value)))],
  ['upper', plain('upper', (value) => TEXT_PREDICATES.isupper!(str(value)))],
  ['sameas', withArgument('sameas', 'other', same)],
  ['in', withArgument('in', 'seq', (value, container) => contains(container, value))],
  ['filter', plain('filter', (value) => nameIn(findFilter, value))],
  ['test', plain('test', (value) => nameIn(findTest, value))],
  ...['==', 'eq', 'equalto'].map((name): [string, Test] => [name, equalTest(name)]),
  ...['!=', 'ne'].map((name): [string, Test] => [name, unequalTest(name)]),
  ...['>', 'gt', 'greaterthan'].map((name): [string, Test] => [name, orderTest(name, '>')]),
  ...['>=', 'ge'].map((name): [string, Test] => [name, orderTest(name, '>=')]),
  ...['<', 'lt', 'lessthan'].map((name): [string, Test] => [name, orderTest(name, '<')]),
  ...['<=', 'le'].map((name): [string, Test] => [name, orderTest(name, '<=')]),
]);

export function findTest(name: string): Test | undefined {
  return TESTS.get(name);
}

/** A test by its name as a value, as `select` runs it. */
export function runTest(name: Value, value: Value, args: readonly Value[], kwargs: Kwargs): boolean {
  const found = isStr(name) ? TESTS.get(strText(name)) : undefined;
  if (!found) raise('TemplateRuntimeError', `No test named ${repr(name)}.`);
  return found(value, args, kwargs);
}
