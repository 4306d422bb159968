import { directMethod, getAttribute, getItem } from './attributes.js';
import { BINARY, compareValues } from './binary.js';
import { equal } from './compare.js';
import { constantValue, isWritable } from './constant-fold.js';
import { DICT_METHODS } from './container-methods.js';
import { findFilter } from './filters.js';
import { callValue } from './globals.js';
import { each, slice } from './iterate.js';
import type { Place, Recorder } from './iteration-record.js';
import type { Arguments, CallNode, Expression } from './nodes.js';
import type { Kwargs, StrDict, Value } from './object.js';
import { checkedText, negate, positive, truthy } from './operators.js';
import { PythonError, raise, typeError } from './python-error.js';
import { conditionTreatment, isContextName, nameOrigin, ownerOf, treatment } from './record-scope.js';
import { str } from './repr.js';
import type { Frame } from './runtime.js';
import { guardScope, type Scope } from './scope.js';
import { findTest } from './tests.js';
import { tracing } from './tracing.js';
import { typeName } from './type-names.js';
import { dictEntries, isDict, isStr, makeDict, strText, Tuple, Undefined, undefinedName } from './values.js';

export type Evaluate = (frame: Frame) => Value;
export type Condition = (frame: Frame) => boolean;

/** Reads a variable; `undefined` where it has no value. */
export function compileRead(ident: string, scope: Scope): (frame: Frame) => Value | undefined {
  const { depth, index } = scope.fn.slot(ident);
  if (depth === 0) return (frame) => frame.vars[index];
  if (depth === 1) return (frame) => frame.parent!.vars[index];
  return (frame) => {
    let at = frame;
    for (let level = 0; level < depth; level++) at = at.parent!;
    return at.vars[index];
  };
}

/** Expressions that jinja2 computes at compile time where it can. */
const FOLDED: ReadonlySet<Expression['kind']> = new Set([
  'binary',
  'and',
  'or',
  'not',
  'neg',
  'pos',
  'concat',
  'compare',
  'attribute',
  'item',
  'filter',
  'test',
  'conditional',
]);

/** Turns an expression into a closure. Raises for what jinja2 refuses while compiling, such as an unknown filter. */
export function compileExpression(node: Expression, scope: Scope): Evaluate {
  if (FOLDED.has(node.kind)) {
    const value = constantValue(node);
    if (value !== undefined && isWritable(value)) return () => value;
  }
  if (scope.record !== null) {
    const how = treatment(node, scope);
    if (how === 'plain') return compileNode(node, { ...scope, record: null });
    if (how === 'guard') return compileGuarded(node, scope, scope.record.at);
  }
  return compileNode(node, scope);
}

/** An expression whose value the recorder of the iteration keeps as a guard. */
function compileGuarded(node: Expression, scope: Scope, at: Place): Evaluate {
  const evaluate = compileExpression(node, guardScope(scope));
  return () => (tracing.tracer as Recorder).value(evaluate, at)!;
}

function compileNode(node: Expression, scope: Scope): Evaluate {
  switch (node.kind) {
    case 'const':
      return constant(node.value);
    case 'data':
      return constant(node.text);
    case 'name':
      return compileName(node.name, scope);
    case 'tuple': {
      const items = node.items.map((item) => compileExpression(item, scope));
      return (frame) => new Tuple(items.map((item) => item(frame)));
    }
    case 'list': {
      const items = node.items.map((item) => compileExpression(item, scope));
      return (frame) => items.map((item) => item(frame));
    }
    case 'dict': {
      const items = node.items.map(({ key, value }) => [compileExpression(key, scope), compileExpression(value, scope)] as const);
      return (frame) => makeDict(items.map(([key, value]): [Value, Value] => [key(frame), value(frame)]));
    }
    case 'conditional':
      return compileConditional(node, { ...scope, soft: true });
    case 'and': {
      const [left, right] = [compileExpression(node.left, scope), compileExpression(node.right, scope)];
      return (frame) => {
        const value = left(frame);
        return truthy(value) ? right(frame) : value;
      };
    }
    case 'or': {
      const [left, right] = [compileExpression(node.left, scope), compileExpression(node.right, scope)];
      return (frame) => {
        const value = left(frame);
        return truthy(value) ? value : right(frame);
      };
    }
    case 'not': {
      const test = compileCondition(node.node, scope);
      return (frame) => !test(frame);
    }
    case 'neg':
    case 'pos': {
      const [operand, operator] = [compileExpression(node.node, scope), node.kind === 'neg' ? negate : positive];
      return (frame) => operator(operand(frame));
    }
    case 'binary': {
      const [left, right, operator] = [compileExpression(node.left, scope), compileExpression(node.right, scope), BINARY[node.op]];
      return (frame) => operator(left(frame), right(frame));
    }
    case 'compare':
      return compileCompare(node, scope);
    case 'concat':
      return compileConcat(node.nodes.map((part) => compileExpression(part, scope)));
    case 'attribute':
      return compileAttribute(compileExpression(node.node, scope), node.attr);
    case 'item':
      return compileItem(node, scope);
    case 'filter':
      return compileFilter(node, scope, compileExpression(node.node!, scope));
    case 'test':
      return compileTest(node, scope);
    case 'call':
      return compileCall(node, scope, null);
    case 'slice':
    case 'nsref':
    case 'generation':
      throw new PythonError('SyntaxError', 'invalid syntax', node.line);
  }
}

