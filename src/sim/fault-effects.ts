import type { FaultKind } from './faults.js';
import type { ShownGeneration } from './generation.js';

type Lie = (shown: ShownGeneration) => ShownGeneration;

/** One in four positions, the first one always. */
const some = (i: number): boolean => i % 4 === 0;
const logprobs =
  (change: (value: ShownGeneration['logprobs'] & object) => ShownGeneration['logprobs']): Lie =>
  (shown) => ({ ...shown, logprobs: shown.logprobs && change(shown.logprobs) });
const ids =
  (change: (ids: readonly number[], shown: ShownGeneration) => readonly number[] | null): Lie =>
  (shown) => ({ ...shown, outputIds: shown.outputIds && change(shown.outputIds, shown) });
/** Ids, their logprobs and the counts, all together, so that only the claim itself is wrong. */
const wholly =
  (change: (shown: ShownGeneration) => readonly number[]): Lie =>
  (shown) => {
    const outputIds = change(shown);
    const values = shown.logprobs && outputIds.map((_, i) => shown.logprobs?.[i] ?? -0.5);
    return { ...shown, outputIds, logprobIds: outputIds, logprobs: values, completionTokens: outputIds.length };
  };

const LIES: Partial<Record<FaultKind, Lie>> = {
  nan_logprobs: logprobs((all) => all.map((value, i) => (some(i) ? 'NaN' : value))),
  null_logprobs: logprobs((all) => all.map((value, i) => (some(i) ? null : value))),
  infinite_logprobs: logprobs((all) => all.map((value, i) => (some(i) ? '-Infinity' : value))),
  clamped_logprobs: logprobs((all) => all.map((value, i) => (some(i) ? -9999 : value))),
  positive_logprobs: logprobs((all) => all.map((value, i) => (some(i) ? 1.5 : value))),
  fewer_logprobs: logprobs((all) => all.slice(0, -1)),
  more_logprobs: (shown) => ({
    ...shown,
    logprobIds: [...shown.logprobIds, shown.logprobIds.at(-1) ?? 0],
    logprobs: shown.logprobs && [...shown.logprobs, -0.5],
  }),
  no_logprobs: logprobs(() => null),
  other_ids: ids((all, shown) => all.map((id, i) => (some(i) ? (id + 1) % shown.vocabulary.spelledSize : id))),
  out_of_vocabulary_ids: wholly((shown) => (shown.outputIds ?? []).map((id, i) => (i === 0 ? shown.vocabulary.vocabSize + 7 : id))),
  no_ids: ids(() => null),
  no_output: wholly(() => []),
  // Both concern the end token of a sample that has one.
  extra_eos: wholly(({ outputIds, vocabulary, finish }) =>
    finish.reason === 'stop' ? [...(outputIds ?? []), vocabulary.eosIds[0] ?? 0] : (outputIds ?? []),
  ),
  missing_eos: wholly(({ outputIds, finish }) => (finish.reason === 'stop' ? (outputIds ?? []).slice(0, -1) : (outputIds ?? []))),
  wrong_finish: (shown) => ({
    ...shown,
    finish: shown.finish.reason === 'length' ? { reason: 'stop', matched: 'nowhere' } : { reason: 'length' },
  }),
  unknown_finish: (shown) => ({ ...shown, finish: { reason: 'banana' } }),
  finish_error: (shown) => ({ ...shown, outputIds: [], logprobIds: [], logprobs: null, completionTokens: 0, finish: { reason: 'error' } }),
  negative_usage: (shown) => ({ ...shown, promptTokens: -1, completionTokens: -shown.completionTokens, cachedTokens: -5 }),
  wrong_request_id: (shown) => ({ ...shown, requestId: `${shown.requestId}-of-another` }),
};

/** What the answer shows instead of the truth. */
export const lie = (kind: FaultKind, shown: ShownGeneration): ShownGeneration => LIES[kind]?.(shown) ?? shown;

export interface RawAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** What a fault of the `delivery` group makes of a whole answer; the slow and broken ones are done while writing. */
export function deliver(kind: FaultKind, answer: RawAnswer): RawAnswer {
  switch (kind) {
    case 'truncated_json':
      return { ...answer, body: answer.body.slice(0, Math.floor(answer.body.length * 0.6)) };
    case 'html_200':
      return {
        status: 200,
        contentType: 'text/html',
        body: '<html><head><title>502 Bad Gateway</title></head><body>upstream</body></html>',
      };
    case 'error_200':
      return {
        ...answer,
        body: '{"error":{"message":"EngineCore encountered an issue. See stack trace for the root cause.","type":"InternalServerError","param":null,"code":500}}',
      };
    case 'empty_200':
      return { ...answer, body: '{}' };
    case 'empty_body':
      return { ...answer, body: '' };
    default:
      return answer;
  }
}
