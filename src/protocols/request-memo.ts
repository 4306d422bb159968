/**
 * Stands for what was read of one session's earlier requests. Where a later body holds the very value objects of an earlier one,
 * the protocols give the very messages and tools that they made of them. Thinking signatures are verified for a session, so a memo
 * never serves two.
 */
export class RequestMemo {
  /** Tells memos apart from any other object. */
  readonly name = 'request memo';
}

/** What one kind of reader keeps for a memo, for as long as the memo lives. */
export class PerMemo<Kept> {
  readonly #kept = new WeakMap<RequestMemo, Kept>();

  constructor(private readonly create: () => Kept) {}

  of(memo: RequestMemo): Kept {
    let kept = this.#kept.get(memo);
    if (kept === undefined) {
      kept = this.create();
      this.#kept.set(memo, kept);
    }
    return kept;
  }
}
