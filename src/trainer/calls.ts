/** The trainer's calls as they reach a shard, after the front has checked them, and the shard's answers. */
import type { JsonObject } from '../canonical/json-value.js';
import type { SamplingFields } from '../canonical/turn.js';
import type { ErrorValue } from '../errors.js';

export type HistoryPolicy = 'auto' | 'verbatim' | 'rerender';
export type TraceEncoding = 'json' | 'ndjson' | 'msgpack';
export type TraceInclude = 'messages' | 'segments';

export interface CreateSession {
  readonly sessionId: string;
  readonly sampling: SamplingFields & { readonly stop?: readonly string[] };
  readonly history: HistoryPolicy | null;
  readonly tokenIdsOnWire: boolean;
  /** JSON object as text, kept as it came. */
  readonly metadata: string;
  readonly maxTurns: number | null;
  readonly maxContextTokens: number | null;
  readonly rolloutId: string | null;
  readonly groupId: string | null;
  readonly sampleIndex: number | null;
}

export type RewardComponent = number | { readonly value: number; readonly weight: number };

export interface FinishSession {
  readonly reward?: number | null;
  readonly rewardComponents?: Readonly<Record<string, RewardComponent>>;
  readonly rowRewards?: readonly (number | null)[];
  readonly turnRewards?: Readonly<Record<string, number>>;
  readonly status?: 'completed' | 'truncated' | 'aborted' | 'failed';
  readonly stopReason?: string;
  readonly error?: string;
  readonly metadata: string;
  readonly waitMs: number;
  readonly include: readonly TraceInclude[];
  /** Acknowledge once the answer has been taken by the trainer's socket. */
  readonly ack: boolean;
  readonly encoding: TraceEncoding;
}

export type TrainerCall =
  | { readonly kind: 'create'; readonly session: CreateSession }
  /** Sessions whose id comes after `after` (by UTF-16 units), at most `limit`, in order; the answer is a JSON array. */
  | { readonly kind: 'list'; readonly after: string | null; readonly limit: number }
  | { readonly kind: 'get'; readonly sessionId: string }
  | { readonly kind: 'tree'; readonly sessionId: string; readonly format: 'json' | 'text'; readonly colour: boolean }
  | { readonly kind: 'finish'; readonly sessionId: string; readonly finish: FinishSession }
  | { readonly kind: 'delete'; readonly sessionId: string }
  | {
      readonly kind: 'lease';
      readonly leaseId: string;
      readonly expiresAtMs: number;
      readonly max: number;
      readonly include: readonly TraceInclude[];
      readonly encoding: TraceEncoding;
    }
  /** The rows of a finish have arrived, where it asked for that; earlier lives of the id stay. */
  | { readonly kind: 'ack_life'; readonly sessionId: string; readonly life: string }
  | { readonly kind: 'ack'; readonly leaseId: string | null; readonly sessionIds: readonly string[] };

/** `wait`: running samples end · `abort`: they are stopped and go on after the pause from the tokens they have · `keep`: the engine holds them. */
export type PauseMode = 'wait' | 'abort' | 'keep';

/** What a trainer wants of the engines; every shard is told. */
export type EngineOrder =
  | { readonly kind: 'tell' }
  /** Answered when no call runs at an engine, or after `waitMs`; at once for `keep`. The pause lasts until `resume`. */
  | { readonly kind: 'pause'; readonly mode: PauseMode; readonly waitMs: number }
  /** `weightVersion` stamps what is sampled from now on where the engine does not say a version. */
  | { readonly kind: 'resume'; readonly weightVersion: string | null }
  | { readonly kind: 'add_replica'; readonly url: string }
  /** Answered when its running calls have ended, or after `waitMs`. */
  | { readonly kind: 'remove_replica'; readonly url: string; readonly waitMs: number };

export type TrainerAnswer =
  | { readonly kind: 'error'; readonly error: ErrorValue }
  /** A JSON text, or text/plain for a drawn tree. */
  | { readonly kind: 'text'; readonly status: number; readonly text: string }
  /** One encoded body per finished session, see `trace-encoding.ts`; the front joins them. `life` names the one that a finish answers. */
  | { readonly kind: 'traces'; readonly status: number; readonly sessions: readonly Uint8Array[]; readonly life?: string }
  | { readonly kind: 'acked'; readonly acked: number; readonly unknown: readonly string[] };

export type Metadata = JsonObject;
