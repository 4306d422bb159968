import { type Command, InvalidArgumentError } from 'commander';
import { runDemo } from './demo.js';

const whole = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
};

export const define = (command: Command): void => {
  command
    .option('--agents <number>', 'agents that run at once', whole, 40)
    .option('--seed <number>', 'seed of the simulated engine', whole, 1)
    .action(async (options: { readonly agents: number; readonly seed: number }) => {
      if ((await runDemo(options)) !== 0) throw new Error('the demo found tokens that were not captured exactly once');
    });
};
