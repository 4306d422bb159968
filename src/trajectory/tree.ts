import type { Message } from '../canonical/message.js';
import type { DriftOutcome } from '../canonical/trace.js';
import type { ProtocolName, Sampling } from '../canonical/turn.js';
import { Books } from './books.js';
import { CallIds } from './call-ids.js';
import { type Drift, type HistoryPolicy, measureDrift, type PromptForm, remeasureDrift, settleDrift } from './drift.js';
import { forkCause } from './fork-cause.js';
import { type KnownHistory, type Located, MessageTree } from './message-tree.js';
import type { TreeNode } from './node.js';
import { PendingTurn, type TurnDesk, type TurnStart } from './pending-turn.js';
import { Retries } from './retries.js';
import type { Root, RootKey } from './root.js';
import type { SampledTurn, TurnRecord } from './turn.js';
import { outputLength, ownedSample, samePrompt } from './turn-ids.js';

export interface TreeSettings {
  readonly policy: HistoryPolicy;
  /** `rerender` only: outputs below this length may write over the drifted output before them; 0 = never, 1024 = as the seed system. */
  readonly realignTokensMax: number;
  /** Turns that are over and can still be asked for by a marked retry. */
  readonly retryMemory: number;
}

export const TREE_DEFAULTS: TreeSettings = { policy: 'auto', realignTokensMax: 0, retryMemory: 64 };

export interface BeginTurn {
  readonly located: Located;
  readonly prompt: PromptForm;
  /** Names the request's body and route; equal for a retry of it. */
  readonly digest: string;
  readonly protocol: ProtocolName;
  readonly sampling: Sampling;
  readonly startedAtMs: number;
}

/**
 * Everything that one session has said: a tree of messages, and the turns that were sampled in it.
 * Synchronous and without a clock: nothing is checked and then awaited upon, times come as arguments.
 */
export class TrajectoryTree {
  readonly settings: TreeSettings;
  readonly books = new Books();
  readonly callIds = new CallIds();
  readonly #messages = new MessageTree();
  readonly #turns: TurnRecord[] = [];
  readonly #lastOfRoot = new Map<Root, TurnRecord>();
  readonly #retries: Retries;
  readonly #desk: TurnDesk;
  #begun = 0;
  #closed = false;

