/**
 * Everything that is said between the front thread and a shard. Bodies and answers are bytes whose buffers are
 * transferred: the sender must not read them afterwards. Messages travel in arrays, in order: those of one round of the
 * event loop together. Failures are values; no class instance crosses.
 */
import type { ProtocolName } from '../canonical/turn.js';
import type { ErrorValue } from '../errors.js';
import type { EngineOrder, PauseMode, TrainerAnswer, TrainerCall } from '../trainer/calls.js';

export type { PauseMode };

export type ToShard =
  | AgentCall
  /** The client's socket is closed; nothing more can be written for this call. */
  | { readonly kind: 'gone'; readonly id: number }
  /** The last byte of the call's answer was written to an open socket. */
  | { readonly kind: 'written'; readonly id: number }
  | { readonly kind: 'trainer'; readonly id: number; readonly call: TrainerCall }
  | { readonly kind: 'metrics'; readonly id: number }
  /** `slot` is the counter of an added replica, the same in every shard. */
  | { readonly kind: 'order'; readonly id: number; readonly order: EngineOrder; readonly slot: number }
  /** The process is stopping: calls that are not answered after so many milliseconds fail with `shutting_down`. */
  | { readonly kind: 'drain'; readonly deadlineMs: number }
  /** A planted fault for tests; refused unless `test.faults` is set. */
  | { readonly kind: 'crash'; readonly how: 'throw' | 'exit' | 'hang' | 'heap' };

export interface AgentCall {
  readonly kind: 'agent';
  /** Unique among the calls of this front; names the call in all messages about it. */
  readonly id: number;
  readonly operation: 'turn' | 'count_tokens';
  readonly protocol: ProtocolName;
  /** The id that the caller's key stands for. */
  readonly sessionKey: string;
  /** Shown as `request-id` / `x-request-id` and in error bodies. */
  readonly requestId: string;
  /** `x-stainless-retry-count`; above 0 it marks a retry. */
  readonly retryCount: number;
  readonly receivedAtMs: number;
  readonly body: Uint8Array;
}

export type FromShard =
  /** The shard has loaded tokenizer and template and takes calls. */
  | { readonly kind: 'ready'; readonly model: ServedModel }
  | { readonly kind: 'failed'; readonly error: ErrorValue }
  | { readonly kind: 'engines'; readonly engines: readonly ReplicaState[] }
  /** A whole answer: head and body at once. */
  | { readonly kind: 'answer'; readonly id: number; readonly status: number; readonly headers: Headers; readonly body: Uint8Array }
  /** The head of an answer whose body follows in pieces, the last one as `end`. */
  | { readonly kind: 'head'; readonly id: number; readonly status: number; readonly headers: Headers; readonly body: Uint8Array }
  | { readonly kind: 'chunk'; readonly id: number; readonly body: Uint8Array }
  | { readonly kind: 'end'; readonly id: number; readonly body: Uint8Array }
  /** The call failed after its head: close the socket without ending the body. */
  | { readonly kind: 'cut'; readonly id: number }
  /** Made by the front when the call's shard died: the front answers in the caller's dialect, or cuts a begun answer. */
  | { readonly kind: 'lost'; readonly id: number; readonly error: ErrorValue }
  | { readonly kind: 'trainer'; readonly id: number; readonly answer: TrainerAnswer }
  /** A session lives in this shard from here on. */
  | ({ readonly kind: 'opened' } & SessionNote)
  /** A turn was committed; totals of the session. */
  | { readonly kind: 'progress'; readonly life: string; readonly turns: number; readonly tokens: number }
  /** The session's key is refused from here on: finished, deleted or expired. */
  | { readonly kind: 'closed'; readonly sessionId: string }
  /** A finished session waits for a lease. */
  | { readonly kind: 'finished'; readonly life: string }
  /** Nothing is held any more of an open session that was deleted, or of a finished one that was acknowledged or expired. */
  | { readonly kind: 'forgotten'; readonly life: string }
  /** The order is carried out in this shard, or its wait is over. */
  | { readonly kind: 'work'; readonly id: number; readonly work: EngineWork }
  /** A call's body that is not needed any more, transferred back. */
  | { readonly kind: 'spare'; readonly buffer: ArrayBuffer }
  /** prom-client's JSON of the shard's registry. */
  | { readonly kind: 'metrics'; readonly id: number; readonly metrics: readonly object[] };

export type Headers = readonly (readonly [name: string, value: string])[];

export interface ServedModel {
  readonly name: string;
  readonly contextTokens: number;
  readonly family: string;
  readonly tokenizerHash: string;
}

/** What the front remembers of a session, for its trainer, should the shard die. */
export interface SessionNote {
  readonly sessionId: string;
  /** An id can be finished, opened again and finished again; unique in the life of a shard. */
  readonly life: string;
  readonly implicit: boolean;
  readonly openedAtMs: number;
  readonly rolloutId: string | null;
  readonly groupId: string | null;
  readonly sampleIndex: number | null;
}

/** What turns do at the engines. */
export interface EngineWork {
  /** Calls at engines. */
  readonly calls: number;
  /** Turns that wait for a place and have no token yet. */
  readonly waiting: number;
  /** Turns at an engine or with tokens of one, by the oldest weights among these; `null` = the engine does not say. */
  readonly running: readonly { readonly weightVersion: string | null; readonly turns: number }[];
}

export interface ReplicaState {
  readonly url: string;
  readonly state: 'starting' | 'up' | 'down';
  readonly version: string | null;
  readonly route: string | null;
  readonly weightVersion: string | null;
  readonly inFlight: number;
  readonly queued: number;
  readonly window: number;
  /** What was wrong the last time, `null` when up. */
  readonly problem: string | null;
}
