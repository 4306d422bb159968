import { directMethod, getAttribute } from './attributes.js';
import { compileExpression, type Evaluate } from './compile-expression.js';
import { findFilter } from './filters.js';
import { callValue } from './globals.js';
import { each } from './iterate.js';
import type { Arguments, CallNode, Expression } from './nodes.js';
import type { Kwargs, Value } from './object.js';
import { PythonError, raise, typeError } from './python-error.js';
import type { Frame } from './runtime.js';
import type { Scope } from './scope.js';
import { findTest } from './tests.js';
import { typeName } from './type-names.js';
import { dictEntries, isDict, isStr, strText, Undefined } from './values.js';

interface CompiledArguments {
  readonly args: (frame: Frame) => Value[];
  readonly kwargs: (frame: Frame) => Kwargs;
}

const noKwargs = (): null => null;

function compileArguments(node: Arguments, scope: Scope, name: string): CompiledArguments {
  const fixed = node.args.map((arg) => compileExpression(arg, scope));
  const dynArgs = node.dynArgs && compileExpression(node.dynArgs, scope);
  const named = node.kwargs.map(({ key, value }) => ({ key, value: compileExpression(value, scope) }));
  const dynKwargs = node.dynKwargs && compileExpression(node.dynKwargs, scope);
  const repeated = named.find(({ key }, index) => named.findIndex((other) => other.key === key) !== index);
  if (repeated) throw new PythonError('SyntaxError', `keyword argument repeated: ${repeated.key}`);
  const args = (frame: Frame): Value[] => {
    const values = fixed.map((arg) => arg(frame));
    if (dynArgs) values.push(...spread(dynArgs(frame), name));
    return values;
  };
  if (named.length === 0 && !dynKwargs) return { args, kwargs: noKwargs };
  const kwargs = (frame: Frame): Kwargs => {
    const values = new Map<string, Value>();
    for (const { key, value } of named) values.set(key, value(frame));
    if (dynKwargs) addKwargs(values, dynKwargs(frame), name);
    return values.size === 0 ? null : values;
  };
  return { args, kwargs };
}

function spread(value: Value, name: string): Iterable<Value> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'string'))
    typeError(`${name}() argument after * must be an iterable, not ${typeName(value)}`);
  return each(value);
}

function addKwargs(values: Map<string, Value>, more: Value, name: string): void {
  if (more instanceof Undefined) more.fail();
  if (!isDict(more)) typeError(`${name}() argument after ** must be a mapping, not ${typeName(more)}`);
  for (const [key, value] of dictEntries(more)) {
    if (!isStr(key)) typeError('keywords must be strings');
    if (values.has(strText(key))) typeError(`${name}() got multiple values for keyword argument '${strText(key)}'`);
    values.set(strText(key), value);
  }
}

/** A filter on the value that `object` gives. */
export function compileFilter(node: Expression & { kind: 'filter' }, scope: Scope, object: Evaluate): Evaluate {
  const filter = findFilter(node.name);
  if (!filter && !scope.soft) throw new PythonError('TemplateAssertionError', `No filter named '${node.name}'.`, node.line);
  const { args, kwargs } = compileArguments(node, scope, node.name);
  if (!filter)
    return (frame) => {
      object(frame);
      return raise('TemplateRuntimeError', `No filter named '${node.name}' found.`);
    };
  const { run } = filter;
  if (node.args.length === 0 && kwargs === noKwargs && !node.dynArgs) return (frame) => run(object(frame), [], null);
  return (frame) => run(object(frame), args(frame), kwargs(frame));
}

export function compileTest(node: Expression & { kind: 'test' }, scope: Scope): Evaluate {
  const test = findTest(node.name);
  if (!test && !scope.soft) throw new PythonError('TemplateAssertionError', `No test named '${node.name}'.`, node.line);
  const object = compileExpression(node.node, scope);
  const { args, kwargs } = compileArguments(node, scope, node.name);
  if (!test)
    return (frame) => {
      object(frame);
      return raise('TemplateRuntimeError', `No test named '${node.name}' found.`);
    };
  if (node.args.length === 0 && kwargs === noKwargs && !node.dynArgs) return (frame) => test(object(frame), [], null);
  return (frame) => test(object(frame), args(frame), kwargs(frame));
}

/** A call; `caller`, where given, becomes the keyword argument of that name. */
export function compileCall(node: CallNode, scope: Scope, caller: Evaluate | null): Evaluate {
  if (caller && node.kwargs.some(({ key }) => key === 'caller'))
    throw new PythonError('SyntaxError', 'keyword argument repeated: caller', node.line);
  const { args, kwargs: ownKwargs } = compileArguments(node, scope, 'function');
  const kwargs: (frame: Frame) => Kwargs = caller ? (frame) => withCaller(ownKwargs(frame), caller(frame)) : ownKwargs;
  if (node.node.kind !== 'attribute') {
    const callee = compileExpression(node.node, scope);
    return (frame) => {
      const { line } = frame.rt;
      const value = callValue(callee(frame), args(frame), kwargs(frame));
      frame.rt.line = line;
      return value;
    };
  }
  const object = compileExpression(node.node.node, scope);
  const name = node.node.attr;
  return (frame) => {
    const self = object(frame);
    const method = directMethod(self, name);
    if (method) return method(self, args(frame), kwargs(frame));
    const { line } = frame.rt;
    const value = callValue(getAttribute(self, name), args(frame), kwargs(frame));
    frame.rt.line = line;
    return value;
  };
}

function withCaller(kwargs: Kwargs, caller: Value): Kwargs {
  if (kwargs?.has('caller')) typeError("function() got multiple values for keyword argument 'caller'");
  return new Map([...(kwargs ?? []), ['caller', caller]]);
}