  constructor(settings: Partial<TreeSettings> = {}) {
    this.settings = { ...TREE_DEFAULTS, ...settings };
    this.#retries = new Retries(this.settings.retryMemory, (turn) => turn.discard('client_gone'));
    const isClosed = () => this.#closed;
    this.#desk = {
      get closed() {
        return isClosed();
      },
      finished: (sampled) => {
        this.books.sampled += sampled.outputIds.length;
      },
      late: (sampled) => {
        this.books.lateResults++;
        this.books.lateTokens += sampled.outputIds.length;
      },
      commit: (start, sampled, nowMs) => this.#commit(start, sampled, nowMs),
      discarded: (reason, sampled, tokens) => {
        if (sampled === null) this.books.sampled += tokens;
        this.books.discard(reason, sampled?.outputIds.length ?? tokens);
      },
    };
  }

  /** Committed turns in order of commit. */
  get turns(): readonly TurnRecord[] {
    return this.#turns;
  }

  get nodes(): readonly TreeNode[] {
    return this.#messages.nodes;
  }

  get roots(): readonly Root[] {
    return this.#messages.roots;
  }

  /** Turns that are neither committed nor discarded. */
  get open(): readonly PendingTurn[] {
    return this.#retries.open;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Finds a history. Changes nothing. */
  locate(key: RootKey, messages: readonly Message[], known?: KnownHistory): Located {
    return this.#messages.locate(key, messages, known);
  }

  /** The turn that a marked retry with this digest joins or replays. */
  findRetry(digest: string): PendingTurn | null {
    return this.#retries.find(digest);
  }

  /**
   * Opens a turn. The tree itself changes when it is committed.
   * @throws RangeError when the session is closed or an `extends` prompt names a turn that is not above it
   */
  begin(input: BeginTurn): PendingTurn {
    if (this.#closed) throw new RangeError('The session is closed; no turn can begin');
    const { located, prompt, digest, protocol, sampling, startedAtMs } = input;
    const { root, end, reached, messages } = located;
    if (prompt.kind === 'extends' && !isAbove(prompt.base, end)) {
      throw new RangeError(`Turn ${prompt.base.turnId} is not part of the history that its ids are to continue`);
    }
    const twin = reached.length === messages.length ? end.generated?.at(-1)?.turn : undefined;
    const keepers = [twin, this.#lastOfRoot.get(root), this.#turns.at(-1)].filter((turn) => turn !== undefined && turn !== null);
    const drift = measureDrift(prompt, end, keepers);
    const cause = prompt.kind === 'whole' ? prompt.cause : undefined;
    const otherwise: DriftOutcome = cause ?? forkCause(located, drift.nearest, () => this.#messages.askedElsewhere(located));
    const order = this.#begun++;
    const begunAfter = this.books.committedTurns;
    const pending = new PendingTurn(
      { turnId: `t${order}`, order, begunAfter, located, drift, otherwise, digest, protocol, sampling, startedAtMs },
      this.#desk,
    );
    this.#retries.add(pending);
    return pending;
  }

  /** Ends the session: open turns are discarded, later results are refused and counted. */
  close(): void {
    if (this.#closed) return;
    for (const turn of this.open) turn.discard(turn.state === 'finished' && turn.holders === 0 ? 'client_gone' : 'session_closed');
    this.#closed = true;
  }

  #commit(start: TurnStart, given: SampledTurn, nowMs: number): TurnRecord {
    const { located, otherwise } = start;
    const drift = isStale(start.drift) ? remeasureDrift(start.drift, located.end) : start.drift;
    const { base, baseLength, delta, promptLength } = drift.prompt;
    const sampled = ownedSample(given);
    const realignTokensMax = this.settings.policy === 'rerender' ? this.settings.realignTokensMax : 0;
    this.#absorbRewrite(located, realignTokensMax);
    const historyEnd = this.#messages.grow(located);
    const { link, outcome, segments } = settleDrift(drift, otherwise, sampled.outputIds.length, realignTokensMax);
    const node = this.#messages.addGenerated(historyEnd, sampled.message, sampled.shown, start.turnId);
    const first = historyEnd.generated!.find((twin) => twin !== node && samePrompt(twin.turn!, drift.prompt))?.turn ?? null;
    // One literal: objects put together by spreading each get a hidden class of their own, which doubles what a turn costs.
    const turn: TurnRecord = {
      turnId: start.turnId,
      order: start.order,
      commitOrder: this.books.committedTurns,
      begunAfter: start.begunAfter,
      historyEnd,
      node,
      base,
      baseLength,
      delta,
      promptLength,
      link,
      outcome,
      duplicateOf: first,
      segments,
      sampled,
      unknownLogprobs: sampled.logprobs.reduce((count, logprob) => count + (Number.isFinite(logprob) ? 0 : 1), 0),
      sampling: start.sampling,
      protocol: start.protocol,
      startedAtMs: start.startedAtMs,
      committedAtMs: nowMs,
    };
    node.turn = turn;
    this.#turns.push(turn);
    this.#lastOfRoot.set(node.root, turn);
    this.books.commit(turn.outcome, outputLength(turn));
    return turn;
  }

  /**
   * The seed system's answer to an edited reply: where the client's history leaves the tree with an assistant message of its own beside
   * the only sampled one, and that one is short, the edited message takes its place and what was sampled is given up.
   */
  #absorbRewrite(located: Located, tokensMax: number): void {
    const demoted = tokensMax > 0 ? this.#messages.absorbRewrite(located, tokensMax) : null;
    if (demoted === null) return;
    this.#turns.splice(this.#turns.indexOf(demoted), 1);
    this.books.rewritten(outputLength(demoted));
    for (const turn of this.#turns) {
      if (turn.link?.to !== demoted && !followed(turn, demoted)) continue;
      const drift = remeasureDrift(
        { prompt: turn, nearest: null, clean: null, proof: 'exact', insideLastOutput: false, segments: null },
        turn.historyEnd,
      );
      turn.link = settleDrift(drift, turn.outcome, outputLength(turn), tokensMax).link;
      turn.segments = null;
    }
  }
}

/** The turns that a prompt was compared with were edited away since. */
const isStale = ({ nearest, clean }: Drift): boolean => [nearest, clean].some((turn) => turn !== null && turn.node.turn !== turn);

/** Whether `before`, which has lost its place, was the nearest sampled turn above `turn`. */
function followed(turn: TurnRecord, before: TurnRecord): boolean {
  let at: TreeNode | null = turn.historyEnd;
  while (at !== null && at !== before.node && at.turn === null) at = at.parent;
  return at === before.node;
}

function isAbove(turn: TurnRecord, node: TreeNode): boolean {
  let at: TreeNode | null = node;
  while (at !== null && at.depth > turn.node.depth) at = at.parent;
  return at === turn.node;
}
