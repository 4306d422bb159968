import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/errors.js';
import { acceptedEncoding } from '../../src/trainer/query.js';
import { readTrainerRequest, type TrainerDefaults, type TrainerRouteName } from '../../src/trainer/trainer-request.js';

const defaults: TrainerDefaults = { jsonDepth: 64, finishWaitMs: 5000, leaseMs: 300_000, nowMs: () => 1000, newId: () => 'new-id' };

const read = (route: TrainerRouteName, { id = '', query = '', accept = '*/*', body = '' } = {}): ReturnType<typeof readTrainerRequest> =>
  readTrainerRequest(route, id, { query, accept, body: new TextEncoder().encode(body) }, defaults);

const refusal = (run: () => unknown): GatewayError => {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};

describe('create', () => {
  it('takes everything, metadata and numbers as they came', () => {
    const body = `{"session_id":"s/1","sampling":{"temperature":0.5,"top_k":0,"stop":"END"},"history":"verbatim","wire":{"token_ids":true},
      "metadata":{"2":1.0,"1":12345678901234567890},"max_turns":3,"max_context_tokens":4096,"rollout_id":"r","group_id":7,"sample_index":0}`;
    expect(read('create_session', { body }).call).toStrictEqual({
      kind: 'create',
      session: {
        sessionId: 's/1',
        sampling: { temperature: 0.5, topK: -1, stop: ['END'] },
        history: 'verbatim',
        tokenIdsOnWire: true,
        metadata: '{"2":1.0,"1":12345678901234567890}',
        maxTurns: 3,
        maxContextTokens: 4096,
        rolloutId: 'r',
        groupId: '7',
        sampleIndex: 0,
      },
    });
  });

  it('needs nothing', () => {
    const session = {
      sessionId: 'new-id',
      sampling: {},
      history: null,
      tokenIdsOnWire: false,
      metadata: '{}',
      maxTurns: null,
      maxContextTokens: null,
      rolloutId: null,
      groupId: null,
      sampleIndex: null,
    };
    for (const body of ['', '{}', '{"session_id":null,"metadata":null,"sampling":null,"history":null,"wire":null}']) {
      expect(read('create_session', { body }).call).toStrictEqual({ kind: 'create', session });
    }
  });

  it.each([
    ['{"session_id":""}', 'invalid_session_id', /0 bytes/],
    ['{"session_id":"a\\nb"}', 'invalid_session_id', /control/],
    [`{"session_id":"${'é'.repeat(2049)}"}`, 'invalid_session_id', /4098 bytes/],
    ['{"session_id":1}', 'invalid_request', /session_id/],
    ['{"sessionid":"x"}', 'invalid_request', /sessionid/],
    ['{"sampling":{"temperature":-1}}', 'invalid_request', /temperature/],
    ['{"sampling":{"n":2}}', 'invalid_request', /sampling\.n/],
    ['{"sampling":{"stop":[""]}}', 'invalid_request', /stop/],
    ['{"sampling":[]}', 'invalid_request', /sampling/],
    ['{"history":"always"}', 'invalid_request', /history/],
    ['{"wire":{"ids":true}}', 'invalid_request', /wire/],
    ['{"metadata":[1]}', 'invalid_request', /metadata/],
    ['{"max_turns":0}', 'invalid_request', /max_turns/],
    ['{"max_turns":1.5}', 'invalid_request', /max_turns/],
    ['[]', 'invalid_json', /object/],
    ['{"a":', 'invalid_json', /position 5/],
    ['{"metadata":NaN}', 'invalid_json', /NaN/],
  ])('refuses %s', (body, code, message) => {
    const error = refusal(() => read('create_session', { body }));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });
});

describe('finish', () => {
  it('takes everything', () => {
    const body = `{"reward":1,"reward_components":{"a":0.5,"b":{"value":1,"weight":2}},"row_rewards":[null,1],"turn_rewards":{"t":0.1},"status":"failed",
      "stop_reason":"timeout","error":"boom","metadata":{"k":1.0},"wait_ms":0,"include":["messages","segments"],"ack":true}`;
    expect(read('finish_session', { id: 's', body, accept: 'application/msgpack' }).call).toStrictEqual({
      kind: 'finish',
      sessionId: 's',
      finish: {
        reward: 1,
        rewardComponents: { a: 0.5, b: { value: 1, weight: 2 } },
        rowRewards: [null, 1],
        turnRewards: { t: 0.1 },
        status: 'failed',
        stopReason: 'timeout',
        error: 'boom',
        metadata: '{"k":1.0}',
        waitMs: 0,
        include: ['messages', 'segments'],
        ack: true,
        encoding: 'msgpack',
      },
    });
  });

  it('keeps a reward of null apart from none', () => {
    const rest = { metadata: '{}', waitMs: 5000, include: [], ack: false, encoding: 'json' };
    expect(read('finish_session', { id: 's' }).call).toStrictEqual({ kind: 'finish', sessionId: 's', finish: rest });
    expect(read('finish_session', { id: 's', body: '{"reward":null}' }).call).toMatchObject({ finish: { ...rest, reward: null } });
  });

  it.each([
    ['{"rewards":1}', /rewards/],
    ['{"reward":"1"}', /reward/],
    ['{"reward":1e400}', /reward/],
    ['{"row_rewards":{"0":1}}', /row_rewards/],
    ['{"turn_rewards":{"t":null}}', /turn_rewards\.t/],
    ['{"reward_components":{"a":{"value":1}}}', /reward_components\.a/],
    ['{"status":"done"}', /status/],
    ['{"wait_ms":-1}', /wait_ms/],
    ['{"include":["tokens"]}', /include\[0\]/],
    ['{"ack":"yes"}', /ack/],
  ])('refuses %s', (body, message) => {
    const error = refusal(() => read('finish_session', { id: 's', body }));
    expect(error.code).toBe('invalid_request');
    expect(error.message).toMatch(message);
  });
});

