import type { TurnRequest } from '../../src/canonical/turn.js';
import type { GenerateResult } from '../../src/engines/engine.js';
import type { ShardContext } from '../../src/shard/shard-context.js';
import { TurnSignatures } from '../../src/shard/turn-signature.js';

/** What a client asks that says hello and nothing else. */
export const turnRequest = (changes: Partial<TurnRequest> = {}): TurnRequest => ({
  protocol: 'openai-chat',
  model: 'm',
  messages: [{ role: 'user', content: 'hello' }],
  tools: [],
  toolChoice: 'auto',
  parallelToolCalls: true,
  templateKwargs: new Map(),
  sampling: {},
  stopStrings: [],
  stream: false,
  includeUsage: false,
  returnTokenIds: false,
  topLogprobs: null,
  ...changes,
});

/** What an engine that says no more than it must has sampled; ended by length. */
export const generateResult = (outputIds: Int32Array, logprobs: Float32Array, changes: Partial<GenerateResult> = {}): GenerateResult => ({
  outputIds,
  logprobs,
  unknownLogprobs: 0,
  topLogprobs: null,
  finish: { kind: 'length' },
  cachedTokens: null,
  promptTokens: null,
  weightVersions: [],
  engineRequestId: null,
  logprobBasis: 'raw',
  flags: [],
  ...changes,
});

type GivenParts = 'settings' | 'model' | 'metrics';
type Known = 'engineName' | 'signatures' | 'modelName' | 'contextTokens' | 'promptTokensMax' | 'journal';

/** A shard's context without threads; the engine and the log only where they are given. */
export const shardContext = (
  parts: Pick<ShardContext, GivenParts> & Partial<Omit<ShardContext, 'engine'>> & { engine?: object },
): ShardContext => {
  const known: Pick<ShardContext, Known> = {
    engineName: 'by hand',
    signatures: new TurnSignatures(new Uint8Array(32)),
    modelName: () => 'm',
    contextTokens: () => 1000,
    promptTokensMax: () => null,
    journal: () => undefined,
  };
  return { ...known, ...parts } as unknown as ShardContext;
};
