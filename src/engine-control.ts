import { GatewayError } from './errors.js';
import type { EngineWork, PauseMode, ReplicaState } from './shard/messages.js';
import type { ShardLink } from './shard/shard-link.js';
import { type EngineRouteName, readEngineOrder } from './trainer/engine-request.js';

/** How the engines stand: replicas, pause, and what turns do there. */
export interface EngineReport extends EngineWork {
  readonly replicas: readonly ReplicaState[];
  readonly paused: PauseMode | null;
  /** What the last resumption said. */
  readonly weightVersion: string | null;
}

/** Checks of orders need no nesting. */
const BODY_DEPTH = 8;

/**
 * The trainer's calls about the engines in process: the same checks and effects as over HTTP. Every method
 * @throws GatewayError with the code that HTTP would answer.
 */
export class EngineControl {
  constructor(private readonly link: ShardLink) {}

  state(): Promise<EngineReport> {
    return this.#order('engines', {});
  }

  /** Sends nothing more until {@link resume}; resolves when no call runs, after `waitMs`, or at once for `keep`. */
  pause(options: { readonly mode?: PauseMode; readonly waitMs?: number } = {}): Promise<EngineReport> {
    return this.#order('pause_engines', { mode: options.mode, wait_ms: options.waitMs });
  }

  /** Sends again; `weightVersion` names the weights where the engine does not. */
  resume(weightVersion?: string | number): Promise<EngineReport> {
    return this.#order('resume_engines', { weight_version: weightVersion });
  }

  add(url: string): Promise<EngineReport> {
    return this.#order('add_engine', { url });
  }

  /** Resolves when the replica's running calls have ended, or after `waitMs`. */
  remove(url: string, waitMs?: number): Promise<EngineReport> {
    const query = new URLSearchParams({ url, ...(waitMs === undefined ? {} : { wait_ms: String(waitMs) }) });
    return this.#order('remove_engine', {}, query.toString());
  }

  async #order(route: EngineRouteName, body: object, query = ''): Promise<EngineReport> {
    const order = readEngineOrder(route, { query, body: new TextEncoder().encode(JSON.stringify(body)), jsonDepth: BODY_DEPTH });
    const work = await this.link.order(order);
    if ('code' in work) throw new GatewayError(work.code, work.message);
    const { pause, weightVersion } = this.link.engineStand;
    return { ...work, replicas: this.link.replicas, paused: pause, weightVersion };
  }
}
