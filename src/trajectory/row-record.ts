import type { JsonObject } from '../canonical/json-value.js';
import type { RewardValue, TraceRecord, TraceSampling, TraceStatus, TraceTurn } from '../canonical/trace.js';
import type { Sampling } from '../canonical/turn.js';
import { pathTo } from './node.js';
import { rowQuality } from './row-quality.js';
import { rowSegments, type SortPrompt } from './row-segments.js';
import type { PlannedRow, RowPlan } from './rows.js';
import type { TurnRecord } from './turn.js';
import { fullIds, fullLength } from './turn-ids.js';

/** What a session's rows carry besides what was sampled. */
export interface RowFacts {
  readonly sessionId: string;
  readonly rolloutId: string | null;
  readonly groupId: string | null;
  readonly sampleIndex: number | null;
  readonly tokenizerHash: string;
  readonly metadata: JsonObject;
  readonly reward: number | null;
  readonly rewardComponents: Readonly<Record<string, RewardValue>>;
  /** By row index; where it has a number or `null` that is the row's reward. */
  readonly rowRewards: readonly (number | null)[];
  /** By turn id. */
  readonly turnRewards: Readonly<Record<string, number>>;
  /** `null` = completed, or truncated where the row's last turn ended by length. */
  readonly status: TraceStatus | null;
  readonly stopReason: string | null;
  readonly error: string | null;
}

export const NO_FACTS: Omit<RowFacts, 'sessionId' | 'tokenizerHash'> = {
  rolloutId: null,
  groupId: null,
  sampleIndex: null,
  metadata: new Map(),
  reward: null,
  rewardComponents: {},
  rowRewards: [],
  turnRewards: {},
  status: null,
  stopReason: null,
  error: null,
};

export interface RowOptions {
  /** Text of ids, special tokens included. */
  readonly decode: (ids: Int32Array) => string;
  readonly include?: readonly ('messages' | 'segments')[];
  /** For `segments`; without it what nobody named is `template`. */
  readonly sortPrompt?: SortPrompt;
}

/** One row as a trainer gets it; its arrays are newly made. */
export function rowRecord(plan: RowPlan, row: PlannedRow, facts: RowFacts, options: RowOptions): TraceRecord {
  const first = row.turns[0]!;
  const last = row.turns.at(-1)!;
  const token_ids = fullIds(last);
  const prompt_length = first.promptLength;
  const response_length = token_ids.length - prompt_length;
  const loss_mask = new Uint8Array(response_length);
  const logprobs = new Float32Array(response_length);
  for (const turn of row.trained) {
    const start = turn.promptLength - prompt_length;
    loss_mask.fill(1, start, start + turn.sampled.outputIds.length);
    logprobs.set(turn.sampled.logprobs, start);
  }
  const quality = rowQuality(plan, row);
  const { root } = last.node;
  return {
    schema_version: 1,
    model: root.model,
    tokenizer_hash: facts.tokenizerHash,
    session_id: facts.sessionId,
    rollout_id: facts.rolloutId ?? facts.sessionId,
    group_id: facts.groupId,
    sample_index: facts.sampleIndex,
    row_index: row.index,
    row_count: plan.rows.length,
    is_last_row: row.index === plan.rows.length - 1,
    role: row.role,
    token_ids,
    loss_mask,
    logprobs,
    prompt_length,
    response_length,
    response: options.decode(token_ids.subarray(prompt_length)),
    reward: facts.rowRewards[row.index] !== undefined ? facts.rowRewards[row.index]! : facts.reward,
    reward_components: facts.rewardComponents,
    metadata: facts.metadata,
    status: facts.status ?? (last.sampled.finishReason === 'length' ? 'truncated' : 'completed'),
    stop_reason: facts.stopReason,
    error: facts.error,
    trainable: quality.untrainable.length === 0,
    spawned_by: row.spawnedBy,
    turns: row.turns.filter((turn) => !row.overwritten.has(turn)).map((turn) => traceTurn(plan, row, turn, facts)),
    quality,
    ...(options.include?.includes('segments') && { segments: rowSegments(row, token_ids, options.sortPrompt) }),
    ...(options.include?.includes('messages') && { messages: pathTo(last.node).map((node) => node.message!), tools: root.tools }),
  };
}

/** All rows of a session, the main row last. */
export function rowRecords(plan: RowPlan, facts: RowFacts, options: RowOptions): TraceRecord[] {
  return plan.rows.map((row) => rowRecord(plan, row, facts, options));
}

function traceTurn(plan: RowPlan, row: PlannedRow, turn: TurnRecord, facts: RowFacts): TraceTurn {
  const { sampled } = turn;
  const start = turn.promptLength;
  const trained_here = row.trained.has(turn);
  return {
    turn_id: turn.turnId,
    start,
    end: fullLength(turn),
    trained_here,
    parent_row: trained_here ? null : (plan.trainedIn.get(turn) ?? null),
    duplicate_of: turn.duplicateOf === null ? null : (plan.trainedIn.get(turn.duplicateOf) ?? null),
    finish_reason: sampled.finishReason,
    stop: { kind: sampled.stop.kind, token_count: sampled.stop.tokenCount },
    weight_versions: sampled.weightVersions.map((span) => ({
      version: span.version,
      version_index: /^\d{1,15}$/.test(span.version) ? Number(span.version) : null,
      start: start + span.start,
      end: start + span.end,
    })),
    engine: sampled.engine,
    replica: sampled.replica,
    engine_request_id: sampled.engineRequestId,
    logprob_basis: sampled.logprobBasis,
    sampling: traceSampling(turn.sampling),
    reward: facts.turnRewards[turn.turnId] ?? null,
    protocol: turn.protocol,
    started_at: turn.startedAtMs / 1000,
    queue_ms: sampled.queueMs,
    first_token_ms: sampled.firstTokenMs,
    engine_ms: sampled.engineMs,
    cached_tokens: sampled.cachedTokens,
    tool_calls: sampled.message.toolCalls.length,
    ill_formed: sampled.illFormed,
  };
}

function traceSampling(sampling: Sampling): TraceSampling {
  return {
    max_tokens: sampling.maxTokens,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: sampling.topK,
    min_p: sampling.minP,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    repetition_penalty: sampling.repetitionPenalty,
    seed: sampling.seed,
    min_tokens: sampling.minTokens,
    stop_token_ids: sampling.stopTokenIds,
    stop: sampling.stopStrings,
  };
}
