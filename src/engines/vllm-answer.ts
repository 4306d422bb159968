/** What the answers of vLLM's two routes have in common. */
import type { AnswerDraft, TokenLists } from './answer-checks.js';
import { arrayMember, member, numberMember, stringMember } from './answer-json.js';

/** Where a route names the request in its answer, and what it puts before the name that was sent. */
export interface RequestName {
  readonly member: string;
  readonly prefix: string;
}

/** `null` where the body has not exactly one choice. `listsOf` reads what has one entry per token from that choice. */
export function draftOfAnswer(body: unknown, name: RequestName, listsOf: (choice: unknown) => TokenLists): AnswerDraft | null {
  const choices = arrayMember(body, 'choices');
  if (choices === null || choices.length !== 1) return null;
  const choice = choices[0];
  const usage = member(body, 'usage');
  const stopReason = member(choice, 'stop_reason');
  const id = stringMember(body, name.member);
  const { ids, logprobs, logprobIds, topLogprobs } = listsOf(choice);
  return {
    ids,
    logprobs,
    logprobIds,
    topLogprobs,
    finish: stringMember(choice, 'finish_reason'),
    matched: typeof stopReason === 'number' || typeof stopReason === 'string' ? stopReason : null,
    promptTokens: numberMember(usage, 'prompt_tokens'),
    completionTokens: numberMember(usage, 'completion_tokens'),
    cachedTokens: numberMember(member(usage, 'prompt_tokens_details'), 'cached_tokens'),
    weightVersions: arrayMember(choice, 'weight_versions'),
    weightVersion: null,
    requestId: id?.startsWith(name.prefix) ? id.slice(name.prefix.length) : id,
    engineRequestId: id,
  };
}

/** A body with one choice and no error. */
export function isAnswer(body: unknown): boolean {
  const error = member(body, 'error');
  return (error === undefined || error === null) && arrayMember(body, 'choices')?.length === 1;
}

/** N of `token_id:N`, NaN for another text. */
export function idOfText(text: string | null): number {
  return text?.startsWith('token_id:') ? Number(text.slice('token_id:'.length)) : Number.NaN;
}
