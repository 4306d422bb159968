import type { DiscardReason, DriftOutcome } from '../canonical/trace.js';
import type { ProtocolName, Sampling } from '../canonical/turn.js';
import type { Drift } from './drift.js';
import type { Located } from './message-tree.js';
import type { SampledTurn, TurnRecord } from './turn.js';
import { promptIds } from './turn-ids.js';

export type TurnState = 'running' | 'finished' | 'committed' | 'discarded';

export type CommitResult =
  | { readonly ok: true; readonly turn: TurnRecord }
  /** `closed`: the session is over · `settled`: the turn was discarded · `unheld`: its client left and no retry took it over · `running`: no result yet. */
  | { readonly ok: false; readonly reason: 'closed' | 'settled' | 'unheld' | 'running' };

/** What a pending turn needs of its session. */
export interface TurnDesk {
  readonly closed: boolean;
  finished(sampled: SampledTurn): void;
  late(sampled: SampledTurn): void;
  commit(start: TurnStart, sampled: SampledTurn, nowMs: number): TurnRecord;
  discarded(reason: DiscardReason, sampled: SampledTurn | null, tokens: number): void;
}

/** Everything about a turn that is known when it begins. */
export interface TurnStart {
  readonly turnId: string;
  readonly order: number;
  /** Number of turns committed before. */
  readonly begunAfter: number;
  readonly located: Located;
  readonly drift: Drift;
  /** Outcome where the prompt continues nothing. */
  readonly otherwise: DriftOutcome;
  readonly digest: string;
  readonly protocol: ProtocolName;
  readonly sampling: Sampling;
  readonly startedAtMs: number;
}

/**
 * A turn between its request and the moment when its reply has reached the client.
 * `begin` → `finish` → `commit` or `discard`; only `commit` changes the tree.
 * Calls that wait for the turn *hold* it: the one that began it, and marked retries that joined.
 */
export class PendingTurn {
  #state: TurnState = 'running';
  #holders = 1;
  #sampled: SampledTurn | null = null;
  #turn: TurnRecord | null = null;
  #reason: DiscardReason | null = null;
  #start: TurnStart | null;
  readonly turnId: string;
  readonly digest: string;
  readonly startedAtMs: number;
  readonly promptLength: number;

  constructor(
    start: TurnStart,
    private readonly desk: TurnDesk,
  ) {
    this.#start = start;
    this.turnId = start.turnId;
    this.digest = start.digest;
    this.startedAtMs = start.startedAtMs;
    this.promptLength = start.drift.prompt.promptLength;
  }

  get state(): TurnState {
    return this.#state;
  }

  get holders(): number {
    return this.#holders;
  }

  /** The result, once finished. */
  get sampled(): SampledTurn | null {
    return this.#sampled;
  }

  /** The turn of the tree, once committed. */
  get turn(): TurnRecord | null {
    return this.#turn;
  }

  get discardReason(): DiscardReason | null {
    return this.#reason;
  }

  /**
   * The prompt as the engine gets it, in an array that `make` gives; newly made where it is not said.
   * @throws RangeError when the turn was discarded, which frees the prompt
   */
  promptIds(make?: (length: number) => Int32Array): Int32Array {
    const prompt = this.#turn ?? this.#start?.drift.prompt;
    if (prompt === undefined) throw new RangeError(`Turn ${this.turnId} was discarded (${this.#reason}); its prompt is gone`);
    return promptIds(prompt, make);
  }

  /**
   * Takes the engine's result. `false` when the session is over or the turn was discarded; a result that comes after the session was
   * closed is counted as late.
   * @throws RangeError when ids and logprobs differ in length, or a weight span or stop lies outside the output
   */
  finish(sampled: SampledTurn): boolean {
    if (this.desk.closed) {
      this.desk.late(sampled);
      return false;
    }
    if (this.#state !== 'running') return false;
    checkSampled(sampled);
    this.#sampled = sampled;
    this.#state = 'finished';
    this.desk.finished(sampled);
    return true;
  }

  /** The reply has been written to an open socket: the turn becomes part of the tree. A second commit gives the same turn. */
  commit(nowMs: number): CommitResult {
    if (this.#turn !== null) return { ok: true, turn: this.#turn };
    if (this.#state === 'discarded') return { ok: false, reason: this.desk.closed ? 'closed' : 'settled' };
    if (this.#state === 'running') return { ok: false, reason: 'running' };
    if (this.#holders === 0) return { ok: false, reason: 'unheld' };
    this.#turn = this.desk.commit(this.#start!, this.#sampled!, nowMs);
    this.#state = 'committed';
    this.#start = null;
    return { ok: true, turn: this.#turn };
  }

  /**
   * Gives the turn up. Without effect once it is committed or discarded.
   * @param tokens ids that the engine sampled although no result came, where it says so
   */
  discard(reason: DiscardReason, tokens = 0): void {
    if (this.#state === 'committed' || this.#state === 'discarded') return;
    this.#state = 'discarded';
    this.#reason = reason;
    this.desk.discarded(reason, this.#sampled, tokens);
    this.#start = null;
    this.#sampled = null;
  }

  /** A marked retry waits for the same turn, or takes it over. */
  join(): void {
    this.#holders++;
  }

  /**
   * A call stops waiting because its client left. `abandoned` when it was the last one: the caller aborts a running generation;
   * one that finished anyway stays aside for a marked retry.
   */
  release(): 'held' | 'abandoned' {
    if (this.#holders > 0) this.#holders--;
    return this.#holders === 0 ? 'abandoned' : 'held';
  }
}

function checkSampled({ outputIds, logprobs, weightVersions, stop }: SampledTurn): void {
  if (outputIds.length !== logprobs.length) {
    throw new RangeError(`A turn has ${outputIds.length} output ids and ${logprobs.length} logprobs; there must be one for each`);
  }
  const outside = weightVersions.find(({ start, end }) => start < 0 || end < start || end > outputIds.length);
  if (outside !== undefined) {
    throw new RangeError(`A weight span covers ${outside.start} to ${outside.end} of ${outputIds.length} output ids`);
  }
  if (stop.tokenCount < 0 || stop.tokenCount > outputIds.length) {
    throw new RangeError(`A stop of ${stop.tokenCount} tokens cannot end an output of ${outputIds.length}`);
  }
}
