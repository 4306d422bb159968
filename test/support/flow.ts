import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect } from 'vitest';
import type { RolloutGateway as Gateway, SomeSettings, TraceRecord } from '../../src/gateway.js';
import type { SimEngine, SimEngineOptions, startSimEngine as StartSimEngine } from '../../src/sim/engine-server.js';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';
import type { Reply } from '../../src/sim/reply.js';

const compiled = (path: string): Promise<unknown> => import(String(new URL(`../../dist/${path}`, import.meta.url)));

/** The compiled program: worker threads need files that Node can load. */
export async function loadGateway(): Promise<typeof Gateway> {
  return ((await compiled('gateway.js')) as { RolloutGateway: typeof Gateway }).RolloutGateway;
}

export async function startSim(options: SimEngineOptions = {}): Promise<SimEngine> {
  const { startSimEngine } = (await compiled('sim/engine-server.js')) as { startSimEngine: typeof StartSimEngine };
  return startSimEngine(options);
}

/** A real gateway over HTTP before a simulated engine over HTTP. */
export interface Flow {
  readonly sim: SimEngine;
  readonly gateway: Gateway;
  readonly url: string;
  openai(key: string): OpenAI;
  anthropic(key: string): Anthropic;
  post(path: string, key: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  close(): Promise<void>;
}

export interface FlowOptions {
  readonly sim?: SimEngineOptions;
  readonly settings?: SomeSettings;
}

export async function startFlow(options: FlowOptions = {}): Promise<Flow> {
  const RolloutGateway = await loadGateway();
  const sim = await startSim(options.sim);
  const gateway = RolloutGateway.fromEngine({
    engineUrl: sim.url,
    model: SIM_MODEL_DIR,
    engine: options.sim?.engine ?? 'vllm',
    settings: { shards: 2, log: { level: 'silent' }, ...options.settings },
  });
  const { url } = await gateway.start();
  await gateway.ready(20_000);
  return {
    sim,
    gateway,
    url,
    openai: (key) => new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 }),
    anthropic: (key) => new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 }),
    post: (path, key, body, headers = {}) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    close: async () => {
      await gateway.close();
      await sim.close();
    },
  };
}

/** A user message that makes the simulated engine say these replies, one a turn. */
export const plan = (...replies: readonly Reply[]): string => `[plan]${JSON.stringify(replies)}[/plan]`;

/**
 * Compares rows with the engine's own ledger, id by id: every turn stands at a prompt the engine saw, holds what it said, with its
 * logprobs, and every delivered generation is trained exactly once.
 */
export function expectRowsMatchLedger(sim: SimEngine, rows: readonly TraceRecord[], fromSerial = 0): void {
  const entries = sim.ledger(fromSerial).filter((entry) => entry.outputIds.length > 0 && !isProbe(entry.promptIds));
  const trained = new Map<number, number>();
  for (const row of rows) {
    expect(row.token_ids.length).toBe(row.prompt_length + row.response_length);
    expect(row.loss_mask.length).toBe(row.response_length);
    expect(row.logprobs.length).toBe(row.response_length);
    const covered = new Uint8Array(row.response_length);
    for (const turn of row.turns) {
      const prompt = row.token_ids.subarray(0, turn.start);
      const output = row.token_ids.subarray(turn.start, turn.end);
      const same = entries.filter((entry) => equal(entry.promptIds, prompt) && equal(entry.outputIds, output));
      expect(same.length, `the engine said turn ${turn.turn_id} of row ${row.row_index}`).toBeGreaterThan(0);
      if (!turn.trained_here) continue;
      const entry = same.find(({ serial }) => !trained.has(serial));
      expect(entry, `turn ${turn.turn_id} is trained once`).toBeDefined();
      trained.set(entry!.serial, row.row_index);
      const at = turn.start - row.prompt_length;
      expect([...row.logprobs.subarray(at, at + output.length)]).toEqual([...entry!.logprobs]);
      covered.fill(1, at, at + output.length);
    }
    expect([...row.loss_mask]).toEqual([...covered]);
  }
  expect(trained.size, 'every delivered generation is trained').toBe(entries.length);
}

/** The gateway's probes of an engine have one token. */
const isProbe = (promptIds: Int32Array): boolean => promptIds.length === 1;

const equal = (a: Int32Array, b: Int32Array): boolean => a.length === b.length && a.every((id, at) => id === b[at]);

export async function until(condition: () => boolean | Promise<boolean>, what: string, timeoutMs = 15_000): Promise<void> {
  const endMs = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > endMs) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await new Promise((done) => setTimeout(done, 10));
  }
}
