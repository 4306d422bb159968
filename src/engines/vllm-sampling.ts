import type { Sampling } from '../canonical/turn.js';

/**
 * Sampling by vLLM's names, every field spelled out: servers have other defaults, and take some from `generation_config.json`.
 * A seed of `null` has no spelling that all versions take and is left out, which means the same.
 */
export function vllmSampling(sampling: Sampling): Record<string, unknown> {
  const fields: Record<string, unknown> = {
    n: 1,
    max_tokens: sampling.maxTokens,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: sampling.topK,
    min_p: sampling.minP,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    repetition_penalty: sampling.repetitionPenalty,
    min_tokens: sampling.minTokens,
    stop_token_ids: sampling.stopTokenIds,
    stop: sampling.stopStrings,
    ignore_eos: false,
    skip_special_tokens: false,
  };
  if (sampling.seed !== null) fields.seed = sampling.seed;
  return fields;
}
