import { compileExpression } from './compile-expression.js';
import { compileEnter } from './compile-frame.js';
import { compileBody } from './compile-statement.js';
import type { Blocks } from './flow.js';
import type { MacroCode } from './macro.js';
import type { CallBlockNode, MacroNode } from './nodes.js';
import { PythonError } from './python-error.js';
import type { RecordScope } from './record-scope.js';
import type { Frame } from './runtime.js';
import { innerScope, type Scope } from './scope.js';
import { undeclared } from './symbols.js';
import { Undefined } from './values.js';

/** Compiles a macro, or the body of a call block (without a name). */
export function compileMacro(node: MacroNode | CallBlockNode, name: string | null, scope: Scope, blocks: Blocks): MacroCode {
  const inner = innerScope(scope, 'own function');
  const { symbols } = inner;
  const analyze = (): void => symbols.visitAll([...node.args, ...node.defaults, ...node.body]);
  analyze();
  const parameters = node.args.map((arg) => arg.name);
  if (new Set(parameters).size < parameters.length)
    throw new PythonError('SyntaxError', 'duplicate argument in function definition', node.line);
  const special = undeclared(node.body, ['caller', 'kwargs', 'varargs']);
  const explicitCaller = parameters.indexOf('caller');
  if (special.has('caller') && explicitCaller >= 0 && explicitCaller < parameters.length - node.defaults.length)
    throw new PythonError(
      'TemplateAssertionError',
      'When defining macros or call blocks the special "caller" argument must be omitted or be given a default.',
      node.line,
    );
  const implicit = (wanted: string): number =>
    special.has(wanted) && !parameters.includes(wanted) ? inner.fn.slot(symbols.parameter(wanted)).index : -1;
  const callerSlot = implicit('caller');
  const kwargsSlot = implicit('kwargs');
  const varargsSlot = implicit('varargs');
  analyze();
  const slots = parameters.map((parameter) => inner.fn.slot(symbols.ref(parameter)).index);
  const firstDefault = parameters.length - node.defaults.length;
  const compileRun = (where: Scope): ((frame: Frame) => void) => {
    const defaults = parameters.map((parameter, index) => {
      const given = node.defaults[index - firstDefault];
      const missing = (): Undefined => new Undefined(`parameter '${parameter}' was not provided`, undefined, parameter);
      return { slot: slots[index]!, value: given ? compileExpression(given, where) : missing };
    });
    const enter = compileEnter(where);
    const body = compileBody(node.body, where, blocks);
    return (frame) => {
      enter(frame);
      for (const { slot, value } of defaults) if (frame.vars[slot] === undefined) frame.vars[slot] = value(frame);
      body(frame);
    };
  };
  const run = compileRun(inner);
  const record: RecordScope = { level: symbols.level, items: new Set(), written: scope.writes.all, at: 'root', home: scope.fn };
  let recorded: ((frame: Frame) => void) | null = null;
  const makeRecorded = (): ((frame: Frame) => void) => {
    recorded ??= compileRun({ ...inner, record });
    return recorded;
  };
  return { name, parameters, slots, callerSlot, kwargsSlot, varargsSlot, run, recorded: scope.record === null ? makeRecorded : null };
}
