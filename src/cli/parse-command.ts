import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import { FAMILIES, familyNamed } from '../families/registry.js';
import { localTime } from '../jinja/strftime.js';
import { compileTemplate } from '../jinja/template.js';
import { loadModel } from '../rendering/model.js';
import { type CommandHost, UsageError } from './command-host.js';
import { linesOf, writeLines } from './ndjson.js';
import { BatchParser, type ParseBatchOptions, parseBatch } from './parse-batch.js';
import { addSettingOptions, settingsOf } from './setting-options.js';

interface ParseOptions {
  readonly batch?: true;
  readonly family?: string;
  readonly ids?: true;
  readonly promptTail?: string;
  readonly tools?: string;
  readonly template?: string;
}

export const define = (command: Command, host: CommandHost): void => {
  command
    .argument('[file]', 'file with the reply’s text as sampled, special tokens kept; - or nothing for stdin')
    .option(
      '--batch',
      'NDJSON requests on stdin, {"id","text"|"ids","chat_template"|"template_file"?,"tools"?,"prompt_tail"?,"stop_tokens"?}, NDJSON answers on stdout',
    )
    .option('--ids', 'the file holds token ids instead, parted by commas or spaces')
    .option('--prompt-tail <text>', 'the end of the prompt, which decides whether reasoning is open')
    .option('--tools <file>', 'JSON file with the list of tools')
    .option('--template <file>', 'chat template whose grammar the reply has');
  addSettingOptions(command, ['model', 'family', 'templateInput', 'templateKwargs', 'reasoning']);
  command.action(async (file: string | undefined, options: ParseOptions) => {
    const batch = batchOptions(command, host);
    if (options.batch) await writeLines(parseBatch(linesOf(host.in), batch), process.stdout);
    else host.out(await parse(file ?? '-', options, new BatchParser(batch), host));
  });
};

const batchOptions = (command: Command, host: CommandHost): ParseBatchOptions => {
  const settings = settingsOf(command, host.env);
  const family = settings.family === null ? undefined : familyNamed(settings.family);
  if (settings.family !== null && family === undefined) {
    throw new UsageError(`--family is ${settings.family}, it must be one of ${FAMILIES.map(({ name }) => name).join(', ')}`);
  }
  const now = () => localTime(Date.now());
  return {
    compileTemplate: (source) => {
      const template = compileTemplate(source);
      return (context) => template.render(context, { now });
    },
    ...(family === undefined ? {} : { family }),
    ...(settings.model === null ? {} : { model: loadModel(settings) }),
  };
};

const parse = async (file: string, options: ParseOptions, parser: BatchParser, host: CommandHost): Promise<string> => {
  const reply = file === '-' ? await readAll(host.in) : readText(file);
  const request = {
    ...(options.ids ? { ids: (reply.match(/\d+/g) ?? []).map(Number) } : { text: reply }),
    ...(options.promptTail === undefined ? {} : { prompt_tail: options.promptTail }),
    ...(options.tools === undefined ? {} : { tools: JSON.parse(readText(options.tools)) as unknown }),
    ...(options.template === undefined ? {} : { template_file: options.template }),
  };
  const answer = JSON.parse(parser.answer(JSON.stringify(request))) as ParseAnswer;
  if (!answer.ok) throw new Error(answer.error.message);
  return readable(answer);
};

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`cannot read ${file}: ${(cause as Error).message}`, { cause });
  }
};

type ParseAnswer =
  | { readonly ok: false; readonly error: { readonly message: string } }
  | {
      readonly ok: true;
      readonly family: string;
      readonly reasoning: string | null;
      readonly content: string;
      readonly tool_calls: readonly {
        readonly name: string;
        readonly arguments: string;
        readonly error: { readonly message: string } | null;
      }[];
      readonly ill_formed: boolean;
      readonly spans: readonly { readonly kind: string; readonly start: number; readonly end: number }[];
    };

const readable = (answer: ParseAnswer & { readonly ok: true }): string => {
  const lines = [`family     ${answer.family}${answer.ill_formed ? '  ill-formed' : ''}`];
  lines.push(`reasoning  ${answer.reasoning === null ? 'none' : JSON.stringify(answer.reasoning)}`);
  lines.push(`content    ${JSON.stringify(answer.content)}`);
  for (const call of answer.tool_calls)
    lines.push(`call       ${call.name} ${call.arguments}${call.error === null ? '' : `  (${call.error.message})`}`);
  for (const { kind, start, end } of answer.spans)
    lines.push(`span       ${String(start).padStart(6)} to ${String(end).padEnd(6)} ${kind}`);
  return `${lines.join('\n')}\n`;
};
