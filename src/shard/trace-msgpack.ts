import { Packr } from 'msgpackr';
import { JsonFloat, type JsonValue } from '../canonical/json-value.js';
import type { TraceRecord } from '../canonical/trace.js';
import type { TraceEncoding } from '../trainer/calls.js';
import { type FinishedSession, sessionJson, sessionLines, traceMessage } from '../trainer/trace-encoding.js';

/** The piece of a finished session that `trainer/join.ts` puts into an answer. */
export function encodeSession(session: FinishedSession, encoding: TraceEncoding): Uint8Array {
  switch (encoding) {
    case 'json':
      return new TextEncoder().encode(sessionJson(session));
    case 'ndjson':
      return new TextEncoder().encode(sessionLines(session));
    case 'msgpack':
      return sessionMsgpack(session);
  }
}

const packr = new Packr({ useRecords: false, largeBigIntToFloat: true, variableMapSize: true });

/**
 * As the JSON form, with `token_ids` as little-endian int32, `loss_mask` as uint8 and `logprobs` as little-endian
 * float32 (NaN where unknown), each of type bin.
 */
function sessionMsgpack({ session_id, traces, summary }: FinishedSession): Uint8Array {
  return Uint8Array.from(packr.pack({ session_id, traces: traces.map(traceForm), summary }));
}

function traceForm(trace: TraceRecord): Readonly<Record<string, unknown>> {
  return {
    ...trace,
    token_ids: bytesOf(trace.token_ids),
    loss_mask: bytesOf(trace.loss_mask),
    logprobs: bytesOf(trace.logprobs),
    metadata: nativeForm(trace.metadata),
    ...(trace.messages === undefined ? {} : { messages: trace.messages.map(traceMessage) }),
    ...(trace.tools === undefined
      ? {}
      : {
          tools: trace.tools.map((tool) => (tool.parameters === undefined ? tool : { ...tool, parameters: nativeForm(tool.parameters) })),
        }),
  };
}

/** The machines that the program runs on are little-endian, as the format is. */
const bytesOf = (array: Int32Array | Uint8Array | Float32Array): Buffer => Buffer.from(array.buffer, array.byteOffset, array.byteLength);

/** Floats lose their mark: msgpack has no way to keep `1.0` apart that all readers know. */
function nativeForm(value: JsonValue): unknown {
  if (value instanceof JsonFloat) return value.value;
  if (Array.isArray(value)) return value.map(nativeForm);
  if (value instanceof Map) return new Map([...(value as ReadonlyMap<string, JsonValue>)].map(([name, item]) => [name, nativeForm(item)]));
  return value;
}

interface TraceForm extends Omit<TraceRecord, 'token_ids' | 'loss_mask' | 'logprobs'> {
  readonly token_ids: Uint8Array;
  readonly loss_mask: Uint8Array;
  readonly logprobs: Uint8Array;
}

const unpackr = new Packr({ useRecords: false, mapsAsObjects: true, int64AsType: 'bigint' });

/** The msgpack form read back: arrays are typed again and own their memory; metadata, messages and tools are plain values. */
export function decodeSession(bytes: Uint8Array): FinishedSession {
  const session = unpackr.unpack(bytes) as Omit<FinishedSession, 'traces'> & { readonly traces: readonly TraceForm[] };
  return {
    ...session,
    traces: session.traces.map((trace) => ({
      ...trace,
      token_ids: new Int32Array(trace.token_ids.slice().buffer),
      loss_mask: new Uint8Array(trace.loss_mask.slice().buffer),
      logprobs: new Float32Array(trace.logprobs.slice().buffer),
    })),
  };
}
