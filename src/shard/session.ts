import { parseJson } from '../canonical/json-parse.js';
import { isJsonObject, type JsonObject } from '../canonical/json-value.js';
import type { TurnReply } from '../canonical/turn.js';
import type { Settings } from '../config.js';
import type { PromptMemory } from '../rendering/prompt-memory.js';
import type { CreateSession } from '../trainer/calls.js';
import type { PendingTurn } from '../trajectory/pending-turn.js';
import { TrajectoryTree } from '../trajectory/tree.js';
import type { TurnRecord } from '../trajectory/turn.js';

/** Branches of a session whose last render is remembered; beyond it, the one that was continued longest ago is rendered anew. */
const MEMORIES_MAX = 64;

export type SessionState = 'open' | 'finishing' | 'over';

/** A call whose answer may still commit its turn. */
export interface TurnCallInWork {
  readonly pending: PendingTurn;
  /** Settles when the call is over. */
  readonly ended: Promise<void>;
}

/** A turn in work: what finish and delete must be able to end. */
export interface RunningTurn extends TurnCallInWork {
  readonly abort: () => void;
  /** Resolves when its reply is there, or it failed. */
  readonly sampled: Promise<void>;
}

/** One rollout of one agent while it lives in a shard. */
export class Session {
  static #serials = 0;
  /** Unlike over all sessions of the thread, later lives of an id included. */
  readonly serial = Session.#serials++;
  state: SessionState = 'open';
  readonly tree: TrajectoryTree;
  readonly metadata: JsonObject;
  readonly running = new Set<RunningTurn>();
  /** Marked retries that wait for a turn or answer with its reply. */
  readonly retrying = new Set<TurnCallInWork>();
  lastUsedMs: number;
  /** Made when first needed, see `turn-call.ts`. */
  routingKey: string | null = null;
  /** Turns whose engine work is being stopped: no retry joins them. */
  readonly aborting = new WeakSet<PendingTurn>();
  /** Replies by turn, for as long as the tree remembers the turn for marked retries. */
  readonly replies = new WeakMap<PendingTurn, TurnReply>();
  /** By the turn whose prompt was rendered last: what the next render of its branch can build on. */
  readonly #memories = new Map<TurnRecord, PromptMemory>();

  constructor(
    readonly created: CreateSession,
    settings: Settings,
    /** Also the frozen clock of the session's templates. */
    readonly openedAtMs: number,
    readonly implicit: boolean,
  ) {
    this.lastUsedMs = openedAtMs;
    const metadata = parseJson(created.metadata);
    this.metadata = isJsonObject(metadata) ? metadata : new Map();
    this.tree = new TrajectoryTree({
      policy: created.history ?? settings.history,
      realignTokensMax: settings.realignTokensMax,
      retryMemory: settings.limits.keptReplies,
    });
  }

  /** The memory of a turn's prompt; it is the caller's now, since its next render is another's. */
  takeMemory(turn: TurnRecord): PromptMemory | null {
    const memory = this.#memories.get(turn) ?? null;
    this.#memories.delete(turn);
    return memory;
  }

  keepMemory(turn: TurnRecord, memory: PromptMemory): void {
    this.#memories.set(turn, memory);
    if (this.#memories.size <= MEMORIES_MAX) return;
    const [oldest] = this.#memories.keys();
    this.#memories.delete(oldest!);
  }

  forgetMemories(): void {
    this.#memories.clear();
  }

  /** What must end before it is known which turns there are. */
  get unsettled(): readonly TurnCallInWork[] {
    return [...this.running, ...this.retrying].filter(({ pending }) => pending.state !== 'committed');
  }

  get id(): string {
    return this.created.sessionId;
  }

  /** Names this life of the id. */
  get life(): string {
    return `${this.serial}`;
  }

  /** Turns that count against the cap: committed ones and those that may still be. */
  get turnsUsed(): number {
    return this.tree.books.committedTurns + this.running.size;
  }
}

/** A session that an agent opened by using its id as key. */
export const implicitSession = (sessionId: string): CreateSession => ({
  sessionId,
  sampling: {},
  history: null,
  tokenIdsOnWire: false,
  metadata: '{}',
  maxTurns: null,
  maxContextTokens: null,
  rolloutId: null,
  groupId: null,
  sampleIndex: null,
});
