import type { VersionSpan } from './ledger.js';
import type { SimFinish, SimRequest } from './sampling.js';
import type { SimVocabulary } from './vocabulary.js';

/** A log-probability as an answer may show it; the words are written bare, as Python's `json` does. */
export type ShownLogprob = number | null | 'NaN' | '-Infinity';

/** What an answer is made of. Without a fault it is what the ledger has. */
export interface ShownGeneration {
  readonly request: SimRequest;
  readonly requestId: string;
  readonly outputIds: readonly number[] | null;
  /** The ids beside the log-probabilities, where a shape has both. */
  readonly logprobIds: readonly number[];
  readonly logprobs: readonly ShownLogprob[] | null;
  readonly finish: SimFinish | { readonly reason: 'error' | 'banana' };
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly weightVersions: readonly VersionSpan[];
  readonly promptHash: number;
  readonly model: string;
  readonly vocabulary: SimVocabulary;
  readonly elapsedMs: number;
}

/** JSON in which NaN and infinities stand bare, where a fault put them. */
export function looseJson(value: unknown): string {
  return JSON.stringify(value).replace(/"(NaN|-Infinity)"/g, '$1');
}

/** What the answer's `text` member says: special tokens left out, a matched stop string cut off. */
export function shownText({ outputIds, finish, vocabulary }: ShownGeneration): string {
  const text = vocabulary.decode((outputIds ?? []).filter((id) => !vocabulary.isSpecial(id)));
  const cut = finish.reason === 'stop' && typeof finish.matched === 'string' ? text.indexOf(finish.matched) : -1;
  return cut < 0 ? text : text.slice(0, cut);
}
