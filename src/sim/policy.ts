import { type PromptTurn, readTurns } from './conversation.js';
import { randomStream } from './hash.js';
import { readPlan } from './plan.js';
import type { Reply } from './reply.js';
import type { SimVocabulary } from './vocabulary.js';

/** What a policy may look at when it decides what the model says next. Texts are decoded on first use. */
export interface PolicyTurn {
  readonly promptIds: Int32Array;
  readonly promptText: string;
  /** All turns before the one to be said. */
  readonly turns: readonly PromptTurn[];
  /** How often this very prompt was asked before. */
  readonly occurrence: number;
  readonly maxTokens: number;
  readonly vocabulary: SimVocabulary;
  /** Numbers in [0, 1) that belong to engine seed, prompt and occurrence. */
  readonly random: () => number;
}

/** Decides what the model says; `null` leaves it to the next policy. */
export type Policy = (turn: PolicyTurn) => Reply | null;

export class PromptView implements PolicyTurn {
  #text: string | undefined;
  #turns: readonly PromptTurn[] | undefined;
  readonly random: () => number;

  constructor(
    readonly promptIds: Int32Array,
    readonly occurrence: number,
    readonly maxTokens: number,
    readonly vocabulary: SimVocabulary,
    seed: number,
  ) {
    this.random = randomStream(seed);
  }

  get promptText(): string {
    this.#text ??= this.vocabulary.decode(this.promptIds);
    return this.#text;
  }

  get turns(): readonly PromptTurn[] {
    this.#turns ??= readTurns(this.promptText).slice(0, -1);
    return this.#turns;
  }
}

/** The first reply that one of the policies gives. */
export const firstOf =
  (...policies: readonly Policy[]): Policy =>
  (turn) => {
    for (const policy of policies) {
      const reply = policy(turn);
      if (reply) return reply;
    }
    return null;
  };

/** Random words: `tokens` of them or up to twice that, as a stream of ordinary ids. */
export const randomPolicy =
  (tokens = 48): Policy =>
  ({ vocabulary, random, maxTokens }) => {
    const length = Math.min(maxTokens, tokens + Math.floor(random() * tokens));
    const ids = Array.from(
      { length: Math.max(1, length - 1) },
      () => vocabulary.wordIds[Math.floor(random() * vocabulary.wordIds.length)]!,
    );
    return { ids, ends: length < maxTokens || random() < 0.9 };
  };

const PLAN = /\[plan\]([\s\S]*?)\[\/plan\]/;

/**
 * Plays the plan that the last user turn carries: `[plan][{...}, {...}][/plan]`, a JSON list of replies.
 * The n-th answer to that user turn says the n-th reply; behind the last one it says `done`.
 * @throws PlanError for a plan that is none
 */
export const planPolicy: Policy = ({ turns }) => {
  const asked = turns.findLastIndex((turn) => turn.role === 'user');
  const plan = PLAN.exec(turns[asked]?.text ?? '')?.[1];
  if (plan === undefined) return null;
  const steps = readPlan(plan);
  const said = turns.slice(asked).filter((turn) => turn.role === 'assistant').length;
  return steps[said] ?? { text: 'done' };
};

/** One line of a JSON script: the reply to prompts whose last turn (or whole text) holds `when`. */
export interface ScriptRule {
  readonly when: string;
  readonly in?: 'last' | 'prompt';
  /** Only after so many answers of the model. */
  readonly answers?: number;
  readonly reply: Reply;
}

export const scriptPolicy =
  (rules: readonly ScriptRule[]): Policy =>
  (turn) => {
    const answers = turn.turns.filter(({ role }) => role === 'assistant').length;
    const rule = rules.find(
      (it) =>
        (it.answers === undefined || it.answers === answers) &&
        (it.in === 'prompt' ? turn.promptText : (turn.turns.at(-1)?.text ?? '')).includes(it.when),
    );
    return rule?.reply ?? null;
  };
