import type { FaultKind } from './faults.js';
import type { ShownGeneration } from './generation.js';
import type { SimRequest } from './sampling.js';

/** What a protocol needs to know of the engine to check a request. */
export interface ServedModel {
  readonly name: string;
  readonly contextTokens: number;
  readonly vocabSize: number;
  readonly eosIds: readonly number[];
  /** Invented when the client gives none. */
  readonly newRequestId: () => string;
}

export interface Refusal {
  readonly status: number;
  readonly body: unknown;
}

export type Parsed =
  | { readonly ok: true; readonly request: SimRequest }
  | { readonly ok: false; readonly refusal: Refusal; readonly kills?: boolean };

/** One route that samples, in the words of one engine. */
export interface GenerateRoute {
  readonly path: string;
  parse(body: unknown, headers: Readonly<Record<string, string | string[] | undefined>>, model: ServedModel): Parsed;
  /** The answer's JSON as a value; see `looseJson`. */
  format(shown: ShownGeneration): unknown;
}

/** What an engine says when it does not sample. */
export type Refusals = (kind: FaultKind, model: ServedModel) => Refusal;

export type Fields = Readonly<Record<string, unknown>>;

export const fields = (value: unknown): Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {};

export const numberField = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
export const textField = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
export const numbers = (value: unknown): readonly number[] => (Array.isArray(value) ? value.filter((it) => typeof it === 'number') : []);
export const texts = (value: unknown): readonly string[] =>
  typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((it) => typeof it === 'string') : [];
