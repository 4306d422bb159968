import { Unpackr } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/canonical/json-value.js';
import { decodeSession, encodeSession } from '../../src/shard/trace-msgpack.js';
import { joinFinish, joinLease } from '../../src/trainer/join.js';
import { traceMessage } from '../../src/trainer/trace-encoding.js';
import { finishedSession, traceRecord } from './trace-record.js';

const text = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes);
const unpack = (bytes: Uint8Array): unknown =>
  new Unpackr({ useRecords: false, mapsAsObjects: true, int64AsType: 'number' }).unpack(Buffer.from(bytes));
type Traces = { readonly traces: readonly Readonly<Record<string, unknown>>[] };

const full = traceRecord({
  segments: [{ start: 0, end: 5, kind: 'prompt' }],
  messages: [
    { role: 'system', content: 's' },
    { role: 'user', content: 'u' },
    {
      role: 'assistant',
      content: null,
      reasoning: 'r',
      toolCalls: [{ id: 'c', name: 'f', arguments: '{"a": 1}', value: new Map([['a', 1]]) }],
    },
    { role: 'tool', content: 'x', toolCallId: 'c', name: null, isError: true },
  ],
  tools: [
    { name: 'f', parameters: new Map([['b', 1]]) },
    { name: 'g', description: 'd' },
  ],
});

describe('JSON', () => {
  const body = text(joinFinish('json', encodeSession(finishedSession([full]), 'json')).body);

  it('prints arrays as numbers, float32 widened, unknown logprobs as null', () => {
    const [trace] = (JSON.parse(body) as Traces).traces;
    expect(trace?.token_ids).toStrictEqual([1, 2, 3, 4, 500_000]);
    expect(trace?.loss_mask).toStrictEqual([1, 1]);
    expect(trace?.logprobs).toStrictEqual([Math.fround(-0.1), null]);
    expect(trace?.reward).toBe(null);
    expect(trace?.response).toBe('hé\ud800');
  });

  it('keeps the spelling of metadata and stays JSON for every reader', () => {
    expect(body).toContain('"metadata":{"2":1.0,"1":12345678901234567890,"x":{"y":[null,true]},"huge":1e400}');
  });

  it('gives messages in Chat’s spelling and tools as they came', () => {
    const [trace] = (JSON.parse(body) as Traces).traces;
    expect(trace?.messages).toStrictEqual([
      { role: 'system', content: 's' },
      { role: 'user', content: 'u' },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'r',
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a": 1}' } }],
      },
      { role: 'tool', content: 'x', tool_call_id: 'c', is_error: true },
    ]);
    expect(trace?.tools).toStrictEqual([
      { name: 'f', parameters: { b: 1 } },
      { name: 'g', description: 'd' },
    ]);
    expect(trace?.segments).toStrictEqual([{ start: 0, end: 5, kind: 'prompt' }]);
  });

  it('leaves out what was not asked for', () => {
    const [trace] = (JSON.parse(text(encodeSession(finishedSession(), 'json'))) as Traces).traces;
    expect(Object.keys(trace ?? {})).not.toContain('messages');
    expect(Object.keys(trace ?? {})).not.toContain('segments');
  });

  it('joins a lease', () => {
    const piece = encodeSession(finishedSession(), 'json');
    const { headers, body: joined } = joinLease('json', { leaseId: 'l', expiresAtMs: 1500 }, [piece, piece]);
    expect(headers).toContainEqual(['content-type', 'application/json']);
    expect(JSON.parse(text(joined))).toMatchObject({
      lease_id: 'l',
      expires_at: 1.5,
      sessions: [{ session_id: 's "1"' }, { session_id: 's "1"' }],
    });
    expect(JSON.parse(text(joinLease('json', null, []).body))).toStrictEqual({ lease_id: null, expires_at: null, sessions: [] });
  });
});

describe('NDJSON', () => {
  it('is one trace a line, the lease in headers', () => {
    const two = encodeSession(finishedSession([traceRecord(), traceRecord({ row_index: 1 })]), 'ndjson');
    const { headers, body } = joinLease('ndjson', { leaseId: 'l', expiresAtMs: 1500 }, [
      two,
      encodeSession(finishedSession([]), 'ndjson'),
      two,
    ]);
    const lines = text(body).split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => (JSON.parse(line) as { row_index: number }).row_index)).toStrictEqual([0, 1, 0, 1]);
    expect(headers).toStrictEqual([
      ['content-type', 'application/x-ndjson'],
      ['x-lease-id', 'l'],
      ['x-lease-expires-at', '1.5'],
    ]);
    expect(joinLease('ndjson', null, []).headers).toHaveLength(1);
  });
});

