import { type SimEngine, startSimEngine } from '../sim/engine-server.js';
import { type FaultRule, isFaultKind } from '../sim/faults.js';
import { randomPolicy } from '../sim/policy.js';
import { GPU_LATENCY, NO_LATENCY } from '../sim/scheduler.js';
import { UsageError } from './command-host.js';

/** One option of `rollout-gateway sim-engine`, as a command line wants it. */
export interface SimEngineOption {
  readonly flags: string;
  readonly description: string;
  readonly default?: string;
}

export const SIM_ENGINE_OPTIONS: readonly SimEngineOption[] = [
  { flags: '--engine <name>', description: 'whose protocol it speaks: vllm or sglang', default: 'vllm' },
  { flags: '--host <address>', description: 'address to listen on', default: '127.0.0.1' },
  { flags: '--port <number>', description: 'port to listen on, 0 takes a free one', default: '8000' },
  { flags: '--model <dir>', description: 'model directory with a byte-level tokenizer (default: the embedded one)' },
  { flags: '--model-name <name>', description: 'name that /v1/models shows', default: 'sim' },
  { flags: '--seed <number>', description: 'equal seeds and prompts give equal replies and faults', default: '0' },
  {
    flags: '--policy <name>',
    description: 'what it says: agent (the plan in a prompt, else the demo’s script for the demo’s questions, else random words) or random',
    default: 'agent',
  },
  { flags: '--reply-tokens <number>', description: 'least length of a random reply; the greatest is twice that', default: '48' },
  { flags: '--latency <name>', description: 'none, or gpu: the batching times of a 7B model', default: 'none' },
  { flags: '--prefill-tokens-per-s <number>', description: 'of the latency model' },
  { flags: '--decode-step-ms <number>', description: 'of the latency model: one step of one sequence' },
  { flags: '--window <number>', description: 'sequences that run at once, 0 = all', default: '256' },
  { flags: '--max-queued <number>', description: 'running and waiting requests above which it answers 503, 0 = no limit', default: '0' },
  { flags: '--ledger <entries>', description: 'generations kept for GET /sim/ledger', default: '100000' },
  { flags: '--fault <rule...>', description: 'KIND, KIND=RATE or a JSON rule {"kind": …, "rate": …, "attempt": …, "ms": …}; repeatable' },
  { flags: '--api-key <key>', description: 'Bearer token that the guarded routes want' },
  { flags: '--no-scale-out', description: 'answer 403 on /inference, as vLLM without --enable-scale-out' },
];

/** Values by the long name in camelCase, as commander gives them. */
export interface SimEngineArguments {
  readonly engine: string;
  readonly host: string;
  readonly port: string;
  readonly model?: string;
  readonly modelName: string;
  readonly seed: string;
  readonly policy: string;
  readonly replyTokens: string;
  readonly latency: string;
  readonly prefillTokensPerS?: string;
  readonly decodeStepMs?: string;
  readonly window: string;
  readonly maxQueued: string;
  readonly ledger: string;
  readonly fault?: readonly string[];
  readonly apiKey?: string;
  readonly scaleOut: boolean;
}

/**
 * Starts a simulated engine and says where, in one line on stdout. The caller closes it.
 * @throws UsageError for an option that makes no sense, or an Error for a taken port, each with one sentence.
 */
export async function runSimEngine(given: SimEngineArguments): Promise<SimEngine> {
  const base = oneOf('--latency', given.latency, { none: NO_LATENCY, gpu: GPU_LATENCY });
  const prefill =
    given.prefillTokensPerS === undefined ? {} : { prefillTokensPerS: whole('--prefill-tokens-per-s', given.prefillTokensPerS) };
  const decode = given.decodeStepMs === undefined ? {} : { decodeStepMs: positive('--decode-step-ms', given.decodeStepMs) };
  const own = given.prefillTokensPerS !== undefined || given.decodeStepMs !== undefined;
  const port = whole('--port', given.port);
  const engine = await startSimEngine({
    engine: oneOf('--engine', given.engine, { vllm: 'vllm', sglang: 'sglang' } as const),
    host: given.host,
    port,
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
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall !== 'listen') throw error;
    throw new Error(
      `cannot listen on ${given.host}:${port}: the port is taken or the address is not this machine's; choose another with --port or --host`,
      { cause: error },
    );
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
