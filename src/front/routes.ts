import type { ProtocolName } from '../canonical/turn.js';

/** Who a route is for; it decides what a refusal looks like. */
export type Audience = 'agent' | 'trainer' | 'probe';
/** The shape of an error: a protocol's own, or `{"error": {"code", "message"}}`. */
export type Dialect = ProtocolName | 'trainer';

export type RouteName =
  | 'chat_completions'
  | 'messages'
  | 'count_tokens'
  | 'models'
  | 'model'
  | 'root'
  | 'healthz'
  | 'readyz'
  | 'metrics'
  | 'engines'
  | 'pause_engines'
  | 'resume_engines'
  | 'add_engine'
  | 'remove_engine'
  | 'create_session'
  | 'list_sessions'
  | 'get_session'
  | 'session_tree'
  | 'finish_session'
  | 'delete_session'
  | 'lease_traces'
  | 'ack_traces'
  | 'crash_shard';

export interface Route {
  readonly name: RouteName;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `{id}` is one percent-encoded segment, `{id...}` may hold slashes. */
  readonly path: string;
  readonly audience: Audience;
  /** One sentence for the README's table. */
  readonly meaning: string;
  /** Left out of tables: only for tests. */
  readonly hidden?: true;
}

/** Every route, once, in the order of the README's table. */
export const ROUTES: readonly Route[] = [
  {
    name: 'chat_completions',
    method: 'POST',
    path: '/v1/chat/completions',
    audience: 'agent',
    meaning: 'A turn in OpenAI’s Chat dialect, streamed or not.',
  },
  {
    name: 'messages',
    method: 'POST',
    path: '/v1/messages',
    audience: 'agent',
    meaning: 'A turn in Anthropic’s Messages dialect, streamed or not.',
  },
  {
    name: 'count_tokens',
    method: 'POST',
    path: '/v1/messages/count_tokens',
    audience: 'agent',
    meaning: 'Tokens of the prompt that the same body would give; opens no turn.',
  },
  { name: 'models', method: 'GET', path: '/v1/models', audience: 'agent', meaning: 'The served model with its context length.' },
  { name: 'model', method: 'GET', path: '/v1/models/{id...}', audience: 'agent', meaning: 'The same for one name; another name is 404.' },
  {
    name: 'create_session',
    method: 'POST',
    path: '/sessions',
    audience: 'trainer',
    meaning: 'Opens a session and answers its id, key and base URLs.',
  },
  {
    name: 'list_sessions',
    method: 'GET',
    path: '/sessions',
    audience: 'trainer',
    meaning: 'Sessions with state and counters, in pages (`cursor`, `limit`).',
  },
  { name: 'get_session', method: 'GET', path: '/sessions/{id}', audience: 'trainer', meaning: 'State and counters of one session.' },
  {
    name: 'session_tree',
    method: 'GET',
    path: '/sessions/{id}/tree',
    audience: 'trainer',
    meaning: 'The session’s message tree, `?format=text` for a terminal.',
  },
  {
    name: 'finish_session',
    method: 'POST',
    path: '/sessions/{id}/finish',
    audience: 'trainer',
    meaning: 'Ends the session and answers its rows.',
  },
  { name: 'delete_session', method: 'DELETE', path: '/sessions/{id}', audience: 'trainer', meaning: 'Drops the session and its rows.' },
  {
    name: 'lease_traces',
    method: 'GET',
    path: '/traces',
    audience: 'trainer',
    meaning: 'Leases finished sessions with their rows (`wait_ms`, `max`, `include`).',
  },
  {
    name: 'ack_traces',
    method: 'POST',
    path: '/traces/ack',
    audience: 'trainer',
    meaning: 'Acknowledges a lease or sessions; their rows are dropped.',
  },
  {
    name: 'engines',
    method: 'GET',
    path: '/engines',
    audience: 'trainer',
    meaning: 'Every replica with state, weights and queue; running turns by their oldest weights.',
  },
  {
    name: 'pause_engines',
    method: 'POST',
    path: '/engines/pause',
    audience: 'trainer',
    meaning: 'Sends no turn until `resume`; turns wait with heartbeats (`mode`, `wait_ms`).',
  },
  {
    name: 'resume_engines',
    method: 'POST',
    path: '/engines/resume',
    audience: 'trainer',
    meaning: 'Sends again; `weight_version` names the weights.',
  },
  { name: 'add_engine', method: 'POST', path: '/engines', audience: 'trainer', meaning: 'Adds a replica (`url`).' },
  {
    name: 'remove_engine',
    method: 'DELETE',
    path: '/engines',
    audience: 'trainer',
    meaning: 'Removes a replica (`url`, `wait_ms`) once its calls have ended.',
  },
  { name: 'healthz', method: 'GET', path: '/healthz', audience: 'probe', meaning: '200 while the process lives.' },
  { name: 'readyz', method: 'GET', path: '/readyz', audience: 'probe', meaning: '200 when turns can be served, else 503 with the reason.' },
  {
    name: 'metrics',
    method: 'GET',
    path: '/metrics',
    audience: 'probe',
    meaning: 'Prometheus metrics of all threads; needs the admin token off loopback.',
  },
  { name: 'root', method: 'GET', path: '/', audience: 'probe', meaning: '200 and nothing else.' },
  { name: 'crash_shard', method: 'POST', path: '/test/shards/{id}/crash', audience: 'trainer', meaning: 'Plants a fault.', hidden: true },
];

export type Match =
  | { readonly kind: 'route'; readonly route: Route /** The decoded `{id}`, `''` without one. */; readonly id: string }
  | { readonly kind: 'wrong_method'; readonly allow: string; readonly audience: Audience }
  | { readonly kind: 'bad_id' }
  | { readonly kind: 'not_found' };

const isFixed = ({ path }: Route): boolean => !path.includes('{');
const FIXED = new Map<string, readonly Route[]>();
for (const route of ROUTES.filter(isFixed)) FIXED.set(route.path, [...(FIXED.get(route.path) ?? []), route]);
const PATTERNS = ROUTES.filter((route) => !isFixed(route)).map((route) => {
  const [before, after] = route.path.split(/\{id(?:\.\.\.)?\}/) as [string, string];
  return { route, before, after, isDeep: route.path.includes('...') };
});

/** Finds the route of a plain path. Ids are decoded after matching, so an encoded slash or dot is never part of a path. */
export const matchRoute = (method: string, path: string): Match => {
  const fixed = FIXED.get(path);
  if (fixed !== undefined) return chosen(method, fixed, '');
  const fitting = PATTERNS.filter(({ before, after, isDeep }) => {
    if (!path.startsWith(before) || !path.endsWith(after) || path.length <= before.length + after.length) return false;
    return isDeep || !path.slice(before.length, path.length - after.length).includes('/');
  });
  const first = fitting[0];
  if (first === undefined) return { kind: 'not_found' };
  try {
    const id = decodeURIComponent(path.slice(first.before.length, path.length - first.after.length));
    return chosen(
      method,
      fitting.map(({ route }) => route),
      id,
    );
  } catch {
    return { kind: 'bad_id' };
  }
};

const chosen = (method: string, routes: readonly Route[], id: string): Match => {
  const route = routes.find((candidate) => candidate.method === method);
  if (route !== undefined) return { kind: 'route', route, id };
  const methods = routes.flatMap((candidate) => (candidate.method === 'GET' ? ['GET', 'HEAD'] : [candidate.method]));
  return { kind: 'wrong_method', allow: methods.join(', '), audience: routes[0]!.audience };
};
