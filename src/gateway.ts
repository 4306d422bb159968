import { isAbsolute, resolve } from 'node:path';
import type { Settings, SomeSettings } from './config.js';
import { checkServable, loadSecrets, resolveSettings, type Secrets } from './config-load.js';
import { EngineControl } from './engine-control.js';
import { GatewayError } from './errors.js';
import { type RunningFront, startFront } from './front/server.js';
import { Sessions } from './sessions.js';
import { type SessionOutline, sumOfOutlines } from './shard/session-outlines.js';
import { ShardPool } from './shard/shard-pool.js';
import { createLog, type Log, sessionTag } from './telemetry/log.js';
import { createMetrics, type Metrics } from './telemetry/metrics.js';

export type { TraceRecord, TraceSummary } from './canonical/trace.js';
export type { Settings, SomeSettings } from './config.js';
export type { EngineControl, EngineReport } from './engine-control.js';
export { type ErrorCode, GatewayError } from './errors.js';
export type { CreatedSession, LeasedTraces, Sessions } from './sessions.js';

export interface EngineOptions {
  /** Root URL of the engine, without `/v1`; several for replicas. */
  readonly engineUrl: string | readonly string[];
  /** Model directory with tokenizer and chat template. */
  readonly model: string;
  /** @default 'vllm' */
  readonly engine?: Settings['engine'];
  /** Everything else, as in the settings file. @default port 0 */
  readonly settings?: SomeSettings;
}

export interface GatewayAddress {
  readonly host: string;
  /** The real port, also where 0 was asked for. */
  readonly port: number;
  /** For agents: Anthropic clients take it as it is, OpenAI clients with `/v1` behind it. */
  readonly url: string;
}

/**
 * The gateway in one object: `start()` loads the model in every shard and listens, `close()` drains and ends its threads.
 * An engine that is down is waited for: `start()` does not need it.
 */
export class RolloutGateway {
  readonly settings: Settings;
  readonly #secrets: Secrets;
  readonly #log: Log;
  readonly #metrics: Metrics;
  #shards: ShardPool | null = null;
  #front: RunningFront | null = null;
  #sessions: Sessions | null = null;

  /** @throws GatewayError `setting_invalid` */
  constructor(settings: Settings | SomeSettings, env: Readonly<Record<string, string | undefined>> = process.env) {
    this.settings = resolveSettings(settings);
    checkServable(this.settings);
    this.#secrets = loadSecrets(this.settings, env);
    this.#log = createLog(this.settings.log.level, 'front');
    this.#metrics = createMetrics('front');
  }

  /** A gateway for an engine that finds renderer, tokenizer, output grammar and context length by itself. */
  static fromEngine(options: EngineOptions): RolloutGateway {
    const { engineUrl, model, engine = 'vllm', settings = {} } = options;
    return new RolloutGateway({
      port: 0,
      ...settings,
      engine,
      engineUrl: typeof engineUrl === 'string' ? [engineUrl] : engineUrl,
      model: isAbsolute(model) ? model : resolve(model),
    });
  }

  /** The trainer's calls, in process. */
  get sessions(): Sessions {
    if (this.#sessions === null) throw new Error('The gateway has no sessions before start() has resolved.');
    return this.#sessions;
  }

  /** The trainer's calls about the engines, in process: pause, resume, add, remove. */
  get engines(): EngineControl {
    if (this.#shards === null) throw new Error('The gateway has no engines before start() was called.');
    return new EngineControl(this.#shards);
  }

  /** Whether turns can be served: all shards are loaded and an engine answers; else why not. */
  get readiness(): { readonly ready: boolean; readonly problem: string | null } {
    if (this.#shards === null) return { ready: false, problem: 'the gateway is not started' };
    return { ready: this.#shards.ready, problem: this.#shards.problem };
  }

  /** @throws GatewayError `model_files`, `port_taken`, `setting_invalid` */
  async start(): Promise<GatewayAddress> {
    if (this.#shards !== null) throw new Error('The gateway was started before.');
    const shards = new ShardPool({
      settings: this.settings,
      engineKey: this.#secrets.engineKey,
      onProblem: (message, fields) => {
        this.#metrics.shardRestartsTotal.inc({ cause: 'crash' });
        this.#log.error(fields, message);
      },
    });
    this.#shards = shards;
    try {
      this.#front = await startFront(this.settings, this.#secrets, shards, { log: this.#log, metrics: this.#metrics });
      await shards.started();
    } catch (error) {
      await this.close();
      throw error;
    }
    const { port, keyOf } = this.#front;
    const { host } = this.settings;
    const shown = host.includes(':') ? `[${host}]` : host;
    const url = `http://${shown}:${port}`;
    this.#sessions = new Sessions(shards, this.settings, { url, keyOf });
    return { host, port, url };
  }

  /** Resolves when an engine answers; rejects after `timeoutMs`. */
  async ready(timeoutMs: number): Promise<void> {
    const untilMs = Date.now() + timeoutMs;
    while (!this.readiness.ready) {
      if (Date.now() >= untilMs)
        throw new GatewayError('engine_failed', `The gateway is not ready after ${timeoutMs} ms: ${this.readiness.problem}.`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  /** Stops listening, lets open calls finish within `shutdown.drainMs`, and ends all threads. */
  async close(): Promise<void> {
    await this.#front?.close();
    this.#front = null;
    if (this.#shards !== null) reportUnfetched(this.#shards.unfetched, this.#log);
    await this.#shards?.close();
    this.#metrics.stop();
  }

  /** Ends one shard's thread as a crash would; only with `test.faults`. */
  crashShard(shard: number, how: 'throw' | 'exit' | 'hang' | 'heap'): void {
    this.#shards?.crash(shard, how);
  }
}

/** Sessions named one by one in the log at exit; the line has the sums of all. */
const NAMED_AT_EXIT = 100;

/** What ends with the process: rows that no trainer has acknowledged, and sessions that were not finished. */
function reportUnfetched(left: readonly SessionOutline[], log: Log): void {
  const told = left.filter(({ turns }) => turns > 0);
  if (told.length === 0) return;
  const { turns, tokens } = sumOfOutlines(told);
  log.warn(
    {
      finished: told.filter(({ state }) => state === 'finished').length,
      open: told.filter(({ state }) => state === 'open').length,
      turns,
      tokens,
      sessions: told
        .slice(0, NAMED_AT_EXIT)
        .map(({ sessionId, state, turns, tokens, rolloutId }) => ({ session: sessionTag(sessionId), state, turns, tokens, rolloutId })),
    },
    'rows end with the process: no trainer acknowledged them',
  );
}
