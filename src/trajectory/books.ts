import type { DiscardReason, DriftOutcome, ForkCause } from '../canonical/trace.js';

/**
 * Counts every sampled token of a session until it is accounted for:
 * sampled = committed + discarded (but for what was committed and given up) + waiting, at every moment, and waiting is 0 once the session is closed.
 */
export class Books {
  sampled = 0;
  committed = 0;
  committedTurns = 0;
  discardedTurns = 0;
  /** Results that came after the session was closed; their tokens are in no other figure. */
  lateResults = 0;
  lateTokens = 0;
  readonly discarded = new Map<DiscardReason, number>();
  readonly outcomes = new Map<DriftOutcome, number>();

  discard(reason: DiscardReason, tokens: number): void {
    this.discardedTurns++;
    if (tokens > 0) this.discarded.set(reason, (this.discarded.get(reason) ?? 0) + tokens);
  }

  commit(outcome: DriftOutcome, tokens: number): void {
    this.committedTurns++;
    this.committed += tokens;
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }

  /** A committed turn is given up for the client's edited version of it. */
  rewritten(tokens: number): void {
    this.discarded.set('rewritten', (this.discarded.get('rewritten') ?? 0) + tokens);
  }

  get discardedTokens(): number {
    return sum(this.discarded.values());
  }

  get forks(): Partial<Record<ForkCause, number>> {
    return Object.fromEntries([...this.outcomes].filter(([outcome]) => isFork(outcome)));
  }
}

export const isFork = (outcome: DriftOutcome): outcome is ForkCause => outcome.startsWith('fork_');

export function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
