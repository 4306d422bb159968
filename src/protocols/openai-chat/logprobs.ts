import type { TokenLogprob, TurnReply } from '../../canonical/turn.js';

/**
 * `choices[].logprobs` as JSON: one entry for each output id, the stop token included. An unknown logprob is `null`.
 * @param top alternatives per token
 * @param asIds `token_id:N` instead of the token's text, vLLM's `return_tokens_as_token_ids`
 */
export function logprobsJson(reply: TurnReply, top: number, asIds: boolean): string {
  const token = (id: number, logprob: number): object => {
    const text = reply.tokenText(id);
    return { token: asIds ? `token_id:${id}` : text, logprob, bytes: bytesOf(text) };
  };
  const alternatives = (list: readonly TokenLogprob[] | undefined): object[] =>
    (list ?? []).slice(0, top).map(({ id, logprob }) => token(id, logprob));
  const content = Array.from(reply.outputIds, (id, i) => ({
    ...token(id, reply.logprobs[i]!),
    top_logprobs: alternatives(reply.topLogprobs?.[i]),
  }));
  return JSON.stringify({ content, refusal: null });
}

/** UTF-8 of a token's text; `null` for a piece of a character, whose bytes the text has lost. */
function bytesOf(text: string): number[] | null {
  return text.includes('\ufffd') ? null : [...new TextEncoder().encode(text)];
}
