import type { Sampling, SamplingFields } from '../canonical/turn.js';
import type { Settings } from '../config.js';

export interface SamplingLayers {
  readonly defaults: Settings['sampling'];
  readonly request: SamplingFields;
  /** The session's settings win over the request. */
  readonly session: SamplingFields & { readonly stop?: readonly string[] };
  readonly requestStops: readonly string[];
  /** Tokens that fit behind the prompt. */
  readonly roomTokens: number;
  readonly stopTokenIds: readonly number[];
}

/**
 * Session over request over defaults over neutral values; `maxTokens` is the smallest of all and of what fits. Stop strings
 * of session and request are both kept: an agent's control flow hangs on its own.
 */
export function effectiveSampling(layers: SamplingLayers): Sampling {
  const { defaults, request, session } = layers;
  const caps = [layers.roomTokens, request.maxTokens, session.maxTokens, defaults.maxTokens === 0 ? undefined : defaults.maxTokens];
  const maxTokens = Math.min(...caps.filter((cap) => cap !== undefined));
  return {
    maxTokens,
    temperature: session.temperature ?? request.temperature ?? defaults.temperature,
    topP: session.topP ?? request.topP ?? defaults.topP,
    topK: session.topK ?? request.topK ?? defaults.topK,
    minP: session.minP ?? request.minP ?? defaults.minP,
    presencePenalty: session.presencePenalty ?? request.presencePenalty ?? defaults.presencePenalty,
    frequencyPenalty: session.frequencyPenalty ?? request.frequencyPenalty ?? defaults.frequencyPenalty,
    repetitionPenalty: session.repetitionPenalty ?? request.repetitionPenalty ?? defaults.repetitionPenalty,
    seed: session.seed ?? request.seed ?? null,
    // Engines refuse a minimum above the maximum, which what fits may have lowered.
    minTokens: Math.min(maxTokens, session.minTokens ?? request.minTokens ?? 0),
    stopTokenIds: layers.stopTokenIds,
    stopStrings: [...new Set([...(session.stop ?? []), ...layers.requestStops])],
  };
}
