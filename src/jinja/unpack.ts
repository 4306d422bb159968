import { iterate } from './iterate.js';
import type { Value } from './object.js';
import { typeError, valueError } from './python-error.js';
import { typeName } from './type-names.js';

/** The values of a target with `count` parts. */
export function unpack(value: Value, count: number): Value[] {
  if (value === null || (typeof value !== 'string' && typeof value !== 'object'))
    typeError(`cannot unpack non-iterable ${typeName(value)} object`);
  const iterator = iterate(value);
  const parts: Value[] = [];
  while (parts.length <= count) {
    const step = iterator.next();
    if (step.done) break;
    parts.push(step.value);
  }
  if (parts.length > count) valueError(`too many values to unpack (expected ${count})`);
  if (parts.length < count) valueError(`not enough values to unpack (expected ${count}, got ${parts.length})`);
  return parts;
}
