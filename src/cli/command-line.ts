import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { GatewayError } from '../errors.js';
import type { CommandHost } from './command-host.js';
import { UsageError } from './command-host.js';

interface CommandEntry {
  readonly name: string;
  readonly description: string;
  /** Loaded when the command is named, so that help costs nothing and `render` starts no server. */
  readonly load: () => Promise<{ readonly define: (command: Command, host: CommandHost) => void }>;
}

const COMMANDS: readonly CommandEntry[] = [
  { name: 'serve', description: 'start the gateway in front of an engine', load: () => import('./serve-command.js') },
  {
    name: 'demo',
    description: 'run agents against a simulated engine and prove what was captured',
    load: () => import('./demo-command.js'),
  },
  {
    name: 'sim-engine',
    description: 'start a simulated engine that speaks the protocols of vLLM and SGLang',
    load: () => import('./sim-engine-command.js'),
  },
  { name: 'render', description: 'messages to the prompt that a chat template makes of them', load: () => import('./render-command.js') },
  { name: 'tokenize', description: 'text to token ids and back', load: () => import('./tokenize-command.js') },
  { name: 'parse', description: 'a model’s reply to reasoning, content and tool calls', load: () => import('./parse-command.js') },
  { name: 'inspect', description: 'show a session’s tree or one of its rows', load: () => import('./inspect-command.js') },
];

const oneLine = (text: string): string => text.trim().replace(/\s*\n\s*/g, ' ');

const packageVersion = (): string => {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
};

const createProgram = async (named: string | undefined, host: CommandHost): Promise<Command> => {
  const program = new Command('rollout-gateway')
    .description('Captures exact token ids, logprobs and loss masks of agent rollouts behind an OpenAI- and Anthropic-compatible URL.')
    .version(packageVersion())
    .exitOverride()
    .configureOutput({
      writeOut: host.out,
      writeErr: host.err,
      outputError: (text, write) => write(`rollout-gateway: ${oneLine(text.replace(/^error: /, ''))}\n`),
    });
  for (const { name, description, load } of COMMANDS) {
    const command = program.command(name).description(description);
    if (name === named) (await load()).define(command, host);
  }
  return program;
};

/**
 * Runs one command line and gives its exit code: 0, 1 for a failure, 2 for a usage error; both with one line on stderr.
 * @param argv without the names of program and script
 */
export const runCommandLine = async (argv: readonly string[], host: CommandHost): Promise<number> => {
  try {
    const named = argv[0] === 'help' ? argv[1] : argv.find((argument) => !argument.startsWith('-'));
    const program = await createProgram(named, host);
    await program.parseAsync([...argv], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    host.err(`rollout-gateway: ${oneLine(error instanceof Error ? error.message : String(error))}\n`);
    return isUsage(error) ? 2 : 1;
  }
};

const isUsage = (error: unknown): boolean =>
  error instanceof UsageError || (error instanceof GatewayError && error.code === 'setting_invalid');
