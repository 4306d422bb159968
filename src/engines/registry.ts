import { GatewayError } from '../errors.js';
import type { Engine } from './engine.js';
import { sglang } from './sglang.js';
import { vllm } from './vllm.js';

/** Every kind of inference server, by the name that `--engine` takes. */
export const ENGINES: Readonly<Record<string, Engine>> = { vllm, sglang };

/** @throws GatewayError `setting_invalid` for a name that is not registered. */
export function engineNamed(name: string): Engine {
  const engine = Object.hasOwn(ENGINES, name) ? ENGINES[name] : undefined;
  if (engine === undefined)
    throw new GatewayError('setting_invalid', `engine ${JSON.stringify(name)} is not known; one of: ${Object.keys(ENGINES).join(', ')}`);
  return engine;
}
