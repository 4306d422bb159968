import type { Sampling } from '../../src/canonical/turn.js';

/** Neutral sampling of up to 64 tokens. */
export const SAMPLING: Sampling = {
  maxTokens: 64,
  temperature: 1,
  topP: 1,
  topK: -1,
  minP: 0,
  presencePenalty: 0,
  frequencyPenalty: 0,
  repetitionPenalty: 1,
  seed: null,
  minTokens: 0,
  stopTokenIds: [],
  stopStrings: [],
};
