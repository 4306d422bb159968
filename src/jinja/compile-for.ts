import { compileStore } from './compile-assign.js';
import { type Condition, compileCondition, compileExpression } from './compile-expression.js';
import { compileEnter, compileLeave } from './compile-frame.js';
import { compileBody } from './compile-statement.js';
import { type Blocks, BREAK, type Execute, type Flow, NORMAL, type Store } from './flow.js';
import { iterate, PyIterator } from './iterate.js';
import { applyWrites, holds, Recorder } from './iteration-record.js';
import { LoopContext } from './loop-context.js';
import type { ForNode } from './nodes.js';
import type { List, Value } from './object.js';
import { PythonError } from './python-error.js';
import { hasBlock, type RecordScope, storedNames, writtenMembers } from './record-scope.js';
import type { LoopMemo } from './render-memo.js';
import { Frame } from './runtime.js';
import { innerScope, type Scope } from './scope.js';
import { assignsLoop, hasScopedBlock, undeclared } from './symbols.js';
import { tracing } from './tracing.js';

/** The parts of a loop, ready to run. */
interface LoopCode {
  readonly target: Store;
  /** Slot of the `loop` variable, -1 where the body does not use it. */
  readonly loopSlot: number;
  readonly enter: (frame: Frame) => void;
  readonly leave: (frame: Frame) => void;
  readonly body: Execute;
  readonly filter: ((frame: Frame, source: Value) => Value) | null;
  readonly otherwise: Execute | null;
  /** The body in the form that can be recorded, made when it is first needed; `null` for a loop that is never remembered. */
  readonly recorded: (() => RecordedBody) | null;
}

interface RecordedBody {
  readonly enter: (frame: Frame) => void;
  readonly body: Execute;
}

export function compileFor(node: ForNode, scope: Scope, blocks: Blocks): Execute {
  if (assignsLoop(node))
    throw new PythonError('TemplateAssertionError', "Can't assign to special loop variable in for-loop target", node.line);
  const source = compileExpression(node.iter, scope);
  if (!node.recursive) {
    const code = compileLoop(node, scope, blocks);
    return (frame) => runLoop(code, frame, source(frame), 0, null);
  }
  const code = compileLoop(node, scope, blocks);
  return (frame) => {
    const recurse = (items: Value, depth: number): string => {
      const own = new Frame(frame.rt, frame);
      return frame.rt.capture(() => {
        runLoop(code, own, items, depth, recurse);
      });
    };
    const text = recurse(source(frame), 0);
    frame.rt.out += text;
    return NORMAL;
  };
}

function compileLoop(node: ForNode, outer: Scope, blocks: Blocks): LoopCode {
  const inner = innerScope(outer, node.recursive ? 'own function' : 'same function');
  const scope: Scope = { ...inner, breakable: true };
  const extended = node.recursive || undeclared(node.body, ['loop']).has('loop') || hasScopedBlock(node);
  const loopSlot = extended ? scope.fn.slot(scope.symbols.parameter('loop')).index : -1;
  scope.symbols.visitLoop(node, 'body');
  const target = compileStore(node.target, scope);
  const filter = node.test ? compileLoopFilter(node, node.test, outer) : null;
  return {
    target,
    loopSlot,
    enter: compileEnter(scope),
    leave: compileLeave(scope),
    body: compileBody(node.body, scope, blocks),
    filter,
    otherwise: node.otherwise.length > 0 ? compileElse(node, inner, outer, blocks) : null,
    recorded: node.recursive || outer.record !== null || hasBlock(node.body) ? null : recordable(node, scope, blocks),
  };
}

function recordable(node: ForNode, scope: Scope, blocks: Blocks): () => RecordedBody {
  let made: RecordedBody | null = null;
  return () => {
    if (made === null) {
      const stored = storedNames(node.body);
      const items = new Set([...storedNames([node.target])].filter((name) => !stored.has(name)));
      const written = new Set([...writtenMembers(node.body), ...scope.writes.byMacros]);
      const record: RecordScope = { level: scope.symbols.level, items, written, at: 'loop', home: scope.fn };
      const recording: Scope = { ...scope, record };
      made = { enter: compileEnter(recording), body: compileBody(node.body, recording, blocks) };
    }
    return made;
  };
}

function compileElse(node: ForNode, inner: Scope, outer: Scope, blocks: Blocks): Execute {
  const scope: Scope = { ...innerScope(outer, 'same function'), fn: inner.fn, breakable: node.recursive ? false : outer.breakable };
  scope.symbols.visitLoop(node, 'else');
  const [enter, leave, body] = [compileEnter(scope), compileLeave(scope), compileBody(node.otherwise, scope, blocks)];
  return (frame) => {
    enter(frame);
    const flow = body(frame);
    leave(frame);
    return flow;
  };
}

