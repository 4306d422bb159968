import type { AssistantMessage } from '../canonical/message.js';
import type { DriftOutcome, SegmentKind, TraceLogprobBasis } from '../canonical/trace.js';
import type { FinishReason, ProtocolName, Sampling, StopKind } from '../canonical/turn.js';
import type { TreeNode } from './node.js';

/** What a turn sampled and how. Lengths of `outputIds` and `logprobs` agree; both belong to the turn once given. */
export interface SampledTurn {
  readonly outputIds: Int32Array;
  /** Natural log, one per output id, NaN where the engine gave none. */
  readonly logprobs: Float32Array;
  /** The whole reply as a template is given it. */
  readonly message: AssistantMessage;
  /** The reply as its client saw it, by which it is recognised; `message` where nothing was cut or hidden. */
  readonly shown: AssistantMessage;
  readonly finishReason: FinishReason;
  /** `tokenCount` = the last output ids that are the stop (end token, or the tokens that hold a stop string). */
  readonly stop: { readonly kind: StopKind; readonly tokenCount: number };
  readonly stopString: string | null;
  /** Half-open ranges of output positions; empty where the engine does not say. */
  readonly weightVersions: readonly { readonly version: string; readonly start: number; readonly end: number }[];
  readonly engine: string;
  readonly replica: string;
  readonly engineRequestId: string | null;
  readonly logprobBasis: TraceLogprobBasis;
  readonly cachedTokens: number | null;
  readonly queueMs: number | null;
  readonly firstTokenMs: number | null;
  readonly engineMs: number | null;
  readonly illFormed: boolean;
  readonly flags: readonly string[];
}

/** A run of prompt tokens that says the same kind of thing. */
export interface PromptSegment {
  readonly kind: Exclude<SegmentKind, 'sampled' | 'prompt'>;
  readonly length: number;
}

/**
 * A prompt as the part it shares with a recorded turn and what follows:
 * the first `baseLength` ids of `base`'s prompt and output, then `delta`. Without a base, `baseLength` is 0.
 */
export interface PromptDelta {
  readonly base: TurnRecord | null;
  readonly baseLength: number;
  readonly delta: Int32Array;
  readonly promptLength: number;
}

/** The turn before this one in a row, and whether its output stands (`clean`) or was written over (`realign`). */
export interface RowLink {
  readonly to: TurnRecord;
  readonly kind: 'clean' | 'realign';
}

/** One committed turn. */
export interface TurnRecord extends PromptDelta {
  readonly turnId: string;
  /** Order in which turns of the session began, from 0. */
  readonly order: number;
  /** Order in which they were committed, from 0. */
  readonly commitOrder: number;
  /** Number of turns that were committed when this one began. */
  readonly begunAfter: number;
  /** The last message of the prompt. */
  readonly historyEnd: TreeNode;
  /** The sampled message. */
  readonly node: TreeNode;
  /** Changes only when the turn before loses its place to a client's edit (seed-compatible policy). */
  link: RowLink | null;
  readonly outcome: DriftOutcome;
  /** The first committed turn with the same history and the same prompt. */
  readonly duplicateOf: TurnRecord | null;
  /** What follows the chained turn's output, `null` where the caller did not say or nothing is chained. */
  segments: readonly PromptSegment[] | null;
  readonly sampled: SampledTurn;
  readonly unknownLogprobs: number;
  readonly sampling: Sampling;
  readonly protocol: ProtocolName;
  readonly startedAtMs: number;
  readonly committedAtMs: number;
}
