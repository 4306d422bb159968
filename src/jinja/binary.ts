import { equal, ordered } from './compare.js';
import { contains } from './iterate.js';
import type { BinaryOperator, CompareOperator } from './nodes.js';
import type { Value } from './object.js';
import { add, divide, floorDivide, modulo, multiply, power, subtract } from './operators.js';

export const BINARY: Readonly<Record<BinaryOperator, (a: Value, b: Value) => Value>> = {
  '+': add,
  '-': subtract,
  '*': multiply,
  '/': divide,
  '//': floorDivide,
  '%': modulo,
  '**': power,
};

export function compareValues(op: CompareOperator, a: Value, b: Value): boolean {
  switch (op) {
    case '==':
      return equal(a, b);
    case '!=':
      return !equal(a, b);
    case 'in':
      return contains(b, a);
    case 'not in':
      return !contains(b, a);
    default:
      return ordered(op, a, b);
  }
}
