import type { JsonObject, JsonValue } from './json-value.js';
import type { Message } from './message.js';
import type { FinishReason, ProtocolName, StopKind } from './turn.js';

/**
 * One row for a trainer: a stretch of an agent's conversation in which every prompt starts with the prompt and output before it.
 * Names are those of the wire. The record's arrays are typed here; an encoder writes them as JSON numbers (NaN as `null`) or as bytes.
 * `trace.schema.json` beside this file describes the JSON form.
 */
export interface TraceRecord {
  readonly schema_version: 1;
  /** Name of the model or adapter that was sampled. */
  readonly model: string;
  readonly tokenizer_hash: string;
  readonly session_id: string;
  /** As given at create, else the session's id. */
  readonly rollout_id: string;
  readonly group_id: string | null;
  readonly sample_index: number | null;
  /** Position among the rows of the session; the row that ends the main thread is the last. */
  readonly row_index: number;
  readonly row_count: number;
  readonly is_last_row: boolean;
  readonly role: RowRole;
  /** Prompt and response, `prompt_length + response_length` ids. */
  readonly token_ids: Int32Array;
  /** `response_length` entries, 1 = sampled and trained in this row. */
  readonly loss_mask: Uint8Array;
  /** `response_length` natural logs; 0 where the mask is 0, NaN where the engine gave no value. */
  readonly logprobs: Float32Array;
  /** Length of the first prompt of the row. */
  readonly prompt_length: number;
  readonly response_length: number;
  /** Decoded text of the response. */
  readonly response: string;
  /** `null` = not scored. */
  readonly reward: number | null;
  readonly reward_components: Readonly<Record<string, RewardValue>>;
  readonly metadata: JsonObject;
  readonly status: TraceStatus;
  readonly stop_reason: string | null;
  readonly error: string | null;
  /** `false` where training on the row is advised against; `quality.untrainable` says why. */
  readonly trainable: boolean;
  readonly spawned_by: SpawnLink | null;
  readonly turns: readonly TraceTurn[];
  readonly quality: TraceQuality;
  readonly segments?: readonly TraceSegment[];
  readonly messages?: readonly Message[];
  readonly tools?: readonly TraceTool[];
}

/** What a row is to its session; `trajectory/roles.ts` has the rules. */
export type RowRole = 'main' | 'earlier' | 'superseded' | 'branch' | 'subagent' | 'aux';
export type TraceStatus = 'completed' | 'truncated' | 'aborted' | 'failed';
export type RewardValue = number | { readonly value: number; readonly weight: number };

/** `raw` = of the model's distribution; `tempered` = after temperature; `processed` = after all sampling filters. */
export type TraceLogprobBasis = 'raw' | 'tempered' | 'processed';

/** One sampled turn as it stands in a row. Offsets are half-open and count ids of the row's `token_ids`. */
export interface TraceTurn {
  /** The same in every row that has the turn. */
  readonly turn_id: string;
  readonly start: number;
  readonly end: number;
  readonly trained_here: boolean;
  /** The row that trains this turn when this row does not; `null` when it does, or when no row does. */
  readonly parent_row: number | null;
  /** The row that trains the first turn sampled from the same prompt; `null` for that first turn. */
  readonly duplicate_of: number | null;
  readonly finish_reason: FinishReason;
  readonly stop: { readonly kind: StopKind; readonly token_count: number };
  readonly weight_versions: readonly TraceWeightSpan[];
  readonly engine: string;
  readonly replica: string;
  readonly engine_request_id: string | null;
  readonly logprob_basis: TraceLogprobBasis;
  readonly sampling: TraceSampling;
  readonly reward: number | null;
  readonly protocol: ProtocolName;
  /** Seconds since the epoch, with a fraction. */
  readonly started_at: number;
  readonly queue_ms: number | null;
  readonly first_token_ms: number | null;
  readonly engine_ms: number | null;
  readonly cached_tokens: number | null;
  readonly tool_calls: number;
  readonly ill_formed: boolean;
}

