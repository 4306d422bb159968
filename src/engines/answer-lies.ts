/**
 * What engines and proxies were seen to answer with status 200 although it is not a sample, and what is done about it:
 *
 * - `retry`: nothing is recorded, the turn is sampled again, elsewhere where there is another replica;
 * - `repair`: the sample is kept, the value is recorded as unknown and counted;
 * - `flag`: the sample is kept as it is and carries the name in `flags`.
 */
export interface Lie {
  readonly decision: 'retry' | 'repair' | 'flag';
  readonly meaning: string;
}

const retry = (meaning: string): Lie => ({ decision: 'retry', meaning });
const repair = (meaning: string): Lie => ({ decision: 'repair', meaning });
const flag = (meaning: string): Lie => ({ decision: 'flag', meaning });

export const ANSWER_LIES = {
  not_json: retry('HTML, cut-off JSON or plain text with status 200.'),
  error_in_200: retry('An `error` object with status 200, judged by its code: overload waits, an overflow is final.'),
  unrequested_stream: retry('Server-sent events for a call without `stream`, whole, doubled or without an end.'),
  wrong_choice_count: retry('No choice, or several, where one was asked for.'),
  wrong_request_id: retry('The answer of another request, from an engine that was seen to echo ids.'),
  no_ids: retry('No token ids.'),
  id_out_of_vocabulary: retry('An output id that is no integer, negative, or not below the vocabulary’s size.'),
  ids_disagree: retry('The ids beside the logprobs are not the output ids.'),
  missing_logprobs: retry('Ids without logprobs that were asked for.'),
  fewer_logprobs: retry('Fewer logprobs than ids.'),
  more_logprobs: retry('More logprobs than ids.'),
  empty_answer: retry('A finished sample without a token.'),
  too_many_tokens: retry('More output than `max_tokens`.'),
  unknown_finish: retry('A finish reason that is missing or not known.'),
  stop_token_missing: retry('A stop token is named as the reason and is not the last id.'),
  sampled_past_stop: retry('A stop token before the last id: sampling went on, or the token was counted twice.'),
  other_prompt: retry('The engine counts another number of prompt tokens than were sent: it cut or changed the prompt.'),
  null_logprob: repair('A logprob that is null, NaN, infinite, clamped (at most −9000) or no number.'),
  positive_logprob: repair('A logprob above 0: a logit, or a broken value.'),
  negative_usage: repair('A count below 0 or not whole; it is taken as not said.'),
  missing_alternatives: flag('No alternatives although `top_logprobs` was asked for.'),
  bad_weight_spans: flag('Weight versions whose ranges do not cover the output; they are dropped.'),
  usage_disagrees: flag('The engine counts another number of output tokens than it sent; the ids count.'),
  end_token_missing: flag('Finish `stop` without a stop string, and the last id is no stop token that was asked for: it may be missing.'),
  early_length: flag('Finish `length` with fewer tokens than asked for while the context had room.'),
} as const satisfies Record<string, Lie>;

export type LieName = keyof typeof ANSWER_LIES;
