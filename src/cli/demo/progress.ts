import cliProgress from 'cli-progress';
import type { Tally } from './agent.js';

export interface Progress extends Tally {
  agentDone(): void;
  stop(): void;
}

/** A bar of finished agents on a terminal; says nothing elsewhere. */
export function demoProgress(agents: number, stream: NodeJS.WriteStream): Progress {
  let turns = 0;
  if (!stream.isTTY) return { turn: () => undefined, agentDone: () => undefined, stop: () => undefined };
  const bar = new cliProgress.SingleBar(
    { stream, format: '{bar} {value}/{total} agents done, {turns} turns', hideCursor: true, clearOnComplete: true },
    cliProgress.Presets.shades_grey,
  );
  bar.start(agents, 0, { turns });
  return {
    turn: () => bar.update({ turns: ++turns }),
    agentDone: () => bar.increment(1, { turns }),
    stop: () => bar.stop(),
  };
}
