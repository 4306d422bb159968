import { mix } from './hash.js';
import type { PolicyTurn } from './policy.js';
import { type Reply, replyIds } from './reply.js';
import type { SimVocabulary } from './vocabulary.js';

/** A request for tokens, whatever protocol it came by. */
export interface SimRequest {
  readonly requestId: string;
  readonly promptIds: Int32Array;
  /** Already clamped to the context. */
  readonly maxTokens: number;
  readonly minTokens: number;
  readonly stopTokenIds: readonly number[];
  readonly stopStrings: readonly string[];
  readonly ignoreEos: boolean;
  /** Alternatives per token; `null` without logprobs. */
  readonly topLogprobs: number | null;
  readonly echoPromptIds: boolean;
  readonly cacheSalt: string;
}

export type SimFinish =
  /** `matched`: the id or string that ended it. */
  { readonly reason: 'stop'; readonly matched: number | string } | { readonly reason: 'length' } | { readonly reason: 'abort' };

/** All that will be sampled if nothing interrupts it. */
export interface PlannedOutput {
  readonly outputIds: readonly number[];
  readonly finish: SimFinish;
}

const THINK_CLOSE = '</think>';

/** Plays a reply against the limits and stops of a request, token by token, as a sampler would. */
export function planOutput(reply: Reply, request: SimRequest, turn: PolicyTurn): PlannedOutput {
  const { vocabulary, random } = turn;
  const said = replyIds(reply, vocabulary, endsWithClosedThinking(request.promptIds, vocabulary));
  if (reply.ends !== false && vocabulary.eosIds[0] !== undefined) said.push(vocabulary.eosIds[0]);
  const outputIds: number[] = [];
  for (let i = 0; outputIds.length < request.maxTokens; i++) {
    const id = said[i] ?? vocabulary.wordIds[Math.floor(random() * vocabulary.wordIds.length)] ?? 0;
    const ends = (!request.ignoreEos && vocabulary.eosIds.includes(id)) || request.stopTokenIds.includes(id);
    if (ends && outputIds.length < request.minTokens) continue;
    outputIds.push(id);
    if (ends) return { outputIds, finish: { reason: 'stop', matched: id } };
    const string = matchedString(outputIds, request.stopStrings, vocabulary);
    if (string !== undefined) return { outputIds, finish: { reason: 'stop', matched: string } };
  }
  return { outputIds, finish: { reason: 'length' } };
}

function endsWithClosedThinking(promptIds: Int32Array, vocabulary: SimVocabulary): boolean {
  const close = vocabulary.idOf(THINK_CLOSE);
  return close !== undefined && promptIds.subarray(-3).includes(close);
}

/** Longest text that is searched for a stop string, in tokens. */
const STOP_WINDOW = 64;

function matchedString(ids: readonly number[], strings: readonly string[], vocabulary: SimVocabulary): string | undefined {
  if (strings.length === 0) return undefined;
  const tail = vocabulary.decode(ids.slice(-STOP_WINDOW));
  return strings.find((string) => string !== '' && tail.includes(string));
}

/** Alternatives of one position, best first: ids and log-probabilities that depend on nothing but the arguments. */
export function alternatives(
  count: number,
  position: number,
  promptHash: number,
  size: number,
): readonly { readonly id: number; readonly logprob: number }[] {
  return Array.from({ length: count }, (_, rank) => ({
    id: mix(mix(promptHash, position), rank) % size,
    logprob: Math.fround(-0.5 - rank * 0.25),
  }));
}