export interface TraceWeightSpan {
  readonly version: string;
  /** The version as a number where it is spelled as a whole number, else `null`. */
  readonly version_index: number | null;
  readonly start: number;
  readonly end: number;
}

/** Effective sampling by vLLM's names. */
export interface TraceSampling {
  readonly max_tokens: number;
  readonly temperature: number;
  readonly top_p: number;
  readonly top_k: number;
  readonly min_p: number;
  readonly presence_penalty: number;
  readonly frequency_penalty: number;
  readonly repetition_penalty: number;
  readonly seed: number | null;
  readonly min_tokens: number;
  readonly stop_token_ids: readonly number[];
  readonly stop: readonly string[];
}

export type SegmentKind = 'prompt' | 'template' | 'user' | 'tool' | 'assistant' | 'sampled';

export interface TraceSegment {
  readonly start: number;
  readonly end: number;
  readonly kind: SegmentKind;
}

export interface TraceTool {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonValue;
}

/** The tool call that started the conversation of a row, found by its text in the row's first user message. */
export interface SpawnLink {
  readonly row: number;
  readonly turn: string;
  readonly tool_call_id: string | null;
  /** `exact` = the message is an argument; `contained` = it holds one; `ambiguous` = several calls fit equally well, this is one of them. */
  readonly certainty: 'exact' | 'contained' | 'ambiguous';
}

/** How a turn's prompt relates to what was recorded before it. */
export type DriftOutcome =
  /** No sampled turn before it. */
  | 'start'
  /** The prompt starts with the recorded ids: by the render, by the sampled text, or by the difference of two renders. */
  | 'exact'
  | 'raw'
  | 'delta'
  /** Recorded ids kept because the policy says so. */
  | 'verbatim'
  /** The last output was replaced by the render's spelling and masked (`rerender` with `realignTokensMax` > 0). */
  | 'realign'
  | ForkCause;

/** Why a row starts: the template rewrote history, the client did, or the tools, model or template arguments changed. */
export type ForkCause = 'fork_template' | 'fork_history' | 'fork_tools';

/** Why tokens of an engine are in no row. The last three concern committed turns and are chosen by a setting. */
export type DiscardReason =
  | 'client_gone'
  | 'engine_failed'
  | 'gateway_failed'
  | 'session_closed'
  | 'realigned'
  | 'rewritten'
  | 'max_row_tokens';

export interface TraceQuality {
  /** A turn of the row ended by length, or the row was cut. */
  readonly truncated: boolean;
  /** Turns left out at the end of the row because of `max_row_tokens`. */
  readonly cut_turns: number;
  readonly ill_formed_turns: number;
  /** Trained positions whose logprob is unknown. */
  readonly repaired_logprobs: number;
  /** Why this row does not continue an earlier one. */
  readonly forks: Readonly<Partial<Record<ForkCause, number>>>;
  /** Outcomes over the row's turns. */
  readonly drift: Readonly<Partial<Record<DriftOutcome, number>>>;
  /** Tokens of committed turns of this row that are trained nowhere. */
  readonly discarded: Readonly<Partial<Record<DiscardReason, number>>>;
  /** Facts that engines reported of the row's turns. */
  readonly flags: readonly string[];
  readonly untrainable: readonly string[];
}

/** The books of a finished session. */
export interface TraceSummary {
  /** Seconds since the epoch. */
  readonly opened_at: number;
  readonly finished_at: number;
  readonly turns: number;
  readonly rows: number;
  readonly tokens: {
    readonly sampled: number;
    readonly committed: number;
    readonly trained: number;
    readonly discarded: Readonly<Partial<Record<DiscardReason, number>>>;
  };
  /** Trained ÷ committed; 1 unless a setting discards. */
  readonly capture_yield: number;
  /** `null`, or what does not add up; then a fault of the gateway lost tokens. */
  readonly capture_error: string | null;
  readonly aborted_turns: number;
  readonly forks: Readonly<Partial<Record<ForkCause, number>>>;
  readonly drift: Readonly<Partial<Record<DriftOutcome, number>>>;
}
