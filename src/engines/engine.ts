import type { Sampling, TokenLogprob } from '../canonical/turn.js';
import type { SpelledIds } from './spelled-ids.js';

export interface EngineHttpRequest {
  readonly method: 'GET' | 'POST';
  /** Below the engine's root URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
}

export interface EngineHttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

/** Sends one request; rejects only when no whole answer came (refused, reset, timed out). */
export type EngineHttp = (request: EngineHttpRequest) => Promise<EngineHttpResponse>;

export interface GenerateRequest {
  /** Unique for each attempt. */
  readonly requestId: string;
  readonly model: string | null;
  /** Validated against the vocabulary; one int32 per token. */
  readonly promptIds: Int32Array;
  /** Where the prompt is spelled: an earlier one that may begin like it, or itself. */
  readonly spelled?: SpelledIds;
  /** Ids are below it; an answer with another id is a lie. */
  readonly vocabularySize: number;
  readonly sampling: Sampling;
  /** Alternatives per token, 0 = the sampled one only. */
  readonly topLogprobs: number;
  /** Keyed hash of the session, for routers in front of the engine. */
  readonly routingKey: string;
}

export type EngineFinish =
  | { readonly kind: 'stop'; readonly matched: number | string | null }
  | { readonly kind: 'length' }
  | { readonly kind: 'abort' };

/** Half-open range of output positions sampled with one version of the weights. */
export interface WeightSpan {
  readonly version: string;
  readonly start: number;
  readonly end: number;
}

export interface GenerateResult {
  readonly outputIds: Int32Array;
  /** Same length; NaN where the engine gave no usable value. */
  readonly logprobs: Float32Array;
  /** Number of NaNs in `logprobs`. */
  readonly unknownLogprobs: number;
  readonly topLogprobs: readonly (readonly TokenLogprob[])[] | null;
  readonly finish: EngineFinish;
  /** `null` where the engine does not say; never 0 for unknown. */
  readonly cachedTokens: number | null;
  readonly promptTokens: number | null;
  readonly weightVersions: readonly WeightSpan[];
  readonly engineRequestId: string | null;
  readonly logprobBasis: LogprobBasis;
  /** Facts that a trainer should know of, such as `repetition`. */
  readonly flags: readonly string[];
}

/** `raw` = of the model's distribution; `tempered` = after temperature; `processed` = after all sampling filters. */
export type LogprobBasis = 'raw' | 'tempered' | 'processed';

/** What went wrong with a call, sorted by what a caller does about it. */
export type EngineFailure = {
  /**
   * `overloaded`: wait and retry · `transient`: retry elsewhere · `down`, `unauthorized` by 401: as transient, the replica is out ·
   * `invalid_answer`: retry once · `cancelled`: the caller's signal · the others are final.
   */
  readonly kind: 'overloaded' | 'transient' | 'down' | 'context_overflow' | 'bad_request' | 'unauthorized' | 'invalid_answer' | 'cancelled';
  readonly message: string;
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  /** Tokens of an answer that is thrown away, where it told. */
  readonly sampledTokens?: number;
};

export type GenerateOutcome =
  | { readonly ok: true; readonly result: GenerateResult }
  | { readonly ok: false; readonly failure: EngineFailure };

/** What a probe learned of one replica. `route` names the dialect that encode and decode use. */
export interface EngineProbe {
  readonly engine: string;
  readonly version: string | null;
  readonly route: string;
  readonly model: string | null;
  readonly contextTokens: number | null;
  readonly weightVersion: string | null;
  readonly facts: Readonly<Record<string, string | number | boolean | null>>;
}

/** Requests at a server. Waiting ones were sent for nothing: they would wait here as well. */
export interface EngineLoad {
  readonly running: number;
  readonly waiting: number;
}

/**
 * One kind of inference server: pure functions between our words and its HTTP bodies.
 * To add one: a file here, a line in `registry.ts`, recorded exchanges in `test/fixtures/engines/`, the contract suite in `test/contract/engine.test.ts`.
 */
export interface Engine {
  readonly name: string;
  readonly logprobBasis: LogprobBasis;
  /** @throws GatewayError `engine_unusable` with what would help when the server cannot serve token ids. */
  probe(http: EngineHttp): Promise<EngineProbe>;
  encode(request: GenerateRequest, probe: EngineProbe): EngineHttpRequest;
  /** Never throws: an answer that makes no sense is an `invalid_answer`. */
  decode(response: EngineHttpResponse, request: GenerateRequest, probe: EngineProbe): GenerateOutcome;
  /** The call that frees a running request, `null` where only closing the socket does. */
  abort(requestId: string, probe: EngineProbe): EngineHttpRequest | null;
  health(): EngineHttpRequest;
  /** The call that tells how much is in work. */
  load(): EngineHttpRequest;
  /** `null` where the answer does not tell. */
  readLoad(response: EngineHttpResponse): EngineLoad | null;
}
