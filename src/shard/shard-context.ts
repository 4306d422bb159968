import type { EnginePool } from '../backend/engine-pool.js';
import type { Settings } from '../config.js';
import type { LoadedModel } from '../rendering/model.js';
import type { Log } from '../telemetry/log.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { Journal } from './journal.js';
import type { TurnSignatures } from './turn-signature.js';

/** What every turn of a shard works with. */
export interface ShardContext {
  readonly settings: Settings;
  readonly model: LoadedModel;
  readonly engine: EnginePool;
  readonly engineName: string;
  readonly signatures: TurnSignatures;
  readonly journal: Journal;
  readonly metrics: Metrics;
  readonly log: Log;
  /** The model's name for agents and for the root of histories. */
  readonly modelName: () => string;
  /** Prompt and reply together, the smallest of what model, engine and settings allow. */
  readonly contextTokens: () => number;
  /** The longest prompt that the engine takes, `null` = one token less than the context. */
  readonly promptTokensMax: () => number | null;
}
