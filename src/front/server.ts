/** Thread 0: HTTP in, bytes to the shards, answers out. It parses no message body and never blocks. */

import { randomBytes } from 'node:crypto';
import type { Settings } from '../config.js';
import type { Secrets } from '../config-load.js';
import { GatewayError } from '../errors.js';
import type { ShardLink } from '../shard/shard-link.js';
import { errorFields, type Log } from '../telemetry/log.js';
import type { Metrics } from '../telemetry/metrics.js';
import { adminGate } from './admin-gate.js';
import { runAgentCall } from './agent-call.js';
import { BodyBudget } from './body.js';
import { runEngineCall } from './engine-routes.js';
import { Exchange } from './exchange.js';
import type { Call, Front } from './front.js';
import { answerModels } from './models.js';
import { plantFault } from './planted-fault.js';
import { answerHealth, answerMetrics, answerReady } from './probes.js';
import { dialectOf, refuse } from './refusal.js';
import { type RequestHead, readHead } from './request-head.js';
import { matchRoute, type Route, type RouteName } from './routes.js';
import { plainKeys, secretKeys } from './session-key.js';
import { runTrainerCall } from './trainer-routes.js';
import { App, closeListenSocket, type HttpResponse, listen, localPort } from './uws.js';

export interface FrontTelemetry {
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface RunningFront {
  /** The real port, also where 0 was asked for. */
  readonly port: number;
  /** What an agent sends as its key for this session. */
  readonly keyOf: (sessionId: string) => string;
  /** Takes no more connections, lets open calls finish within `shutdown.drainMs`, refuses the rest, closes all sockets. */
  close(): Promise<void>;
}

/** After draining, time for the last refusals to be written. */
const LAST_WRITES_MS = 1000;

/**
 * Listens on `settings.host` and `settings.port`. The link stays the caller's: close it after the front.
 * @throws GatewayError `port_taken`, or `setting_invalid` for an exposed host without an admin token.
 */
export const startFront = async (
  settings: Settings,
  secrets: Secrets,
  link: ShardLink,
  telemetry: FrontTelemetry,
): Promise<RunningFront> => {
  const front: Front = {
    settings,
    link,
    ...telemetry,
    keys: settings.sessions.secretKeys ? secretKeys(randomBytes(32)) : plainKeys,
    admin: adminGate(settings.host, secrets.adminToken),
    budget: new BodyBudget(settings.limits.bodyBytes, settings.limits.bodiesInFlightBytes),
    openCalls: new Set(),
    isStopping: false,
  };
  const app = App();
  app.any('/*', (response, request) => handle(front, response, readHead(request)));
  const socket = await listen(app, settings.host, settings.port);
  if (socket === false) {
    throw new GatewayError(
      'port_taken',
      `cannot listen on ${settings.host}:${settings.port}: the port is taken or the address is not this machine's; choose another with --port or --host`,
    );
  }
  const port = localPort(socket);
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    front.isStopping = true;
    closeListenSocket(socket);
    await link.drain(settings.shutdown.drainMs);
    for (const end of [...front.openCalls])
      end({ code: 'shutting_down', message: 'the gateway stopped before the turn was done; nothing of it was recorded' });
    const untilMs = Date.now() + LAST_WRITES_MS;
    while (front.openCalls.size > 0 && Date.now() < untilMs) await new Promise((resolve) => setTimeout(resolve, 10));
    app.close();
  };
  return {
    port,
    keyOf: (sessionId) => front.keys.keyOf(sessionId),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
};

const handle = (front: Front, response: HttpResponse, head: RequestHead): void => {
  const startedAt = performance.now();
  const exchange = new Exchange(response, head.isHead);
  const match = matchRoute(head.method, head.path);
  const routeName = match.kind === 'route' ? match.route.name : 'none';
  exchange.onClosed(({ status, goneAt }) => {
    front.metrics.requestsTotal.inc({ route: routeName, status });
    front.metrics.requestSeconds.observe({ route: routeName }, (performance.now() - startedAt) / 1000);
    if (goneAt !== null) front.metrics.clientGoneTotal.inc({ stage: goneAt });
    front.log.debug(
      { route: routeName, status, goneAt, requestId: exchange.requestId, ms: Math.round(performance.now() - startedAt) },
      'request',
    );
  });
  if (match.kind !== 'route') {
    refuseUnmatched(exchange, head, match);
    return;
  }
  const { route, id } = match;
  const call: Call = { route, id, head, dialect: dialectOf(head, route.audience), exchange, response };
  const fail = (error: unknown): void => {
    front.log.error({ ...errorFields(error), route: routeName, requestId: exchange.requestId }, 'a request failed');
    if (exchange.hasBegun) exchange.cut();
    else
      refuse(exchange, call.dialect, {
        code: 'internal_error',
        message: `the gateway failed, its log has the details under ${exchange.requestId}`,
      });
  };
  try {
    const running = dispatch(front, call);
    if (running !== undefined) running.catch(fail);
  } catch (error) {
    fail(error);
  }
};

const refuseUnmatched = (exchange: Exchange, head: RequestHead, match: Exclude<ReturnType<typeof matchRoute>, { kind: 'route' }>): void => {
  const shown = `${head.isHead ? 'HEAD' : head.method} ${head.path.slice(0, 200)}`;
  switch (match.kind) {
    case 'wrong_method':
      refuse(
        exchange,
        dialectOf(head, match.audience),
        { code: 'method_not_allowed', message: `cannot ${shown}: this path takes ${match.allow}` },
        [['allow', match.allow]],
      );
      break;
    case 'bad_id':
      refuse(exchange, dialectOf(head, null), {
        code: 'invalid_session_id',
        message: `cannot ${shown}: the id is not percent-encoded UTF-8`,
      });
      break;
    case 'not_found':
      refuse(exchange, dialectOf(head, null), { code: 'not_found', message: `cannot ${shown}: there is no such path` });
      break;
  }
};

type Handler = (front: Front, call: Call) => void | Promise<void>;

const HANDLERS: Readonly<Record<RouteName, Handler>> = {
  chat_completions: (front, call) => runAgentCall(front, call, 'turn', 'openai-chat'),
  messages: (front, call) => runAgentCall(front, call, 'turn', 'anthropic-messages'),
  count_tokens: (front, call) => runAgentCall(front, call, 'count_tokens', 'anthropic-messages'),
  models: answerModels,
  model: answerModels,
  root: (_front, { exchange }) => exchange.answer(200, [], ''),
  healthz: answerHealth,
  readyz: answerReady,
  metrics: answerMetrics,
  engines: runEngineCall,
  pause_engines: runEngineCall,
  resume_engines: runEngineCall,
  add_engine: runEngineCall,
  remove_engine: runEngineCall,
  create_session: runTrainerCall,
  list_sessions: runTrainerCall,
  get_session: runTrainerCall,
  session_tree: runTrainerCall,
  finish_session: runTrainerCall,
  delete_session: runTrainerCall,
  lease_traces: runTrainerCall,
  ack_traces: runTrainerCall,
  crash_shard: plantFault,
};

const needsAdmin = (front: Front, { name, audience }: Route): boolean =>
  audience === 'trainer' || (name === 'metrics' && front.admin.isExposed);

const dispatch: Handler = (front, call) => {
  const { twice } = call.head;
  // Where the body ends is not known, and what follows it in the socket must not be read as a request.
  if (twice === 'content-length') return call.exchange.cut();
  if (twice !== null) {
    const message = `the header ${twice} came twice with different values, send it once`;
    return refuse(call.exchange, call.dialect, { code: 'conflicting_api_keys', message });
  }
  const refused = needsAdmin(front, call.route) ? front.admin.check(call.head.authorization) : null;
  if (refused === null) return HANDLERS[call.route.name](front, call);
  refuse(call.exchange, call.dialect, refused);
};
