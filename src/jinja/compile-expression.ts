import { getAttribute, getItem } from './attributes.js';
import { BINARY, compareValues } from './binary.js';
import { equal } from './compare.js';
import { compileCall, compileFilter, compileTest } from './compile-call.js';
import { compileName } from './compile-variable.js';
import { constantValue, isWritable } from './constant-fold.js';
import { DICT_METHODS } from './container-methods.js';
import { slice } from './iterate.js';
import type { Place, Recorder } from './iteration-record.js';
import type { Expression } from './nodes.js';
import type { StrDict, Value } from './object.js';
import { checkedText, negate, positive } from './operators.js';
import { PythonError } from './python-error.js';
import { conditionTreatment, treatment } from './record-scope.js';
import { str } from './repr.js';
import type { Frame } from './runtime.js';
import { guardScope, type Scope } from './scope.js';
import { tracing } from './tracing.js';
import { truthy } from './truth.js';
import { makeDict, Tuple, Undefined } from './values.js';

export type Evaluate = (frame: Frame) => Value;
export type Condition = (frame: Frame) => boolean;

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
