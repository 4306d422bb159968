import { parseJson } from '../canonical/json-parse.js';
import { isJsonObject, type JsonObject } from '../canonical/json-value.js';
import type { RewardValue, TraceRecord, TraceStatus, TraceSummary } from '../canonical/trace.js';
import { promptSegments } from '../rendering/prompt-segments.js';
import type { Tokenizer } from '../rendering/tokenizer.js';
import type { FinishSession, TraceInclude } from '../trainer/calls.js';
import { type RowOptions, rowRecord } from '../trajectory/row-record.js';
import { planRows, type RowPlan, summarise } from '../trajectory/rows.js';
import type { TrajectoryTree } from '../trajectory/tree.js';
import type { Session } from './session.js';

/** A session's rows with what a trainer said of them, until they are acknowledged or expire. */
export class FinishedSession {
  readonly id: string;
  /** Unique for each life of an id. */
  readonly name: string;
  readonly plan: RowPlan;
  readonly tree: TrajectoryTree;
  readonly openedAtMs: number;
  readonly summary: TraceSummary;
  readonly #created: Session['created'];
  #metadata: JsonObject;
  #reward: number | null = null;
  #rewardComponents: Readonly<Record<string, RewardValue>> = {};
  #rowRewards: readonly (number | null)[] = [];
  #turnRewards: Readonly<Record<string, number>> = {};
  #status: TraceStatus | null = null;
  #stopReason: string | null = null;
  #error: string | null = null;

  constructor(
    session: Session,
    readonly finishedAtMs: number,
    maxRowTokens: number,
    abortedTurns: number,
  ) {
    this.id = session.id;
    this.name = session.life;
    this.tree = session.tree;
    this.openedAtMs = session.openedAtMs;
    this.#created = session.created;
    this.#metadata = session.metadata;
    this.plan = maxRowTokens === 0 ? planRows(session.tree.turns) : planRows(session.tree.turns, maxRowTokens);
    this.summary = { ...summarise(session.tree, this.plan, session.openedAtMs, finishedAtMs), aborted_turns: abortedTurns };
  }

  /** Fills in what was not given before and changes nothing that was; metadata of finish goes over that of create. */
  describe(finish: Omit<FinishSession, 'waitMs' | 'include' | 'ack' | 'encoding'>): void {
    this.#reward ??= finish.reward ?? null;
    this.#rewardComponents = { ...finish.rewardComponents, ...this.#rewardComponents };
    this.#rowRewards = this.plan.rows.map((_, row) => this.#rowRewards[row] ?? finish.rowRewards?.[row] ?? null);
    this.#turnRewards = { ...finish.turnRewards, ...this.#turnRewards };
    this.#status ??= finish.status ?? null;
    this.#stopReason ??= finish.stopReason ?? null;
    this.#error ??= finish.error ?? null;
    const metadata = parseJson(finish.metadata);
    if (isJsonObject(metadata)) this.#metadata = new Map([...this.#metadata, ...metadata]);
  }

  /** The rows, newly made. */
  records(tokenizer: Tokenizer, include: readonly TraceInclude[]): TraceRecord[] {
    const facts = {
      sessionId: this.id,
      rolloutId: this.#created.rolloutId,
      groupId: this.#created.groupId,
      sampleIndex: this.#created.sampleIndex,
      tokenizerHash: tokenizer.hash,
      metadata: this.#metadata,
      reward: this.#reward,
      rewardComponents: this.#rewardComponents,
      rowRewards: this.#rowRewards.map((reward) => reward ?? this.#reward),
      turnRewards: this.#turnRewards,
      status: this.#status,
      stopReason: this.#stopReason,
      error: this.#error,
    };
    const options: RowOptions = {
      decode: (ids) => tokenizer.decode(ids),
      include,
      sortPrompt: (ids, messages) => promptSegments(ids, messages, tokenizer),
    };
    return this.plan.rows.map((row) => rowRecord(this.plan, row, facts, options));
  }
}