describe('scrape and acknowledgement', () => {
  it('leases with a name and a time of its own', () => {
    expect(read('lease_traces', { query: 'wait_ms=250&max=3&include=messages,segments', accept: 'application/x-ndjson' })).toStrictEqual({
      call: { kind: 'lease', leaseId: 'new-id', expiresAtMs: 301_000, max: 3, include: ['messages', 'segments'], encoding: 'ndjson' },
      waitMs: 250,
    });
    expect(read('lease_traces')).toMatchObject({ call: { max: 100, include: [], encoding: 'json' }, waitMs: 0 });
  });

  it('acknowledges a lease or sessions', () => {
    expect(read('ack_traces', { body: '{"lease_id":"l"}' }).call).toStrictEqual({ kind: 'ack', leaseId: 'l', sessionIds: [] });
    expect(read('ack_traces', { body: '{"session_ids":["a"]}' }).call).toStrictEqual({ kind: 'ack', leaseId: null, sessionIds: ['a'] });
  });

  it.each([
    ['lease_traces', { query: 'max=0' }, /`max`/],
    ['lease_traces', { query: 'wait_ms=1.5' }, /`wait_ms`/],
    ['lease_traces', { query: 'include=everything' }, /`include`/],
    ['lease_traces', { query: 'wait=1' }, /`wait`.*wait_ms/],
    ['list_sessions', { query: 'limit=1001' }, /1000/],
    ['session_tree', { id: 's', query: 'format=svg' }, /format/],
    ['session_tree', { id: 's', query: 'colour=red' }, /colour/],
    ['get_session', { id: 's', query: 'x=1' }, /no parameters/],
    ['ack_traces', { body: '{}' }, /one of them/],
    ['ack_traces', { body: '{"lease_id":"l","session_ids":[]}' }, /one of them/],
  ] as const)('refuses %s %j', (route, http, message) => {
    const error = refusal(() => read(route, http));
    expect(error.code).toBe('invalid_request');
    expect(error.message).toMatch(message);
  });
});

describe('the sentence of a refusal', () => {
  it.each([
    ['create_session', '{"sesion_id":"a"}', /^unknown field `sesion_id`; known are session_id, sampling, .*metadata/],
    ['create_session', '{"wire":{"ids":true}}', /^`wire`: unknown field `ids`; known are token_ids$/],
    ['create_session', '{"history":"always"}', /^`history` must be "auto" or "verbatim" or "rerender", got "always"$/],
    ['create_session', '{"max_turns":0}', /^`max_turns` must be at least 1, got 0$/],
    ['create_session', '{"group_id":[]}', /^`group_id` must be a string or a whole number, got \[\]$/],
    ['finish_session', '{"reward":"high"}', /^`reward` must be a number, got "high"$/],
    ['finish_session', '{"row_rewards":[1,"x"]}', /^`row_rewards\[1\]` must be a number, got "x"$/],
    [
      'finish_session',
      '{"reward_components":{"a":{"value":1}}}',
      /^`reward_components\.a` must be a number or \{"value": number, "weight": number\}, got/,
    ],
    ['finish_session', '{"wait_ms":1.5}', /^`wait_ms` must be a whole number, got 1.5$/],
    ['ack_traces', '{"lease_id":""}', /^`lease_id` must be not empty, got ""$/],
  ] as const)('%s %s', (route, body, sentence) => {
    expect(refusal(() => read(route, { id: route === 'finish_session' ? 's' : '', body })).message).toMatch(sentence);
  });
});

describe('calls on one session', () => {
  it('reads them', () => {
    expect(read('list_sessions').call).toStrictEqual({ kind: 'list', after: null, limit: 100 });
    expect(read('list_sessions', { query: 'cursor=a%2Fb&limit=5' }).call).toStrictEqual({ kind: 'list', after: 'a/b', limit: 5 });
    expect(read('get_session', { id: 'é/0' }).call).toStrictEqual({ kind: 'get', sessionId: 'é/0' });
    expect(read('delete_session', { id: 's' }).call).toStrictEqual({ kind: 'delete', sessionId: 's' });
    expect(read('session_tree', { id: 's' }).call).toStrictEqual({ kind: 'tree', sessionId: 's', format: 'json', colour: false });
    expect(read('session_tree', { id: 's', query: 'format=text&colour=true' }).call).toMatchObject({ format: 'text', colour: true });
    expect(read('session_tree', { id: 's', accept: 'text/plain' }).call).toMatchObject({ format: 'text' });
  });

  it('refuses ids that cannot be', () => {
    expect(refusal(() => read('get_session', { id: 'a\u0000' })).code).toBe('invalid_session_id');
  });
});

describe('acceptedEncoding', () => {
  it.each([
    ['', 'json'],
    ['*/*', 'json'],
    ['text/html', 'json'],
    ['application/json', 'json'],
    ['application/msgpack', 'msgpack'],
    ['application/x-msgpack;q=0.9, application/json;q=0.5', 'msgpack'],
    ['application/json;q=0.5, Application/X-NDJSON', 'ndjson'],
    ['application/msgpack;q=0, application/json', 'json'],
    ['application/x-ndjson, application/msgpack', 'ndjson'],
  ])('%s is %s', (accept, encoding) => {
    expect(acceptedEncoding(accept)).toBe(encoding);
  });
});
