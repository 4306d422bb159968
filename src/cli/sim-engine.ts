import { type SimEngine, startSimEngine } from '../sim/engine-server.js';
import { type FaultRule, isFaultKind } from '../sim/faults.js';
import { randomPolicy } from '../sim/policy.js';
import { GPU_LATENCY, NO_LATENCY } from '../sim/scheduler.js';
import type { SimEngineArguments } from './sim-engine-options.js';
import { UsageError } from './usage-error.js';

/**
 * Starts a simulated engine and says where, in one line on stdout. The caller closes it.
 * @throws UsageError with one sentence for an option that makes no sense, or the listen error.
 */
export async function runSimEngine(given: SimEngineArguments): Promise<SimEngine> {
  const base = oneOf('--latency', given.latency, { none: NO_LATENCY, gpu: GPU_LATENCY });
  const prefill =
    given.prefillTokensPerS === undefined ? {} : { prefillTokensPerS: whole('--prefill-tokens-per-s', given.prefillTokensPerS) };
  const decode = given.decodeStepMs === undefined ? {} : { decodeStepMs: positive('--decode-step-ms', given.decodeStepMs) };
  const own = given.prefillTokensPerS !== undefined || given.decodeStepMs !== undefined;
  const engine = await startSimEngine({
    engine: oneOf('--engine', given.engine, { vllm: 'vllm', sglang: 'sglang' } as const),
    host: given.host,
    port: whole('--port', given.port),
    seed: whole('--seed', given.seed),
    modelName: given.modelName,
    latency: { ...(own ? GPU_LATENCY : base), ...prefill, ...decode },
    window: whole('--window', given.window),
    maxQueued: whole('--max-queued', given.maxQueued),
    ledgerLimit: whole('--ledger', given.ledger),
    faults: (given.fault ?? []).map(faultRule),
    scaleOut: given.scaleOut,
    ...(given.model !== undefined && { modelDir: given.model }),
    ...(given.apiKey !== undefined && { apiKey: given.apiKey }),
    ...(oneOf('--policy', given.policy, { agent: false, random: true }) && {
      policy: randomPolicy(whole('--reply-tokens', given.replyTokens)),
    }),
  });
  process.stdout.write(`listening on ${engine.url}\n`);
  return engine;
}

/** `KIND`, `KIND=RATE` or a JSON object. */
export function faultRule(text: string): FaultRule {
  if (text.startsWith('{')) {
    const rule = JSON.parse(text) as { readonly kind?: unknown };
    if (typeof rule.kind === 'string' && isFaultKind(rule.kind)) return rule as FaultRule;
    throw new UsageError(`--fault ${text}: "kind" must be one of the kinds that GET /sim/faults lists`);
  }
  const [kind = '', rate] = text.split('=');
  if (!isFaultKind(kind)) throw new UsageError(`--fault ${text}: "${kind}" is no fault; GET /sim/faults lists them`);
  return rate === undefined ? { kind } : { kind, rate: positive('--fault', rate) };
}

function oneOf<T>(flag: string, name: string, values: Readonly<Record<string, T>>): T {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined) throw new UsageError(`${flag} is "${name}", it must be one of ${Object.keys(values).join(', ')}`);
  return value;
}

function whole(flag: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new UsageError(`${flag} is "${text}", it must be a whole number from 0 on`);
  return Number(text);
}

function positive(flag: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new UsageError(`${flag} is "${text}", it must be a number above 0`);
  return value;
}
