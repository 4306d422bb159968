/**
 * Everything that is said between the front thread and a shard. Bodies and answers are bytes whose buffers are
 * transferred: the sender must not read them afterwards. Messages of one tick travel as one array, in order.
 * Failures are values; no class instance crosses.
 */
import type { ProtocolName } from '../canonical/turn.js';
import type { ErrorValue } from '../errors.js';
import type { TrainerAnswer, TrainerCall } from '../trainer/calls.js';

export type ToShard =
  | AgentCall
  /** The client's socket is closed; nothing more can be written for this call. */
  | { readonly kind: 'gone'; readonly id: number }
  /** The last byte of the call's answer was written to an open socket. */
  | { readonly kind: 'written'; readonly id: number }
  | { readonly kind: 'trainer'; readonly id: number; readonly call: TrainerCall }
  | { readonly kind: 'metrics'; readonly id: number }
  | { readonly kind: 'drain'; readonly deadlineMs: number }
  /** A planted fault for tests; refused unless `test.faults` is set. */
  | { readonly kind: 'crash'; readonly how: 'throw' | 'exit' | 'hang' };

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
  /** A finished session waits for a lease. */
  | { readonly kind: 'finished' }
  /** A session lives in this shard from here on. */
  | { readonly kind: 'opened'; readonly sessionId: string }
  /** The session's key is refused from here on: finished, deleted or expired. */
  | { readonly kind: 'closed'; readonly sessionId: string }
  /** prom-client's JSON of the shard's registry. */
  | { readonly kind: 'metrics'; readonly id: number; readonly metrics: readonly object[] };

export type Headers = readonly (readonly [name: string, value: string])[];

export interface ServedModel {
  readonly name: string;
  readonly contextTokens: number;
  readonly family: string;
  readonly tokenizerHash: string;
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
