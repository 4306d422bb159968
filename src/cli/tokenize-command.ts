import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import { loadModelDirectory } from '../rendering/model-directory.js';
import { loadTokenizer, type Tokenizer } from '../rendering/tokenizer.js';
import { type CommandHost, UsageError } from './command-host.js';
import { linesOf, writeLines } from './ndjson.js';
import { addSettingOptions, settingsOf } from './setting-options.js';
import { tokenizeBatch } from './tokenize-batch.js';

interface TokenizeOptions {
  readonly batch?: true;
  readonly ids?: true;
}

export const define = (command: Command, host: CommandHost): void => {
  command
    .argument('[text]', 'the text; from stdin where absent')
    .option('--batch', 'NDJSON requests on stdin, {"id","text"} or {"id","ids"}, NDJSON answers on stdout')
    .option('--ids', 'the text is token ids, parted by commas or spaces: show each one’s text and the whole');
  addSettingOptions(command, ['model']);
  command.action(async (text: string | undefined, options: TokenizeOptions) => {
    const settings = settingsOf(command, host.env);
    if (settings.model === null) throw new UsageError('--model is missing; give the model’s directory');
    const tokenizer = loadTokenizer(loadModelDirectory(settings.model));
    if (options.batch) await writeLines(tokenizeBatch(linesOf(host.in), tokenizer), process.stdout);
    else host.out(tokenLines(tokenizer, text ?? (await readAll(host.in)), options.ids === true));
  });
};

const tokenLines = (tokenizer: Tokenizer, text: string, areIds: boolean): string => {
  const ids = areIds ? idsOf(text, tokenizer.vocabularySize) : tokenizer.encode(text);
  const lines = Array.from(ids, (id) => `${String(id).padStart(7)}  ${JSON.stringify(tokenizer.tokenText(id))}\n`);
  return `${lines.join('')}${areIds ? `${tokenizer.decode(ids)}\n` : `${ids.length} tokens\n`}`;
};

const idsOf = (text: string, vocabularySize: number): Int32Array =>
  Int32Array.from(text.split(/[\s,[\]]+/).filter(Boolean), (part) => {
    const id = Number(part);
    if (Number.isInteger(id) && id >= 0 && id < vocabularySize) return id;
    throw new UsageError(`${part} is no token id: it must be a whole number from 0 to ${vocabularySize - 1}`);
  });
