import type { Settings } from '../config.js';
import type { ErrorValue } from '../errors.js';
import type { ShardLink } from '../shard/shard-link.js';
import type { Log } from '../telemetry/log.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { AdminGate } from './admin-gate.js';
import type { BodyBudget } from './body.js';
import type { Exchange } from './exchange.js';
import type { RequestHead } from './request-head.js';
import type { Dialect, Route } from './routes.js';
import type { SessionKeys } from './session-key.js';
import type { HttpResponse } from './uws.js';

/** What every handler of the front works with. */
export interface Front {
  readonly settings: Settings;
  readonly link: ShardLink;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly keys: SessionKeys;
  readonly admin: AdminGate;
  readonly budget: BodyBudget;
  /** Agent calls in work, each as what ends it: a refusal, or a cut where its answer has begun. */
  readonly openCalls: Set<(error: ErrorValue) => void>;
  isStopping: boolean;
}

/** One request on its way through the front. `response` serves to receive the body; answers go through `exchange`. */
export interface Call {
  readonly route: Route;
  /** The decoded `{id}` of the path. */
  readonly id: string;
  readonly head: RequestHead;
  readonly dialect: Dialect;
  readonly exchange: Exchange;
  readonly response: HttpResponse;
}
