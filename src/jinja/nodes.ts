import type { Value } from './object.js';

/** The syntax tree. `line` is the 1-based line of the template. */
export type Context = 'load' | 'store' | 'param';
export type BinaryOperator = '+' | '-' | '*' | '/' | '//' | '%' | '**';
export type CompareOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';

export interface Arguments {
  readonly args: readonly Expression[];
  readonly kwargs: readonly { readonly key: string; readonly value: Expression }[];
  readonly dynArgs: Expression | null;
  readonly dynKwargs: Expression | null;
}

export type Name = { readonly kind: 'name'; readonly name: string; ctx: Context; readonly line: number };
export type FilterNode = Arguments & {
  readonly kind: 'filter';
  readonly node: Expression | null;
  readonly name: string;
  readonly line: number;
};
export type CallNode = Arguments & { readonly kind: 'call'; readonly node: Expression; readonly line: number };

export type Expression =
  | Name
  | { readonly kind: 'nsref'; readonly name: string; readonly attr: string; readonly line: number }
  | { readonly kind: 'const'; readonly value: Value; readonly line: number }
  | { readonly kind: 'data'; readonly text: string; readonly line: number }
  | { readonly kind: 'tuple'; readonly items: readonly Expression[]; readonly line: number }
  | { readonly kind: 'list'; readonly items: readonly Expression[]; readonly line: number }
  | { readonly kind: 'dict'; readonly items: readonly { readonly key: Expression; readonly value: Expression }[]; readonly line: number }
  | {
      readonly kind: 'conditional';
      readonly test: Expression;
      readonly yes: Expression;
      readonly otherwise: Expression | null;
      readonly line: number;
    }
  | FilterNode
  | (Arguments & { readonly kind: 'test'; readonly node: Expression; readonly name: string; readonly line: number })
  | CallNode
  /** The `{% generation %}` block's call: runs its body. */
  | { readonly kind: 'generation'; readonly line: number }
  | { readonly kind: 'item'; readonly node: Expression; readonly arg: Expression; readonly line: number }
  | { readonly kind: 'attribute'; readonly node: Expression; readonly attr: string; readonly line: number }
  | {
      readonly kind: 'slice';
      readonly start: Expression | null;
      readonly stop: Expression | null;
      readonly step: Expression | null;
      readonly line: number;
    }
  | { readonly kind: 'concat'; readonly nodes: readonly Expression[]; readonly line: number }
  | {
      readonly kind: 'compare';
      readonly left: Expression;
      readonly ops: readonly { readonly op: CompareOperator; readonly right: Expression }[];
      readonly line: number;
    }
  | { readonly kind: 'binary'; readonly op: BinaryOperator; readonly left: Expression; readonly right: Expression; readonly line: number }
  | { readonly kind: 'and' | 'or'; readonly left: Expression; readonly right: Expression; readonly line: number }
  | { readonly kind: 'not' | 'neg' | 'pos'; readonly node: Expression; readonly line: number };

export interface Signature {
  readonly args: readonly Name[];
  readonly defaults: readonly Expression[];
}

export type IfNode = {
  readonly kind: 'if';
  readonly test: Expression;
  readonly body: readonly Statement[];
  readonly elifs: readonly IfNode[];
  readonly otherwise: readonly Statement[];
  readonly line: number;
};
export type ForNode = {
  readonly kind: 'for';
  readonly target: Expression;
  readonly iter: Expression;
  readonly body: readonly Statement[];
  readonly otherwise: readonly Statement[];
  readonly test: Expression | null;
  readonly recursive: boolean;
  readonly line: number;
};
export type MacroNode = Signature & {
  readonly kind: 'macro';
  readonly name: string;
  readonly body: readonly Statement[];
  readonly line: number;
};
export type CallBlockNode = Signature & {
  readonly kind: 'callblock';
  readonly call: Expression;
  readonly body: readonly Statement[];
  readonly line: number;
};
export type BlockNode = {
  readonly kind: 'block';
  readonly name: string;
  readonly body: readonly Statement[];
  readonly scoped: boolean;
  readonly required: boolean;
  readonly line: number;
};

export type Statement =
  | { readonly kind: 'output'; readonly nodes: readonly Expression[]; readonly line: number }
  | ForNode
  | IfNode
  | MacroNode
  | CallBlockNode
  | BlockNode
  | { readonly kind: 'filterblock'; readonly body: readonly Statement[]; readonly filter: FilterNode; readonly line: number }
  | {
      readonly kind: 'with';
      readonly targets: readonly Expression[];
      readonly values: readonly Expression[];
      readonly body: readonly Statement[];
      readonly line: number;
    }
  | { readonly kind: 'assign'; readonly target: Expression; readonly value: Expression; readonly line: number }
  | {
      readonly kind: 'assignblock';
      readonly target: Expression;
      readonly filter: FilterNode | null;
      readonly body: readonly Statement[];
      readonly line: number;
    }
  | { readonly kind: 'break' | 'continue'; readonly line: number }
  /** `extends`, `include`, `import` and `from`: they evaluate their expression and fail, because no templates can be loaded. */
  | {
      readonly kind: 'loader';
      readonly template: Expression;
      readonly names: readonly string[];
      readonly tag: string;
      readonly line: number;
    };

export type Node = Expression | Statement;

const argumentsOf = (node: Arguments): Expression[] => {
  const list = [...node.args, ...node.kwargs.map((kwarg) => kwarg.value)];
  if (node.dynArgs) list.push(node.dynArgs);
  if (node.dynKwargs) list.push(node.dynKwargs);
  return list;
};

/** The direct children of a node in the order in which jinja2 visits them. */
export function children(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'name':
    case 'nsref':
    case 'const':
    case 'data':
    case 'generation':
    case 'break':
    case 'continue':
      return [];
    case 'tuple':
    case 'list':
      return node.items;
    case 'dict':
      return node.items.flatMap((pair) => [pair.key, pair.value]);
    case 'conditional':
      return node.otherwise ? [node.test, node.yes, node.otherwise] : [node.test, node.yes];
    case 'filter':
      return node.node ? [node.node, ...argumentsOf(node)] : argumentsOf(node);
    case 'test':
    case 'call':
      return [node.node, ...argumentsOf(node)];
    case 'item':
      return [node.node, node.arg];
    case 'attribute':
    case 'not':
    case 'neg':
    case 'pos':
      return [node.node];
    case 'slice':
      return [node.start, node.stop, node.step].filter((part) => part !== null);
    case 'concat':
    case 'output':
      return node.nodes;
    case 'compare':
      return [node.left, ...node.ops.map((op) => op.right)];
    case 'binary':
    case 'and':
    case 'or':
      return [node.left, node.right];
    case 'for':
      return [node.target, node.iter, ...node.body, ...node.otherwise, ...(node.test ? [node.test] : [])];
    case 'if':
      return [node.test, ...node.body, ...node.elifs, ...node.otherwise];
    case 'macro':
      return [...node.args, ...node.defaults, ...node.body];
    case 'callblock':
      return [node.call, ...node.args, ...node.defaults, ...node.body];
    case 'block':
      return node.body;
    case 'filterblock':
      return [...node.body, node.filter];
    case 'with':
      return [...node.targets, ...node.values, ...node.body];
    case 'assign':
      return [node.target, node.value];
    case 'assignblock':
      return [node.target, ...(node.filter ? [node.filter] : []), ...node.body];
    case 'loader':
      return [node.template];
  }
}
