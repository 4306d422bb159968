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
    description: 'what it says: agent (plans in prompts, the demo’s script, else random words) or random',
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