describe('msgpack', () => {
  it('has arrays as little-endian bytes and the rest as JSON has it', () => {
    const session = unpack(joinFinish('msgpack', encodeSession(finishedSession([full]), 'msgpack')).body) as Traces;
    const [trace] = session.traces;
    const bytes = (name: string): Buffer => trace?.[name] as Buffer;
    expect([0, 4, 8, 12, 16].map((at) => bytes('token_ids').readInt32LE(at))).toStrictEqual([1, 2, 3, 4, 500_000]);
    expect([...bytes('loss_mask')]).toStrictEqual([1, 1]);
    expect(bytes('logprobs').readFloatLE(0)).toBe(Math.fround(-0.1));
    expect(bytes('logprobs').readFloatLE(4)).toBeNaN();
    const json = JSON.parse(text(encodeSession(finishedSession([full]), 'json'))) as Traces;
    const rest = (value: Readonly<Record<string, unknown>> | undefined): unknown => {
      const { token_ids, loss_mask, logprobs, response, ...others } = value ?? {};
      return others;
    };
    expect(rest(trace)).toStrictEqual(rest(json.traces[0]));
    expect((session as unknown as { summary: unknown }).summary).toStrictEqual((json as unknown as { summary: unknown }).summary);
  });

  it('is read back as the record it was', () => {
    const metadata = new Map<string, JsonValue>([
      ['2', 0.5],
      ['1', new Map([['x', [null, true, 'é']]])],
      ['big', 12345678901234567890n],
    ]);
    const session = finishedSession([{ ...full, response: 'hé', metadata }, traceRecord({ response: '', metadata: new Map() })]);
    const back = decodeSession(encodeSession(session, 'msgpack'));
    expect(back).toStrictEqual(session);
    expect([...back.traces[0]!.metadata.keys()]).toStrictEqual(['2', '1', 'big']);
    expect(back.traces[0]!.token_ids.buffer.byteLength).toBe(20);
  });

  it('writes text as UTF-8 alone, which readers insist on', () => {
    const metadata = new Map([['\udc00', '\ud800']]);
    const long = { role: 'user' as const, content: `\ud800${'x'.repeat(100)}` };
    const bytes = encodeSession(finishedSession([traceRecord({ metadata, messages: [long] })]), 'msgpack');
    for (const lead of [0xa0, 0xb0]) expect(Buffer.from(bytes).includes(Buffer.of(0xed, lead, 0x80))).toBe(false);
    const [trace] = (unpack(bytes) as Traces).traces;
    expect(trace).toMatchObject({
      response: 'hé\ufffd',
      metadata: { '\ufffd': '\ufffd' },
      messages: [{ content: `\ufffd${'x'.repeat(100)}` }],
    });
  });

  it('joins a lease that any reader takes, with many sessions and a long name', () => {
    const piece = encodeSession(finishedSession(), 'msgpack');
    const leaseId = 'l'.repeat(300);
    const lease = unpack(joinLease('msgpack', { leaseId, expiresAtMs: 1500 }, Array<Uint8Array>(70).fill(piece)).body) as {
      sessions: readonly Traces[];
    };
    expect(lease).toMatchObject({ lease_id: leaseId, expires_at: 1.5 });
    expect(lease.sessions).toHaveLength(70);
    expect(lease.sessions[69]).toStrictEqual(unpack(piece));
    expect(unpack(joinLease('msgpack', null, []).body)).toStrictEqual({ lease_id: null, expires_at: null, sessions: [] });
  });
});

describe('traceMessage', () => {
  it('leaves out members that say nothing', () => {
    expect(traceMessage({ role: 'assistant', content: 'a', reasoning: null, toolCalls: [] })).toStrictEqual({
      role: 'assistant',
      content: 'a',
    });
    expect(traceMessage({ role: 'tool', content: 'a', toolCallId: null, name: 'n', isError: false })).toStrictEqual({
      role: 'tool',
      content: 'a',
      name: 'n',
    });
  });
});
