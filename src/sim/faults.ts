import { mix, randomStream } from './hash.js';

/** What can go wrong, by where it strikes. */
export const FAULT_KINDS = {
  /** The engine answers a refusal and samples nothing. */
  refusal: ['http_429', 'http_500', 'http_502', 'http_503', 'context_overflow', 'bad_request', 'unauthorized'],
  /** The connection or the process. */
  connection: ['reset_before', 'stall', 'die'],
  /** The answer comes, but late, in pieces or not whole. The tokens were sampled. */
  delivery: ['slow', 'reset_mid', 'truncated_json', 'html_200', 'error_200', 'empty_200', 'empty_body', 'trickle'],
  /** The engine stops before the end, by itself. */
  abort: ['abort_partial', 'abort_empty'],
  /** The answer says something else than what was sampled. */
  lie: [
    'nan_logprobs',
    'null_logprobs',
    'infinite_logprobs',
    'clamped_logprobs',
    'fewer_logprobs',
    'more_logprobs',
    'no_logprobs',
    'positive_logprobs',
    'other_ids',
    'out_of_vocabulary_ids',
    'no_ids',
    'no_output',
    'extra_eos',
    'missing_eos',
    'wrong_finish',
    'unknown_finish',
    'finish_error',
    'negative_usage',
    'wrong_request_id',
  ],
} as const;

export type FaultGroup = keyof typeof FAULT_KINDS;
export type FaultKind = (typeof FAULT_KINDS)[FaultGroup][number];

export const ALL_FAULTS: readonly FaultKind[] = Object.values(FAULT_KINDS).flat();

export const isFaultKind = (name: string): name is FaultKind => (ALL_FAULTS as readonly string[]).includes(name);

export const faultGroup = (kind: FaultKind): FaultGroup =>
  (Object.keys(FAULT_KINDS) as FaultGroup[]).find((group) => (FAULT_KINDS[group] as readonly string[]).includes(kind))!;

/** When a fault strikes. Conditions that are absent hold. */
export interface FaultRule {
  readonly kind: FaultKind;
  /** Share of the requests, by seed; 1 when absent. */
  readonly rate?: number;
  /** At most so many times. */
  readonly count?: number;
  /** Lets the first so many matching requests pass. */
  readonly after?: number;
  /** The prompt's text holds this. */
  readonly prompt?: string;
  /** Only the n-th time, from 0, that this very prompt is asked. */
  readonly attempt?: number;
  /** For `stall`, `slow`, `trickle` (duration) and `die` (time until it is back; 0 = never). */
  readonly ms?: number;
  /** For refusals: seconds of a `Retry-After` header. */
  readonly retryAfterS?: number;
}

export interface FaultContext {
  readonly promptHash: number;
  readonly promptText: () => string;
  readonly attempt: number;
}

/** The rules in force. The same seed and prompts meet the same faults, in whatever order they arrive. */
export class FaultPlan {
  #rules: { readonly rule: FaultRule; matched: number; struck: number }[] = [];

  constructor(
    readonly seed: number,
    rules: readonly FaultRule[] = [],
  ) {
    this.set(rules);
  }

  set(rules: readonly FaultRule[]): void {
    this.#rules = rules.map((rule) => ({ rule, matched: 0, struck: 0 }));
  }

  /** How often each rule struck. */
  list(): readonly (FaultRule & { readonly struck: number })[] {
    return this.#rules.map(({ rule, struck }) => ({ ...rule, struck }));
  }

  /** The first rule that strikes this request. */
  draw(context: FaultContext): FaultRule | null {
    for (const [index, state] of this.#rules.entries()) {
      const { rule } = state;
      if (rule.count !== undefined && state.struck >= rule.count) continue;
      if (rule.attempt !== undefined && rule.attempt !== context.attempt) continue;
      if (rule.prompt !== undefined && !context.promptText().includes(rule.prompt)) continue;
      if (state.matched++ < (rule.after ?? 0)) continue;
      const seed = mix(mix(mix(this.seed, context.promptHash), context.attempt), index);
      if (rule.rate !== undefined && randomStream(seed)() >= rule.rate) continue;
      state.struck++;
      return rule;
    }
    return null;
  }
}
