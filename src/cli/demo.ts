import pc from 'picocolors';
import { RolloutGateway } from '../gateway.js';
import { startSimEngine } from '../sim/engine-server.js';
import { SIM_MODEL_DIR } from '../sim/model-dir.js';
import type { LatencyModel } from '../sim/scheduler.js';
import { drawRow } from '../trajectory/row-view.js';
import { type Outcome, playDemo } from './demo/play.js';
import { proofText, sessionTable } from './demo/report.js';

export interface DemoOptions {
  /** Agents at once, 40 by default: every kind in both dialects, streaming and not, twice. */
  readonly agents?: number;
  readonly seed?: number;
}

/** A small engine: tokens come at a pace that a progress bar can show. */
const DEMO_LATENCY: LatencyModel = { prefillTokensPerS: 200_000, decodeStepMs: 3, decodeStepPerSequenceMs: 0.05, prefillChunkTokens: 4096 };
const WINDOW = 32;
const READY_MS = 20_000;
const SHOWN_TOKENS_MAX = 160;

/**
 * Starts the simulated engine and the gateway, lets agents on the official clients work against it, and shows what was
 * captured and that it is what the engine sampled. Writes to stdout, plain where that is no terminal.
 * @returns the exit code: 0 only when every sampled token is trained exactly once
 * @throws when a part does not start or an agent fails
 */
export async function runDemo({ agents = 40, seed = 1 }: DemoOptions = {}): Promise<number> {
  const colour = process.stdout.isTTY === true && pc.isColorSupported;
  const engine = await startSimEngine({
    seed,
    latency: DEMO_LATENCY,
    window: WINDOW,
    faults: [{ kind: 'http_503', rate: 0.02, attempt: 0, retryAfterS: 0 }],
  });
  try {
    const gateway = RolloutGateway.fromEngine({ engineUrl: engine.url, model: SIM_MODEL_DIR, settings: { log: { level: 'error' } } });
    try {
      const { url } = await gateway.start();
      await gateway.ready(READY_MS);
      say(`${agents} agents on ${url}, engine on ${engine.url}`);
      const outcome = await playDemo({ gatewayUrl: url, engine, agents, stream: process.stdout, colour });
      report(outcome, (id) => engine.core.options.vocabulary.decode([id]), colour);
      const { proof } = outcome;
      return proof.differences.length === 0 && proof.provedTokens === proof.sampledTokens && proof.sampledTokens > 0 ? 0 : 1;
    } finally {
      await gateway.close();
    }
  } finally {
    await engine.close();
  }
}

function report({ played, tree, proof }: Outcome, tokenText: (id: number) => string, colour: boolean): void {
  const shown = played.find(({ agent }) => agent.kind === 'parallel calls') ?? played[0];
  const row = shown?.finished.traces.find((it) => it.role === 'main');
  say(`\n${sessionTable(played)}`);
  say(`\nA session with sub-agents:\n\n${tree.trimEnd()}`);
  if (row) say(`\nA row:\n\n${drawRow(row, { colour, tokenText, tokensMax: SHOWN_TOKENS_MAX }).trimEnd()}`);
  say(`\n${proofText(proof)}`);
}

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
