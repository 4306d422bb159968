import { readFileSync } from 'node:fs';
import { JsonFloat } from '../../src/canonical/json-value.js';
export const vectors = JSON.parse(readFileSync(new URL('../fixtures/json/json-vectors.json', import.meta.url), 'utf8'));
export const textOf = (codePoints) => codePoints.map((point) => String.fromCodePoint(point)).join('');
const floatOf = (repr) => (repr === 'inf' ? Infinity : repr === '-inf' ? -Infinity : repr === 'nan' ? NaN : Number(repr));
export function typedValue(typed) {
  if (typed === null || typeof typed === 'boolean') return typed;
  if ('int' in typed) {
    const exact = BigInt(typed.int);
    return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
  }
  if ('float' in typed) {
    const x = floatOf(typed.float);
    return Number.isInteger(x) ? new JsonFloat(x) : x;
  }
  if ('str' in typed) return textOf(typed.str);
  if ('list' in typed) return typed.list.map(typedValue);
  return new Map(typed.dict.map(([name, item]) => [textOf(name), typedValue(item)]));
}
