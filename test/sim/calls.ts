import { afterEach } from 'vitest';
import { type SimEngine, type SimEngineOptions, startSimEngine } from '../../src/sim/engine-server.js';
import type { LatencyModel } from '../../src/sim/scheduler.js';

export interface VllmChoice {
  readonly finish_reason: string;
  readonly stop_reason: number | string | null;
  readonly token_ids: readonly number[] | null;
  readonly weight_versions: readonly { readonly version: string; readonly start: number; readonly end: number }[];
  readonly logprobs: {
    readonly content: readonly { readonly token_id: number; readonly logprob: number; readonly top_logprobs: readonly object[] }[];
  } | null;
}

export interface VllmAnswer {
  readonly request_id: string;
  readonly prompt_token_ids: readonly number[] | null;
  readonly choices: readonly VllmChoice[];
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly prompt_tokens_details: { readonly cached_tokens: number };
  };
}

export interface SglangAnswer {
  readonly text: string;
  readonly output_ids: readonly number[];
  readonly meta_info: {
    readonly id: string;
    readonly finish_reason: Readonly<Record<string, unknown>>;
    readonly output_token_logprobs?: readonly (readonly [number, number, null])[];
    readonly completion_tokens: number;
    readonly cached_tokens: number;
    readonly weight_versions: readonly object[];
  };
}

/** Slow enough that a test can act while something runs, quick enough not to wait for it. */
export const SLOW: LatencyModel = { prefillTokensPerS: 0, decodeStepMs: 5, decodeStepPerSequenceMs: 0, prefillChunkTokens: 1000 };

const engines: SimEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
});

/** An engine that ends with the test. */
export async function engine(options: SimEngineOptions = {}): Promise<SimEngine> {
  const started = await startSimEngine({ seed: 7, ...options });
  engines.push(started);
  return started;
}

export interface Reply<T> {
  readonly status: number;
  readonly body: T;
}

export async function call<T>(target: SimEngine, path: string, body?: unknown, init: RequestInit = {}): Promise<Reply<T>> {
  const response = await fetch(target.url + path, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    ...init,
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as T };
}

/** The ids of a prompt in the embedded model's own frame, which ends where the model begins to speak. */
export function prompt(target: SimEngine, user: string): number[] {
  return target.core.options.vocabulary.encode(`<|im_start|>user\n${user}<|im_end|>\n<|im_start|>assistant\n`);
}

export const plan = (...steps: readonly object[]): string => `[plan]${JSON.stringify(steps)}[/plan]`;

export function vllm(target: SimEngine, user: string, sampling: object = {}, more: object = {}): Promise<Reply<VllmAnswer>> {
  return call(target, '/inference/v1/generate', {
    token_ids: prompt(target, user),
    sampling_params: { max_tokens: 200, logprobs: 0, ...sampling },
    ...more,
  });
}

export function sglang(target: SimEngine, user: string, sampling: object = {}, more: object = {}): Promise<Reply<SglangAnswer>> {
  return call(target, '/generate', {
    input_ids: prompt(target, user),
    sampling_params: { max_new_tokens: 200, ...sampling },
    return_logprob: true,
    ...more,
  });
}