const constant =
  (value: Value): Evaluate =>
  () =>
    value;

/** As {@link compileExpression}, for a place where only the truth of the value counts. */
export function compileCondition(node: Expression, scope: Scope): Condition {
  if (constantValue(node) === undefined) {
    if (scope.record !== null) {
      const how = conditionTreatment(node, scope);
      if (how === 'plain') return compileCondition(node, { ...scope, record: null });
      if (how === 'guard') {
        const { at } = scope.record;
        const test = compileCondition(node, guardScope(scope));
        return () => (tracing.tracer as Recorder).condition(test, at);
      }
    }
    if (node.kind === 'and') {
      const [left, right] = [compileCondition(node.left, scope), compileCondition(node.right, scope)];
      return (frame) => left(frame) && right(frame);
    }
    if (node.kind === 'or') {
      const [left, right] = [compileCondition(node.left, scope), compileCondition(node.right, scope)];
      return (frame) => left(frame) || right(frame);
    }
    if (node.kind === 'not') {
      const operand = compileCondition(node.node, scope);
      return (frame) => !operand(frame);
    }
  }
  const value = compileExpression(node, scope);
  return (frame) => truthy(value(frame));
}

/** Reads a variable from where it comes: while recording, one from outside becomes a guard. */
export function compileVariable(name: string, scope: Scope): (frame: Frame) => Value | undefined {
  const ident = scope.symbols.ref(name);
  if (scope.guard && isContextName(ownerOf(scope.symbols, ident), ident, name)) return (frame) => frame.rt.resolve(name);
  if (scope.record === null || nameOrigin(name, scope) !== 'outside') return compileRead(ident, scope);
  return compileKept(compileVariable(name, guardScope(scope)), scope.record.at);
}

/** A read whose result the recorder of the iteration keeps as a guard. */
export function compileKept(read: (frame: Frame) => Value | undefined, at: Place): (frame: Frame) => Value | undefined {
  return () => (tracing.tracer as Recorder).value(read, at);
}

function compileName(name: string, scope: Scope): Evaluate {
  if (scope.guard) {
    const read = compileVariable(name, scope);
    return (frame) => {
      const value = read(frame);
      return value === undefined ? undefinedName(name) : value;
    };
  }
  const read = compileRead(scope.symbols.ref(name), scope);
  const { depth, index } = scope.fn.slot(scope.symbols.ref(name));
  if (depth === 0)
    return (frame) => {
      const value = frame.vars[index];
      return value === undefined ? undefinedName(name) : value;
    };
  return (frame) => {
    const value = read(frame);
    return value === undefined ? undefinedName(name) : value;
  };
}

function compileConditional(node: Expression & { kind: 'conditional' }, scope: Scope): Evaluate {
  const [test, yes] = [compileCondition(node.test, scope), compileExpression(node.yes, scope)];
  if (node.otherwise !== null) {
    const otherwise = compileExpression(node.otherwise, scope);
    return (frame) => (test(frame) ? yes(frame) : otherwise(frame));
  }
  const hint = `the inline if-expression on line ${node.line} evaluated to false and no else section was defined.`;
  return (frame) => (test(frame) ? yes(frame) : new Undefined(hint, undefined, null));
}

function compileCompare(node: Expression & { kind: 'compare' }, scope: Scope): Evaluate {
  const left = compileExpression(node.left, scope);
  const ops = node.ops.map(({ op, right }) => ({ op, right: compileExpression(right, scope) }));
  if (ops.length === 1) {
    const { op, right } = ops[0]!;
    if (op === '==') return (frame) => equal(left(frame), right(frame));
    if (op === '!=') return (frame) => !equal(left(frame), right(frame));
    return (frame) => compareValues(op, left(frame), right(frame));
  }
  return (frame) => {
    let value = left(frame);
    for (const { op, right } of ops) {
      const next = right(frame);
      if (!compareValues(op, value, next)) return false;
      value = next;
    }
    return true;
  };
}

function compileConcat(parts: readonly Evaluate[]): Evaluate {
  return (frame) => {
    let text = '';
    for (const part of parts) text += str(part(frame));
    return checkedText(text);
  };
}

function compileAttribute(object: Evaluate, name: string): Evaluate {
  if (name.startsWith('_') || DICT_METHODS.has(name)) return (frame) => getAttribute(object(frame), name);
  return (frame) => {
    const value = object(frame);
    if (!(value instanceof Map)) return getAttribute(value, name);
    const member = (value as StrDict).get(name);
    return member === undefined ? new Undefined(null, value as StrDict, name) : member;
  };
}

function compileItem(node: Expression & { kind: 'item' }, scope: Scope): Evaluate {
  const object = compileExpression(node.node, scope);
  if (node.arg.kind !== 'slice') {
    const key = compileExpression(node.arg, scope);
    return (frame) => {
      const value = object(frame);
      const at = key(frame);
      if (typeof at === 'string' && value instanceof Map) {
        const member = (value as StrDict).get(at);
        if (member !== undefined) return member;
      }
      return getItem(value, at);
    };
  }
  const [start, stop, step] = [node.arg.start, node.arg.stop, node.arg.step].map((part) =>
    part === null ? constant(null) : compileExpression(part, scope),
  ) as [Evaluate, Evaluate, Evaluate];
  return (frame) => slice(object(frame), start(frame), stop(frame), step(frame));
}

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

function compileTest(node: Expression & { kind: 'test' }, scope: Scope): Evaluate {
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
