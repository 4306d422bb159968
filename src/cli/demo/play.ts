import type { SimEngine } from '../../sim/engine-server.js';
import { demoCast } from './cast.js';
import { clientPackages, clientsFor } from './clients.js';
import { demoProgress } from './progress.js';
import { type Proof, prove } from './proof.js';
import type { Played } from './report.js';
import { TrainerClient } from './trainer-client.js';

export interface PlayOptions {
  readonly gatewayUrl: string;
  readonly engine: SimEngine;
  readonly agents: number;
  /** Where the progress is shown. */
  readonly stream: NodeJS.WriteStream;
  readonly colour: boolean;
}

export interface Outcome {
  readonly played: readonly Played[];
  readonly proof: Proof;
  /** The tree of one session with sub-agents, drawn before it was finished. */
  readonly tree: string;
}

/**
 * Leads all agents at once against a running gateway, finishes their sessions over HTTP and compares the rows with what
 * the engine says it sampled.
 * @throws the first failure of an agent or a call
 */
export async function playDemo({ gatewayUrl, engine, agents, stream, colour }: PlayOptions): Promise<Outcome> {
  const packages = await clientPackages();
  const trainer = new TrainerClient(gatewayUrl);
  const cast = demoCast(agents);
  // what was sampled before is the gateway's own question whether the engine can serve it
  const probed = engine.ledger().at(-1)?.serial ?? 0;
  const progress = demoProgress(agents, stream);
  try {
    await Promise.all(
      cast.map(async (agent, i) => {
        await trainer.create(agent.sessionId, agent.kind, i);
        await agent.lead(clientsFor(agent, gatewayUrl, packages), progress);
        progress.agentDone();
      }),
    );
  } finally {
    progress.stop();
  }
  const drawn = cast.find((agent) => agent.kind === 'sub-agents') ?? cast[0]!;
  const tree = await trainer.tree(drawn.sessionId, colour);
  const played = await Promise.all(cast.map(async (agent) => ({ agent, finished: await trainer.finish(agent.sessionId, 1) })));
  const sampled = engine.ledger(probed).filter((entry) => entry.outputIds.length > 0);
  return {
    played,
    tree,
    proof: prove(
      played.flatMap(({ finished }) => finished.traces),
      sampled,
    ),
  };
}
