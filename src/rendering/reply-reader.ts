import type { ToolDefinition } from '../canonical/message.js';
import type { FinishReason, StopKind } from '../canonical/turn.js';
import type { EngineFinish } from '../engines/engine.js';
import type { Family, ParsedReply } from '../families/family.js';
import type { Tokenizer } from './tokenizer.js';

export interface ReplyToRead {
  readonly outputIds: Int32Array;
  readonly finish: EngineFinish;
  readonly stopStrings: readonly string[];
  readonly eosTokenIds: ReadonlySet<number>;
  readonly stopTokenIds: ReadonlySet<number>;
  readonly reasoningOpen: boolean;
  readonly tools: readonly ToolDefinition[];
}

export interface ReadReply {
  readonly parsed: ParsedReply;
  /** All of the sampled text; the stop begins at `stopStart`. */
  readonly text: string;
  readonly stopStart: number;
  readonly stop: Stop;
  readonly reasoningTokens: number;
}

/** What ended sampling; `tokenCount` output tokens at the end hold the stop. */
export interface Stop {
  readonly kind: StopKind;
  readonly tokenCount: number;
  readonly stopString: string | null;
}

/** Ids → what the model said. The stop token is cut by id, a stop string by its place in the text; nothing else is lost. */
export function readReply(reply: ReplyToRead, tokenizer: Tokenizer, family: Family): ReadReply {
  const { outputIds } = reply;
  const { text, ends } = tokenizer.decodeWithOffsets(outputIds);
  const startOf = (index: number): number => (index === 0 ? 0 : (ends[index - 1] ?? 0));
  const stop = findStop(reply, text, ends);
  const stopTokens = stop.stopString === null ? stop.tokenCount : 0;
  const sampledEnd = stopTokens > 0 ? startOf(outputIds.length - stopTokens) : text.length;
  const stopStart = stop.stopString === null ? sampledEnd : text.indexOf(stop.stopString);
  const parsed = family.parse({
    text,
    stopStart,
    reasoningOpen: reply.reasoningOpen,
    tools: reply.tools,
    isMarker: (marker, offset) => {
      const id = tokenizer.idOf(marker);
      return id === undefined || outputIds[tokenAt(ends, offset)] === id;
    },
  });
  return { parsed, text, stopStart, stop, reasoningTokens: tokensIn(parsed, ends) };
}

/** Index of the first token that ends behind `offset`. */
function tokenAt(ends: Int32Array, offset: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ends[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

function findStop(reply: ReplyToRead, text: string, ends: Int32Array): Stop {
  const { outputIds, finish } = reply;
  if (finish.kind === 'abort') return { kind: 'abort', tokenCount: 0, stopString: null };
  if (finish.kind === 'length') return { kind: 'length', tokenCount: 0, stopString: null };
  const last = outputIds.at(-1);
  const byString = typeof finish.matched === 'string';
  if (!byString && last !== undefined) {
    if (reply.eosTokenIds.has(last)) return { kind: 'eos', tokenCount: 1, stopString: null };
    if (reply.stopTokenIds.has(last)) return { kind: 'stop_token', tokenCount: 1, stopString: null };
  }
  let at = -1;
  let found: string | null = null;
  for (const candidate of reply.stopStrings) {
    const index = text.indexOf(candidate);
    if (index >= 0 && (at < 0 || index < at)) {
      at = index;
      found = candidate;
    }
  }
  if (found !== null) return { kind: 'stop_string', tokenCount: outputIds.length - tokenAt(ends, at), stopString: found };
  // An engine that ends without a stop we know of has used an end token that it keeps to itself.
  return { kind: 'eos', tokenCount: 0, stopString: null };
}

function tokensIn(parsed: ParsedReply, ends: Int32Array): number {
  let count = 0;
  for (const span of parsed.spans) {
    if (span.kind === 'reasoning' && span.end > span.start) count += tokenAt(ends, span.end - 1) + 1 - tokenAt(ends, span.start);
  }
  return count;
}

export function finishReasonOf(stop: Stop, visibleCalls: number): FinishReason {
  if (stop.kind === 'length' || stop.kind === 'abort') return 'length';
  if (visibleCalls > 0) return 'tool_calls';
  return stop.kind === 'stop_string' ? 'stop_sequence' : 'stop';
}