/** The `if` of a loop, as a generator with variables of its own. */
function compileLoopFilter(node: ForNode, test: NonNullable<ForNode['test']>, outer: Scope): (frame: Frame, source: Value) => Value {
  const scope = innerScope(outer, 'own function');
  scope.symbols.visitLoop(node, 'test');
  const [target, condition, enter] = [compileStore(node.target, scope), compileCondition(test, scope), compileEnter(scope)];
  // The generator belongs to the function around the loop, also where the loop is a function of its own.
  const home = (frame: Frame): Frame | null => (node.recursive ? frame.parent : frame);
  return (frame, source) => new PyIterator('generator', filtered(new Frame(frame.rt, home(frame)), source, enter, target, condition));
}

function* filtered(frame: Frame, source: Value, enter: (frame: Frame) => void, target: Store, condition: Condition): Generator<Value> {
  enter(frame);
  const iterator = iterate(source);
  for (let step = iterator.next(); !step.done; step = iterator.next()) {
    frame.rt.tick();
    target(frame, step.value);
    if (condition(frame)) yield step.value;
  }
}

function runLoop(
  code: LoopCode,
  frame: Frame,
  given: Value,
  depth: number,
  recurse: ((items: Value, depth: number) => string) | null,
): Flow {
  const source = code.filter ? code.filter(frame, given) : given;
  const { target, loopSlot, enter, body } = code;
  const { rt } = frame;
  const line = rt.line;
  const memo = code.recorded !== null && rt.memo !== null && tracing.tracer === null && !rt.inForgotten ? rt.memo.loop(code) : null;
  let finished = false;
  const iteration = (item: Value, loop: LoopContext | null): boolean => {
    rt.tick();
    target(frame, item);
    let flow: Flow;
    if (memo !== null && (item instanceof Map || Array.isArray(item))) flow = remembered(code, memo, frame, item, loop);
    else {
      enter(frame);
      flow = body(frame);
    }
    if (flow === NORMAL) finished = true;
    return flow !== BREAK;
  };
  if (loopSlot >= 0) {
    const loop = new LoopContext(source, depth, recurse);
    for (let item = loop.advance(); item !== undefined; item = loop.advance()) {
      frame.vars[loopSlot] = loop;
      if (!iteration(item, loop)) break;
      rt.line = line;
    }
  } else if (Array.isArray(source)) {
    for (const item of source as List) if (!iteration(item, null)) break;
  } else {
    const iterator = iterate(source);
    for (let step = iterator.next(); !step.done; step = iterator.next()) if (!iteration(step.value, null)) break;
  }
  code.leave(frame);
  rt.line = line;
  return code.otherwise && !finished ? code.otherwise(frame) : NORMAL;
}

/** Runs an iteration that cannot be remembered, and remembers none of its inner loops: they may be as many as there are messages. */
function forgotten(code: LoopCode, memo: LoopMemo, frame: Frame, item: object): Flow {
  const { rt } = frame;
  const printed = rt.out;
  rt.out = '';
  rt.inForgotten = true;
  code.enter(frame);
  const flow = code.body(frame);
  rt.inForgotten = false;
  const text = rt.out;
  rt.out = printed;
  rt.print(text, null);
  memo.remember(item, null, false);
  return flow;
}

/** Runs an iteration, or does what it did before if all that it read is as it was. */
function remembered(code: LoopCode, memo: LoopMemo, frame: Frame, item: object, loop: LoopContext | null): Flow {
  const { rt } = frame;
  rt.flush();
  const candidates = memo.candidates(item);
  if (candidates === null) return forgotten(code, memo, frame, item);
  for (const record of candidates) {
    if (!rt.canRepeat(record)) continue;
    const namespaces = holds(record, frame, rt.root!, loop);
    if (namespaces === null) continue;
    applyWrites(record, namespaces);
    rt.print(record.text ?? '', record);
    memo.remember(item, record, true);
    return record.flow;
  }
  const { enter, body } = code.recorded!();
  const recorder = new Recorder(frame, rt.root!, loop);
  const printed = rt.out;
  rt.out = '';
  tracing.tracer = recorder;
  let flow: Flow;
  try {
    enter(frame);
    flow = body(frame);
  } finally {
    tracing.tracer = null;
  }
  const text = rt.out;
  rt.out = printed;
  const record = recorder.finish(text, flow);
  rt.print(text, record);
  memo.remember(item, record, false);
  return flow;
}
