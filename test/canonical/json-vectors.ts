import { readFileSync } from 'node:fs';
import { JsonFloat, type JsonValue } from '../../src/canonical/json-value.js';

/** A Python value with its types spelled out; texts are lists of code points, since lone surrogates do not travel. */
export type Typed =
  | null
  | boolean
  | { readonly int: string }
  | { readonly float: string }
  | { readonly str: readonly number[] }
  | { readonly list: readonly Typed[] }
  | { readonly dict: readonly (readonly [readonly number[], Typed])[] };

interface Vectors {
  readonly madeBy: string;
  readonly read: readonly { readonly text: readonly number[]; readonly ok: boolean; readonly value?: Typed }[];
  readonly written: readonly {
    readonly value: Typed;
    readonly style: Readonly<Record<string, unknown>>;
    readonly text: readonly number[];
  }[];
  readonly floats: readonly { readonly bytes: string; readonly repr: string }[];
}

export const vectors = JSON.parse(readFileSync(new URL('../fixtures/json/json-vectors.json', import.meta.url), 'utf8')) as Vectors;

export const textOf = (codePoints: readonly number[]): string => codePoints.map((point) => String.fromCodePoint(point)).join('');

const floatOf = (repr: string): number => (repr === 'inf' ? Infinity : repr === '-inf' ? -Infinity : repr === 'nan' ? NaN : Number(repr));

export function typedValue(typed: Typed): JsonValue {
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
