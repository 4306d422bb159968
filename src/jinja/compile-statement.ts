import { compileAssign, compileStore } from './compile-assign.js';
import { compileCall } from './compile-call.js';
import { compileAssignBlock, compileBlockUse, compileFilterBlock, compileWith } from './compile-capture.js';
import { compileCondition, compileExpression, type Evaluate } from './compile-expression.js';
import { compileFor } from './compile-for.js';
import { compileMacro } from './compile-macro.js';
import { constantValue } from './constant-fold.js';
import { type Blocks, BREAK, CONTINUE, type Execute, NORMAL } from './flow.js';
import { Macro } from './macro.js';
import type { Expression, IfNode, Statement } from './nodes.js';
import { PythonError, typeError } from './python-error.js';
import { str } from './repr.js';
import { type Scope, softScope } from './scope.js';

export function compileBody(statements: readonly Statement[], scope: Scope, blocks: Blocks): Execute {
  const steps = statements.map((statement) => compileStatement(statement, scope, blocks));
  if (steps.length === 1) return steps[0]!;
  return (frame) => {
    for (const step of steps) {
      const flow = step(frame);
      if (flow !== NORMAL) return flow;
    }
    return NORMAL;
  };
}

function compileStatement(node: Statement, scope: Scope, blocks: Blocks): Execute {
  const run = compileKind(node, scope, blocks);
  const { line } = node;
  if (node.kind === 'output' || node.kind === 'if') return run;
  return (frame) => {
    frame.rt.line = line;
    return run(frame);
  };
}

function compileKind(node: Statement, scope: Scope, blocks: Blocks): Execute {
  switch (node.kind) {
    case 'output':
      return compileOutput(node.nodes, scope);
    case 'if':
      return compileIf(node, softScope(scope), blocks);
    case 'for':
      return compileFor(node, scope, blocks);
    case 'assign':
      return compileAssign(node, scope);
    case 'assignblock':
      return compileAssignBlock(node, scope, blocks);
    case 'with':
      return compileWith(node, scope, blocks);
    case 'filterblock':
      return compileFilterBlock(node, scope, blocks);
    case 'macro': {
      const code = compileMacro(node, node.name, scope, blocks);
      const store = compileStore({ kind: 'name', name: node.name, ctx: 'store', line: node.line }, scope);
      return (frame) => {
        store(frame, new Macro(code, frame));
        return NORMAL;
      };
    }
    case 'callblock': {
      const code = compileMacro(node, null, scope, blocks);
      const caller: Evaluate = (frame) => new Macro(code, frame);
      const call: Evaluate =
        node.call.kind === 'call' ? compileCall(node.call, scope, caller) : (frame) => (caller(frame) as Macro).call([], null);
      return (frame) => {
        frame.rt.printOnlyText(call(frame));
        return NORMAL;
      };
    }
    case 'block':
      return compileBlockUse(node, scope, blocks);
    case 'break':
    case 'continue': {
      if (!scope.breakable) throw new PythonError('SyntaxError', `'${node.kind}' outside loop`, node.line);
      const flow = node.kind === 'break' ? BREAK : CONTINUE;
      return () => flow;
    }
    case 'loader': {
      if (node.tag === 'extends' && !scope.toplevel)
        throw new PythonError('TemplateAssertionError', 'cannot use extend from a non top-level scope', node.line);
      const template = compileExpression(node.template, scope);
      return (frame) => {
        template(frame);
        typeError('no loader for this environment specified');
      };
    }
  }
}

function compileOutput(nodes: readonly Expression[], scope: Scope): Execute {
  const parts: (string | { readonly evaluate: Evaluate; readonly line: number })[] = [];
  for (const node of nodes) {
    const text = constantText(node);
    const last = parts.length - 1;
    if (text === undefined) parts.push({ evaluate: compileExpression(node, scope), line: node.line });
    else if (typeof parts[last] === 'string') parts[last] += text;
    else parts.push(text);
  }
  if (parts.length === 1 && typeof parts[0] === 'string') {
    const text = parts[0];
    return (frame) => {
      frame.rt.out += text;
      return NORMAL;
    };
  }
  return (frame) => {
    const { rt } = frame;
    for (const part of parts) {
      if (typeof part === 'string') rt.out += part;
      else {
        rt.line = part.line;
        const value = part.evaluate(frame);
        rt.out += typeof value === 'string' ? value : str(value);
      }
    }
    return NORMAL;
  };
}

/** The text of an expression that is known while compiling. */
function constantText(node: Expression): string | undefined {
  if (node.kind === 'data') return node.text;
  const value = constantValue(node);
  try {
    return value === undefined ? undefined : str(value);
  } catch (error) {
    if (error instanceof PythonError) return undefined;
    throw error;
  }
}

function compileIf(node: IfNode, scope: Scope, blocks: Blocks): Execute {
  const branches = [node, ...node.elifs].map((branch) => ({
    test: compileCondition(branch.test, scope),
    body: compileBody(branch.body, scope, blocks),
    line: branch.line,
  }));
  const otherwise = node.otherwise.length > 0 ? compileBody(node.otherwise, scope, blocks) : null;
  return (frame) => {
    for (const branch of branches) {
      frame.rt.line = branch.line;
      if (branch.test(frame)) return branch.body(frame);
    }
    return otherwise ? otherwise(frame) : NORMAL;
  };
}
