import type { JsonObject } from './json-value.js';
import type { AssistantMessage, Message, ToolCall, ToolDefinition } from './message.js';

export type ProtocolName = 'openai-chat' | 'anthropic-messages';

/** Sampling fields by vLLM's names in camelCase; an absent one was not asked for. */
export interface SamplingFields {
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly minP?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly repetitionPenalty?: number;
  readonly seed?: number;
  readonly minTokens?: number;
}

/** The effective sampling of a turn: every field has a value and is sent to the engine. */
export interface Sampling {
  readonly maxTokens: number;
  readonly temperature: number;
  readonly topP: number;
  /** -1 = off. */
  readonly topK: number;
  readonly minP: number;
  readonly presencePenalty: number;
  readonly frequencyPenalty: number;
  readonly repetitionPenalty: number;
  readonly seed: number | null;
  readonly minTokens: number;
  readonly stopTokenIds: readonly number[];
  readonly stopStrings: readonly string[];
}

/** What a client asked for, after a protocol has read its body. */
export interface TurnRequest {
  readonly protocol: ProtocolName;
  /** As sent; echoed in the reply. */
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  /** Tools that messages bring in: known to a parser of calls, never in the prompt's head and no part of the root of a history. */
  readonly deferredTools?: readonly ToolDefinition[];
  readonly toolChoice: 'auto' | 'none';
  readonly parallelToolCalls: boolean;
  /** `chat_template_kwargs` of the request; they are part of the root of a history. */
  readonly templateKwargs: JsonObject;
  readonly sampling: SamplingFields;
  readonly stopStrings: readonly string[];
  readonly stream: boolean;
  /** A usage chunk at the end of a Chat stream. */
  readonly includeUsage: boolean;
  /** vLLM's `return_token_ids`. */
  readonly returnTokenIds: boolean;
  /** Number of `top_logprobs` asked for (0 = the sampled one only), `null` without `logprobs`. */
  readonly topLogprobs: number | null;
}

/** Why sampling ended, as `turns[].stop.kind` says it. */
export type StopKind = 'eos' | 'stop_token' | 'stop_string' | 'length' | 'abort';
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'stop_sequence';

/** A finished turn as a protocol shows it to its client. Lengths of `outputIds` and `logprobs` agree. */
export interface TurnReply {
  readonly turnId: string;
  /** Seconds since the epoch. */
  readonly createdAtSeconds: number;
  readonly promptTokens: number;
  /** Newly made. */
  promptIds(): Int32Array;
  readonly outputIds: Int32Array;
  /** Natural log, one per output id, NaN where the engine gave none. */
  readonly logprobs: Float32Array;
  /** Alternatives per output position, best first; `null` where none were asked for. */
  readonly topLogprobs: readonly (readonly TokenLogprob[])[] | null;
  /** The message as the client sees it: stop string cut, calls hidden by `tool_choice: none` left out. */
  readonly message: AssistantMessage;
  readonly finishReason: FinishReason;
  readonly stopString: string | null;
  readonly cachedTokens: number | null;
  readonly reasoningTokens: number;
  /** Non-empty opaque handle of this turn for a thinking block. */
  signature(): string;
  /** Text of one token, for `logprobs`. */
  readonly tokenText: (id: number) => string;
}

export interface TokenLogprob {
  readonly id: number;
  readonly logprob: number;
}

export type { AssistantMessage, Message, ToolCall, ToolDefinition };
