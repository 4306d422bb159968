import type { Command } from 'commander';
import type { CommandHost } from './command-host.js';
import { runSimEngine, SIM_ENGINE_OPTIONS, type SimEngineArguments } from './sim-engine.js';

export const define = (command: Command, host: CommandHost): void => {
  for (const option of SIM_ENGINE_OPTIONS) command.option(option.flags, option.description, option.default);
  command.action(async (options: SimEngineArguments) => {
    const stopped = host.stopped();
    const engine = await runSimEngine(options);
    await stopped;
    await engine.close();
  });
};
