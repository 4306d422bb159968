import { GatewayError } from '../errors.js';
import { AckBody, CreateBody, FinishBody, metadataText, readBody, readSampling } from './bodies.js';
import type { TrainerCall } from './calls.js';
import { acceptedEncoding, queryInclude, queryInteger, readQuery } from './query.js';
import { checkSessionId } from './session-id.js';

export type TrainerRouteName =
  | 'create_session'
  | 'list_sessions'
  | 'get_session'
  | 'session_tree'
  | 'finish_session'
  | 'delete_session'
  | 'lease_traces'
  | 'ack_traces';

/** Everything of a request that a call is read from. */
export interface TrainerHttp {
  readonly query: string;
  readonly accept: string;
  readonly body: Uint8Array;
}

export interface TrainerDefaults {
  /** Nesting of a body. */
  readonly jsonDepth: number;
  readonly finishWaitMs: number;
  readonly leaseMs: number;
  readonly nowMs: () => number;
  /** Unique names for sessions and leases that were not given one. */
  readonly newId: () => string;
}

export interface TrainerRequest {
  readonly call: TrainerCall;
  /** How long a scrape waits for the first finished session; 0 for every other call. */
  readonly waitMs: number;
}

const MAX_LEASED_SESSIONS = 10_000;
const DEFAULT_LEASED_SESSIONS = 100;
const MAX_LISTED = 1000;
const MAX_WAIT_MS = 3_600_000;

/**
 * Reads a trainer's call.
 * @param sessionId decoded from the path, `''` where the route has none
 * @throws GatewayError naming the field or parameter that is wrong
 */
export function readTrainerRequest(
  route: TrainerRouteName,
  sessionId: string,
  http: TrainerHttp,
  defaults: TrainerDefaults,
): TrainerRequest {
  if (sessionId !== '') requireSessionId(sessionId);
  switch (route) {
    case 'create_session':
      return once(readCreate(http, defaults));
    case 'list_sessions': {
      const query = readQuery(http.query, ['cursor', 'limit']);
      return once({ kind: 'list', after: query.get('cursor') ?? null, limit: queryInteger(query, 'limit', 100, 1, MAX_LISTED) });
    }
    case 'get_session':
      readQuery(http.query, []);
      return once({ kind: 'get', sessionId });
    case 'session_tree':
      return once({ kind: 'tree', sessionId, ...readTree(http) });
    case 'finish_session':
      return once(readFinish(sessionId, http, defaults));
    case 'delete_session':
      readQuery(http.query, []);
      return once({ kind: 'delete', sessionId });
    case 'lease_traces': {
      const query = readQuery(http.query, ['wait_ms', 'max', 'include']);
      const call: TrainerCall = {
        kind: 'lease',
        leaseId: defaults.newId(),
        expiresAtMs: defaults.nowMs() + defaults.leaseMs,
        max: queryInteger(query, 'max', DEFAULT_LEASED_SESSIONS, 1, MAX_LEASED_SESSIONS),
        include: queryInclude(query.get('include')),
        encoding: acceptedEncoding(http.accept),
      };
      return { call, waitMs: queryInteger(query, 'wait_ms', 0, 0, MAX_WAIT_MS) };
    }
    case 'ack_traces': {
      const { body } = readBody(AckBody, http.body, defaults.jsonDepth);
      return once({ kind: 'ack', leaseId: body.lease_id ?? null, sessionIds: body.session_ids ?? [] });
    }
  }
}

function requireSessionId(id: string): void {
  const wrong = checkSessionId(id);
  if (wrong !== null) throw new GatewayError(wrong.code, wrong.message);
}

const once = (call: TrainerCall): TrainerRequest => ({ call, waitMs: 0 });

function readCreate(http: TrainerHttp, defaults: TrainerDefaults): TrainerCall {
  const { json, body } = readBody(CreateBody, http.body, defaults.jsonDepth);
  const sessionId = body.session_id ?? defaults.newId();
  requireSessionId(sessionId);
  return {
    kind: 'create',
    session: {
      sessionId,
      sampling: readSampling(json),
      history: body.history ?? null,
      tokenIdsOnWire: body.wire?.token_ids ?? false,
      metadata: metadataText(json),
      maxTurns: body.max_turns ?? null,
      maxContextTokens: body.max_context_tokens ?? null,
      rolloutId: body.rollout_id ?? null,
      groupId: body.group_id ?? null,
      sampleIndex: body.sample_index ?? null,
    },
  };
}

/** A reward of `null` is said, and is not the same as none; every other `null` is. */
function readFinish(sessionId: string, http: TrainerHttp, defaults: TrainerDefaults): TrainerCall {
  const query = readQuery(http.query, ['include']);
  const { json, body } = readBody(FinishBody, http.body, defaults.jsonDepth);
  return {
    kind: 'finish',
    sessionId,
    finish: {
      ...(body.reward === undefined ? {} : { reward: body.reward }),
      ...(body.reward_components == null ? {} : { rewardComponents: body.reward_components }),
      ...(body.row_rewards == null ? {} : { rowRewards: body.row_rewards }),
      ...(body.turn_rewards == null ? {} : { turnRewards: body.turn_rewards }),
      ...(body.status == null ? {} : { status: body.status }),
      ...(body.stop_reason == null ? {} : { stopReason: body.stop_reason }),
      ...(body.error == null ? {} : { error: body.error }),
      metadata: metadataText(json),
      waitMs: body.wait_ms ?? defaults.finishWaitMs,
      include: body.include ?? queryInclude(query.get('include')),
      ack: body.ack ?? false,
      encoding: acceptedEncoding(http.accept),
    },
  };
}

function readTree(http: TrainerHttp): { readonly format: 'json' | 'text'; readonly colour: boolean } {
  const query = readQuery(http.query, ['format', 'colour']);
  const format = query.get('format') ?? (http.accept.toLowerCase().startsWith('text/plain') ? 'text' : 'json');
  const colour = query.get('colour') ?? 'false';
  if (format !== 'json' && format !== 'text')
    throw new GatewayError('invalid_request', `query parameter \`format\` must be json or text, got "${format.slice(0, 80)}"`);
  if (colour !== 'true' && colour !== 'false')
    throw new GatewayError('invalid_request', `query parameter \`colour\` must be true or false, got "${colour.slice(0, 80)}"`);
  return { format, colour: colour === 'true' };
}
