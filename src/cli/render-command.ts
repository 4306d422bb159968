import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { JsonSyntaxError, parseJson } from '../canonical/json-parse.js';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../canonical/json-value.js';
import type { ProtocolName, TurnRequest } from '../canonical/turn.js';
import { createProtocols } from '../protocols/registry.js';
import { loadModel } from '../rendering/model.js';
import type { Tokenizer } from '../rendering/tokenizer.js';
import type { CommandHost } from './command-host.js';
import { UsageError } from './command-host.js';
import { renderBatch } from './render-batch.js';
import { addSettingOptions, settingsOf } from './setting-options.js';

interface RenderOptions {
  readonly batch?: true;
  readonly messages?: string;
  readonly tokens?: true;
  readonly protocol: ProtocolName;
  readonly generationPrompt: boolean;
}

const SETTING_NAMES = ['model', 'templateInput', 'templateKwargs', 'family', 'reasoning'];

export const define = (command: Command, host: CommandHost): void => {
  command
    .option(
      '--batch',
      'NDJSON requests on stdin, {"id","chat_template"|"template_file","context","now"?}, NDJSON answers on stdout: the bare template step',
    )
    .option('--messages <file>', 'JSON file with a list of messages or a whole request, - for stdin')
    .addOption(
      new Option('--protocol <name>', 'dialect of the messages').choices(['openai-chat', 'anthropic-messages']).default('openai-chat'),
    )
    .option('--tokens', 'show the prompt as tokens, one a line')
    .option('--no-generation-prompt', 'leave out the opening of the assistant’s turn');
  addSettingOptions(command, SETTING_NAMES);
  command.action(async (options: RenderOptions) => {
    if (options.batch) await renderBatch(host.in, process.stdout);
    else await render(options, command, host);
  });
};

const render = async (options: RenderOptions, command: Command, host: CommandHost): Promise<void> => {
  if (options.messages === undefined) throw new UsageError('--messages is missing; give a JSON file, - for stdin, or --batch');
  const settings = settingsOf(command, host.env);
  if (settings.model === null) throw new UsageError('--model is missing; give the model’s directory');
  const request = readRequest(await readInput(options.messages, host), options.messages, options.protocol);
  const model = loadModel(settings);
  const prompt = model.renderer.render({ ...request, addGenerationPrompt: options.generationPrompt, nowMs: Date.now() });
  host.out(options.tokens ? tokenLines(model.tokenizer, prompt) : `${prompt}\n`);
};

const readInput = async (file: string, host: CommandHost): Promise<string> => {
  if (file === '-') return readAll(host.in);
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`cannot read ${file}: ${(cause as Error).message}`, { cause });
  }
};

/** A list of Chat messages, or the body of a request. */
const readRequest = (text: string, file: string, protocol: ProtocolName): TurnRequest => {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (cause) {
    if (cause instanceof JsonSyntaxError) throw new UsageError(`cannot use ${file}: ${cause.message}`, { cause });
    throw cause;
  }
  const body = isJsonArray(value) ? new Map([['messages', value]]) : value;
  if (!isJsonObject(body)) throw new UsageError(`cannot use ${file}: it must hold a list of messages or a request`);
  // Names and bounds that only matter for sampling.
  const whole: JsonObject = new Map<string, JsonValue>([['model', ''], ['max_tokens', 1], ...body]);
  return createProtocols({ reasoning: 'reasoning_content' })[protocol].parseRequest(whole, { verifySignature: () => null });
};

const tokenLines = (tokenizer: Tokenizer, text: string): string =>
  Array.from(tokenizer.encode(text), (id) => `${String(id).padStart(7)}  ${JSON.stringify(tokenizer.tokenText(id))}\n`).join('');
