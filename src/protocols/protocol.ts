import type { JsonObject } from '../canonical/json-value.js';
import type { ProtocolName, TurnReply, TurnRequest } from '../canonical/turn.js';
import type { ErrorValue } from '../errors.js';
import type { RequestMemo } from './request-memo.js';

/** What is known when an SSE head goes out: after rendering, before the engine. */
export interface StreamOpening {
  readonly turnId: string;
  readonly createdAtSeconds: number;
  readonly promptTokens: number;
  /** Newly made. */
  promptIds(): Int32Array;
}

export interface ParseOptions {
  /** Verifies a thinking signature and gives the turn id it was made for, else `null`. */
  readonly verifySignature: (signature: string) => string | null;
  /** Gives for a value object that was read before the same result object; without it everything is made anew. */
  readonly memo?: RequestMemo;
}

/**
 * What one kind of client speaks: pure functions between its JSON and ours. Texts returned are whole HTTP bodies or
 * whole SSE events, ready to be written.
 * To add one: a file here, a line in `registry.ts`, the contract suite in `test/contract/protocol.test.ts`.
 */
export interface Protocol {
  readonly name: ProtocolName;
  /** @throws GatewayError for a body that is not understood or asks for what cannot be honoured. */
  parseRequest(body: JsonObject, options: ParseOptions): TurnRequest;
  formatReply(request: TurnRequest, reply: TurnReply): string;
  /** The events that can go out before anything was sampled. */
  openStream(request: TurnRequest, opening: StreamOpening): string;
  /** The remaining events of a finished turn, the last one included. */
  finishStream(request: TurnRequest, reply: TurnReply): string;
  readonly heartbeat: string;
  /** One event that ends a stream that can't be finished. */
  failStream(error: ErrorValue, requestId: string): string;
  /** The message of `context_length_exceeded` by which this protocol's clients know it. */
  overflowMessage(promptTokens: number, contextTokens: number): string;
  /** The HTTP status and body of a refusal; its headers are in `error-reply.ts`. */
  formatError(error: ErrorValue, requestId: string): { readonly status: number; readonly body: string };
}
