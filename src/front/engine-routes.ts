import type { EngineStand } from '../shard/engine-orders.js';
import type { EngineWork, ReplicaState } from '../shard/messages.js';
import { type EngineRouteName, readEngineOrder } from '../trainer/engine-request.js';
import type { Call, Front } from './front.js';
import { refuse } from './refusal.js';
import { withTrainerBody } from './trainer-body.js';

const JSON_HEADERS = [['content-type', 'application/json']] as const;

/** What a trainer asks or orders of the engines: told to every shard, answered with how things stand then. */
export const runEngineCall = (front: Front, call: Call): void | Promise<void> =>
  withTrainerBody(front, call, async (body) => {
    const route = call.route.name as EngineRouteName;
    const order = readEngineOrder(route, { query: call.head.query, body, jsonDepth: front.settings.limits.jsonDepth });
    const work = await front.link.order(order);
    if ('code' in work) {
      refuse(call.exchange, call.dialect, work);
      return;
    }
    const status = order.kind === 'add_replica' ? 201 : 200;
    call.exchange.answer(status, JSON_HEADERS, JSON.stringify(engineReport(front.link.engineStand, front.link.replicas, work)));
  });

/** Replicas, pause and running turns, as every call about the engines is answered. */
const engineReport = (stand: EngineStand, replicas: readonly ReplicaState[], work: EngineWork): object => ({
  engines: stand.replicas.map(({ url }) => replicaReport(url, replicas.find((replica) => replica.url === url) ?? null)),
  paused: stand.pause,
  weight_version: stand.weightVersion,
  calls: work.calls,
  waiting_turns: work.waiting,
  running_turns: work.running.map(({ weightVersion, turns }) => ({ weight_version: weightVersion, turns })),
});

const replicaReport = (url: string, replica: ReplicaState | null): object => ({
  url,
  state: replica?.state ?? 'starting',
  problem: replica === null ? 'not asked yet' : replica.problem,
  version: replica?.version ?? null,
  route: replica?.route ?? null,
  weight_version: replica?.weightVersion ?? null,
  in_flight: replica?.inFlight ?? 0,
  queued: replica?.queued ?? 0,
  window: replica?.window ?? 0,
});
