import type { EngineFailure } from '../engines/engine.js';
import type { TransportFault } from './transport-error.js';

/** Counts since the pool began. */
export interface PoolCounts {
  /** Answers that were failures, by kind. */
  readonly failures: Readonly<Partial<Record<EngineFailure['kind'], number>>>;
  /** Calls without a whole answer, by cause. */
  readonly broken: Readonly<Partial<Record<TransportFault, number>>>;
  /** Samples that the engine aborted and that were gone on with. */
  readonly continuations: number;
  /** Tokens of such samples that were kept. */
  readonly continuedTokens: number;
  /**
   * Tokens of answers that make no sense and were asked for again. What a turn ends with is its caller's to count, and what broken calls
   * had sampled is not known.
   */
  readonly discardedTokens: Readonly<Record<DiscardReason, number>>;
}

export type DiscardReason = 'invalid_answer';

export class PoolStats {
  readonly #failures: Partial<Record<EngineFailure['kind'], number>> = {};
  readonly #broken: Partial<Record<TransportFault, number>> = {};
  readonly #discardedTokens: Record<DiscardReason, number> = { invalid_answer: 0 };
  #continuations = 0;
  #continuedTokens = 0;

  failed(kind: EngineFailure['kind']): void {
    this.#failures[kind] = (this.#failures[kind] ?? 0) + 1;
  }

  broken(fault: TransportFault): void {
    this.#broken[fault] = (this.#broken[fault] ?? 0) + 1;
  }

  continued(tokens: number): void {
    this.#continuations++;
    this.#continuedTokens += tokens;
  }

  discarded(reason: DiscardReason, tokens: number): void {
    this.#discardedTokens[reason] += tokens;
  }

  counts(): PoolCounts {
    return {
      failures: { ...this.#failures },
      broken: { ...this.#broken },
      continuations: this.#continuations,
      continuedTokens: this.#continuedTokens,
      discardedTokens: { ...this.#discardedTokens },
    };
  }
}
