import { Packr } from 'msgpackr';
import { JsonFloat, type JsonObject, type JsonValue } from '../canonical/json-value.js';
import type { Message } from '../canonical/message.js';
import type { TraceRecord } from '../canonical/trace.js';
import { parseMessages } from '../protocols/openai-chat/messages.js';
import type { TraceEncoding } from '../trainer/calls.js';
import { type FinishedSession, type LostState, sessionJson, sessionLines, traceMessage } from '../trainer/trace-encoding.js';

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
function sessionMsgpack({ traces, ...rest }: FinishedSession): Uint8Array {
  return Uint8Array.from(packr.pack(nativeForm({ ...rest, traces: traces.map(traceForm) })));
}

const traceForm = (trace: TraceRecord): object => ({
  ...trace,
  token_ids: bytesOf(trace.token_ids),
  loss_mask: bytesOf(trace.loss_mask),
  logprobs: bytesOf(trace.logprobs),
  ...(trace.messages === undefined ? {} : { messages: trace.messages.map(traceMessage) }),
});

/** The machines that the program runs on are little-endian, as the format is. */
const bytesOf = (array: Int32Array | Uint8Array | Float32Array): Buffer => Buffer.from(array.buffer, array.byteOffset, array.byteLength);

/**
 * What the packer takes for the same value. Floats lose their mark, since no reader would see it; halves of surrogate
 * pairs become U+FFFD, since a text in msgpack is UTF-8 and readers refuse anything else.
 */
function nativeForm(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value;
  if (value instanceof JsonFloat) return value.value;
  if (Array.isArray(value)) return value.map(nativeForm);
  const members = value instanceof Map ? [...(value as ReadonlyMap<string, unknown>)] : Object.entries(value);
  return new Map(members.map(([name, item]) => [name.toWellFormed(), nativeForm(item)]));
}

const unpackr = new Packr({ useRecords: false, mapsAsObjects: false });

/** The msgpack form read back: the record as it was, every array owning its memory, floats without their mark. */
export function decodeSession(bytes: Uint8Array): FinishedSession {
  const session = unpackr.unpack(bytes) as ReadonlyMap<string, unknown>;
  return {
    session_id: session.get('session_id') as string,
    traces: (session.get('traces') as readonly ReadonlyMap<string, unknown>[]).map(decodeTrace),
    summary: plainForm(session.get('summary')) as FinishedSession['summary'],
    ...(session.has('failed') ? { failed: plainForm(session.get('failed')) as LostState } : {}),
  };
}

function decodeTrace(trace: ReadonlyMap<string, unknown>): TraceRecord {
  const members = [...trace].map(([name, value]) => [name, decodeMember(name, value)]);
  return Object.fromEntries(members) as unknown as TraceRecord;
}

function decodeMember(name: string, value: unknown): unknown {
  switch (name) {
    case 'token_ids':
      return new Int32Array(ownBytes(value).buffer);
    case 'loss_mask':
      return ownBytes(value);
    case 'logprobs':
      return new Float32Array(ownBytes(value).buffer);
    case 'metadata':
      return value;
    case 'messages':
      return (value as readonly JsonObject[]).length === 0
        ? []
        : parseMessages(value as JsonValue).map((message, i) => withError(message, (value as readonly JsonObject[])[i]!));
    case 'tools':
      return (value as readonly JsonObject[]).map((tool) => Object.fromEntries(tool));
    default:
      return plainForm(value);
  }
}

/** Chat, in whose spelling messages travel, has no flag for a failed tool. */
const withError = (message: Message, form: JsonObject): Message =>
  message.role === 'tool' ? { ...message, isError: form.has('is_error') } : message;

const ownBytes = (value: unknown): Uint8Array<ArrayBuffer> => Uint8Array.from(value as Uint8Array);

function plainForm(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainForm);
  return value instanceof Map
    ? Object.fromEntries([...(value as ReadonlyMap<string, unknown>)].map(([name, item]) => [name, plainForm(item)]))
    : value;
}
