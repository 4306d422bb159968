import type { JsonValue } from '../canonical/json-value.js';
import type { ToolDefinition } from '../canonical/message.js';

/** Every UTF-16 unit of the reply belongs to exactly one span, in order. */
export interface Span {
  readonly kind: 'reasoning' | 'content' | 'tool_call' | 'markup' | 'unparsed' | 'stop';
  readonly start: number;
  readonly end: number;
}

export interface ParsedCall {
  readonly name: string;
  /** The sampled JSON text where the grammar is JSON, else the JSON of the typed value. */
  readonly arguments: string;
  readonly value: JsonValue | undefined;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Native id of the call where the grammar prints one (Kimi). */
  readonly id: string | null;
  readonly start: number;
  readonly end: number;
}

export interface ParsedReply {
  readonly family: string;
  readonly reasoning: string | null;
  readonly content: string;
  readonly toolCalls: readonly ParsedCall[];
  readonly illFormed: boolean;
  readonly spans: readonly Span[];
}

export interface ReplyText {
  /** The sampled text with special tokens kept; the stop token, if any, is `text.slice(stopStart)`. */
  readonly text: string;
  readonly stopStart: number;
  /**
   * Whether a marker at this offset is the control token and not letters that spell it. Always true where the
   * reply came as text; a marker that is no single token of the vocabulary is always letters and always counts.
   */
  readonly isMarker: (marker: string, offset: number) => boolean;
  /** Decided by the end of the prompt, never by template arguments. */
  readonly reasoningOpen: boolean;
  readonly tools: readonly ToolDefinition[];
}

/**
 * What one kind of model writes. `parse` is total: whatever was sampled comes back whole, nothing throws.
 * To add one: a file here, a line in `registry.ts`, a table in `test/families/`, the contract suite in `test/contract/family.test.ts`.
 */
export interface Family {
  readonly name: string;
  /** Text that ends one call, where `parallel_tool_calls: false` can stop on it. */
  readonly callEnd: string | null;
  /** Whether the template prints the ids of calls, so that native ones are handed out. */
  readonly nativeIds: boolean;
  parse(reply: ReplyText): ParsedReply;
}
