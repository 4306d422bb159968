import { afterEach } from 'vitest';
import { EnginePool, type EnginePoolOptions } from '../../src/backend/engine-pool.js';
import type { PoolSettings } from '../../src/backend/pool-settings.js';
import type { PoolRequest } from '../../src/backend/turn-run.js';
import { vllm } from '../../src/engines/vllm.js';
import { SAMPLING } from '../support/sampling.js';
import { ScriptedEngine } from '../support/scripted-engine.js';

export { SAMPLING };

export const SETTINGS: PoolSettings = {
  window: { initial: 8, min: 1, max: 64 },
  limits: { queue: 100 },
  backend: {
    retries: 3,
    holdMs: 20_000,
    connectTimeoutMs: 2000,
    silenceTimeoutMs: 20_000,
    idleSocketMs: 3000,
    probeIntervalMs: 20,
    probeDownMs: 20,
  },
};

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close();
});

export async function startEngine(): Promise<ScriptedEngine> {
  const engine = await ScriptedEngine.start();
  opened.push({ close: () => engine.stop() });
  return engine;
}

export function openPool(engines: readonly ScriptedEngine[], options: Partial<EnginePoolOptions> = {}): EnginePool {
  const urls = engines.map((engine) => engine.url);
  const pool = new EnginePool({ engine: vllm, urls, apiKey: null, settings: SETTINGS, vocabularySize: 1000, ...options });
  opened.push(pool);
  pool.start();
  return pool;
}

export const settingsWith = (changes: {
  window?: Partial<PoolSettings['window']>;
  queue?: number;
  backend?: Partial<PoolSettings['backend']>;
}): PoolSettings => ({
  window: { ...SETTINGS.window, ...changes.window },
  limits: { queue: changes.queue ?? SETTINGS.limits.queue },
  backend: { ...SETTINGS.backend, ...changes.backend },
});

export const turn = (changes: Partial<PoolRequest> = {}): PoolRequest => ({
  sessionId: 's1',
  model: null,
  promptIds: Int32Array.of(1, 2, 3),
  sampling: SAMPLING,
  topLogprobs: 0,
  routingKey: 'k1',
  ...changes,
});

/** Resolves once the pool's states satisfy the condition. */
export function stateOf(pool: EnginePool, holds: (states: ReturnType<EnginePool['states']>) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!holds(pool.states())) return;
      stop();
      resolve();
    };
    const stop = pool.onChange(look);
    look();
  });
}
export const allUp = (pool: EnginePool): Promise<void> => stateOf(pool, (states) => states.every(({ state }) => state === 'up'));
