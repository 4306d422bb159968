import { JsonFloat } from '../canonical/json-value.js';
import { getAttribute, getItem } from './attributes.js';
import { BINARY, compareValues } from './binary.js';
import { findFilter } from './filters.js';
import { each, Range, slice } from './iterate.js';
import { type Arguments, children, type Expression } from './nodes.js';
import type { Kwargs, Value } from './object.js';
import { negate, positive } from './operators.js';
import { PythonError } from './python-error.js';
import { str } from './repr.js';
import { findTest } from './tests.js';
import { truthy } from './truth.js';
import { dictEntries, isDict, isStr, Markup, makeDict, PyDict, strText, Tuple, Undefined } from './values.js';

/** The value of an expression that jinja2 computes while it compiles, or `undefined`. */
export function constantValue(node: Expression): Value | undefined {
  if (!mayBeConstant(node)) return undefined;
  try {
    return evaluate(node);
  } catch (error) {
    if (error instanceof PythonError || error === IMPOSSIBLE || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Whether jinja2 can write the value down as a constant. */
export function isWritable(value: Value): boolean {
  if (value === null || typeof value !== 'object' || value instanceof JsonFloat || value instanceof Markup || value instanceof Range)
    return true;
  if (Array.isArray(value)) return value.every(isWritable);
  if (value instanceof Tuple) return value.items.every(isWritable);
  return (
    isDict(value) &&
    (!(value instanceof PyDict) || value.length() > 0) &&
    [...dictEntries(value)].every(([key, member]) => isWritable(key) && isWritable(member))
  );
}

const IMPOSSIBLE = new Error('not a constant');
const known = new WeakMap<Expression, boolean>();

function mayBeConstant(node: Expression): boolean {
  let result = known.get(node);
  if (result === undefined) {
    result = decide(node);
    known.set(node, result);
  }
  return result;
}

function decide(node: Expression): boolean {
  if (node.kind === 'name' || node.kind === 'nsref' || node.kind === 'call' || node.kind === 'generation') return false;
  if (node.kind === 'filter') {
    if (node.node === null || findFilter(node.name)?.context !== false) return false;
  } else if (node.kind === 'test' && !findTest(node.name)) return false;
  else if (node.kind === 'conditional' || node.kind === 'and' || node.kind === 'or') return true;
  return children(node).every((child) => mayBeConstant(child as Expression));
}

function evaluate(node: Expression): Value {
  if (!mayBeConstant(node)) throw IMPOSSIBLE;
  switch (node.kind) {
    case 'const':
      return node.value;
    case 'data':
      return node.text;
    case 'tuple':
      return new Tuple(node.items.map(evaluate));
    case 'list':
      return node.items.map(evaluate);
    case 'dict':
      return makeDict(node.items.map(({ key, value }): [Value, Value] => [evaluate(key), evaluate(value)]));
    case 'conditional':
      if (truthy(evaluate(node.test))) return evaluate(node.yes);
      if (node.otherwise === null) throw IMPOSSIBLE;
      return evaluate(node.otherwise);
    case 'and': {
      const left = evaluate(node.left);
      return truthy(left) ? evaluate(node.right) : left;
    }
    case 'or': {
      const left = evaluate(node.left);
      return truthy(left) ? left : evaluate(node.right);
    }
    case 'not':
      return !truthy(evaluate(node.node));
    case 'neg':
      return negate(evaluate(node.node));
    case 'pos':
      return positive(evaluate(node.node));
    case 'binary':
      return BINARY[node.op](evaluate(node.left), evaluate(node.right));
    case 'compare': {
      let left = evaluate(node.left);
      for (const { op, right } of node.ops) {
        const next = evaluate(right);
        if (!compareValues(op, left, next)) return false;
        left = next;
      }
      return true;
    }
    case 'concat':
      return node.nodes.map((part) => str(evaluate(part))).join('');
    case 'attribute':
      return getAttribute(evaluate(node.node), node.attr);
    case 'item':
      return node.arg.kind === 'slice' ? constantSlice(evaluate(node.node), node.arg) : getItem(evaluate(node.node), evaluate(node.arg));
    case 'filter': {
      const [args, kwargs] = constantArguments(node);
      return findFilter(node.name)!.run(evaluate(node.node!), args, kwargs);
    }
    case 'test': {
      const [args, kwargs] = constantArguments(node);
      return findTest(node.name)!(evaluate(node.node), args, kwargs);
    }
    default:
      throw IMPOSSIBLE;
  }
}

/** While compiling, jinja2 takes a slice as any other key: what cannot be sliced gives undefined instead of an error. */
function constantSlice(value: Value, node: Expression & { kind: 'slice' }): Value {
  const [start, stop, step] = [node.start, node.stop, node.step].map((part) => (part === null ? null : evaluate(part))) as [
    Value,
    Value,
    Value,
  ];
  try {
    return slice(value, start, stop, step);
  } catch (error) {
    if (error instanceof PythonError && error.pythonClass === 'TypeError') return new Undefined(null, value, null);
    throw error;
  }
}

function constantArguments(node: Arguments): [Value[], Kwargs] {
  const args = node.args.map(evaluate);
  if (node.dynArgs) args.push(...each(evaluate(node.dynArgs)));
  const kwargs = new Map(node.kwargs.map(({ key, value }) => [key, evaluate(value)]));
  if (node.dynKwargs) {
    const more = evaluate(node.dynKwargs);
    if (!isDict(more)) throw IMPOSSIBLE;
    for (const [key, value] of dictEntries(more)) {
      if (!isStr(key)) throw IMPOSSIBLE;
      kwargs.set(strText(key), value);
    }
  }
  return [args, kwargs.size === 0 ? null : kwargs];
}
