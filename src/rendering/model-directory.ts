import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { GatewayError } from '../errors.js';
import { asObject, type Fields, integerField, readChatTemplates, readSpecialTokens } from './model-directory-fields.js';
import type { TokenizerDefinition } from './tokenizer-definition.js';

/** What a Hugging Face model directory says about rendering. Plain data; the weights are never looked at. */
export interface ModelDirectory {
  /** Absolute. */
  readonly path: string;
  /** Last part of the path. */
  readonly name: string;
  /** By name; `default` and perhaps `tool_use`, others as named by the directory. Empty for a model without a template. */
  readonly chatTemplates: ReadonlyMap<string, string>;
  /** `bos_token`, `eos_token`, …, `additional_special_tokens`: what a template gets as variables. Absent ones are not there. */
  readonly specialTokens: Readonly<Record<string, string | readonly string[]>>;
  /** End tokens of `generation_config.json`, else of `config.json`; without the tokenizer's own `eos_token`. */
  readonly eosTokenIds: readonly number[];
  /** Tokens of prompt and reply together; `null` where the directory does not say. */
  readonly contextTokens: number | null;
  /** Rows of the embedding by `config.json`. */
  readonly vocabSize: number | null;
  readonly tokenizerConfig: Fields;
  /** First 16 hex digits of the SHA-256 of `tokenizer.json`. */
  readonly tokenizerHash: string;
}

const CONTEXT_FIELDS = ['max_position_embeddings', 'n_positions', 'max_seq_len', 'max_sequence_length', 'seq_length', 'n_ctx'];
/** `model_max_length` of a tokenizer without a limit is 10^30. */
const CONTEXT_TOKENS_MAX = 1e9;

/**
 * Reads a model directory: `tokenizer.json` (only hashed here, see `readTokenizerDefinition`), `tokenizer_config.json`, and where present
 * `chat_template.jinja`, `additional_chat_templates/`, `special_tokens_map.json`, `generation_config.json`, `config.json`.
 * @throws GatewayError `model_files`, naming the file.
 */
export function loadModelDirectory(path: string): ModelDirectory {
  const directory = resolve(path);
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    throw new GatewayError(
      'model_files',
      `reading the model directory ${directory}: it is not a directory; give the folder that holds tokenizer.json`,
    );
  }
  const tokenizerBytes = readBytes(directory, 'tokenizer.json');
  if (tokenizerBytes === null) {
    const hint = 'save the tokenizer with save_pretrained of a fast tokenizer, or copy the file from the hub';
    throw new GatewayError('model_files', `reading ${join(directory, 'tokenizer.json')}: there is no such file; ${hint}`);
  }
  const tokenizerConfig = readJsonFile(directory, 'tokenizer_config.json');
  if (tokenizerConfig === null) {
    const hint = 'copy it from the hub; an object of `eos_token` is enough';
    throw new GatewayError('model_files', `reading ${join(directory, 'tokenizer_config.json')}: there is no such file; ${hint}`);
  }
  const config = readJsonFile(directory, 'config.json') ?? {};
  const textConfig = asObject(config.text_config) ?? {};
  const generationConfig = readJsonFile(directory, 'generation_config.json') ?? {};
  return {
    path: directory,
    name: basename(directory),
    chatTemplates: readChatTemplates(
      join(directory, 'tokenizer_config.json'),
      tokenizerConfig.chat_template ?? readJsonFile(directory, 'chat_template.json')?.chat_template,
      readText(directory, 'chat_template.jinja'),
      readNamedTemplates(directory),
    ),
    specialTokens: readSpecialTokens(readJsonFile(directory, 'special_tokens_map.json') ?? {}, tokenizerConfig),
    eosTokenIds: readEndTokenIds(directory, generationConfig, config, textConfig),
    contextTokens: readContextTokens(config, textConfig, tokenizerConfig),
    vocabSize: integerField(config, 'vocab_size') ?? integerField(textConfig, 'vocab_size') ?? null,
    tokenizerConfig,
    tokenizerHash: createHash('sha256').update(tokenizerBytes).digest('hex').slice(0, 16),
  };
}

/**
 * Parses `tokenizer.json`. The result is large (about ten times the file); the caller lets go of it after building a tokenizer.
 * @throws GatewayError `model_files`
 */
export function readTokenizerDefinition(directory: ModelDirectory): TokenizerDefinition {
  const file = join(directory.path, 'tokenizer.json');
  const value = readJsonFile(directory.path, 'tokenizer.json');
  const model = asObject(value?.model);
  if (value === null || model === undefined || (asObject(model.vocab) === undefined && !Array.isArray(model.vocab))) {
    throw new GatewayError('model_files', `reading ${file}: it has no \`model.vocab\`; it must be a file of the tokenizers library`);
  }
  if (!Array.isArray(value.added_tokens ?? [])) {
    throw new GatewayError('model_files', `reading ${file}: \`added_tokens\` must be a list`);
  }
  return value as unknown as TokenizerDefinition;
}

function readBytes(directory: string, name: string): Buffer | null {
  const file = join(directory, name);
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new GatewayError('model_files', `reading ${file}: ${(error as Error).message}; the gateway must be able to read it`, {
      cause: error,
    });
  }
}

function readText(directory: string, name: string): string | null {
  return readBytes(directory, name)?.toString('utf8') ?? null;
}

function readJsonFile(directory: string, name: string): Fields | null {
  const text = readText(directory, name);
  if (text === null) return null;
  const file = join(directory, name);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const hint = 'the download may be cut short, or it is a pointer of Git LFS; fetch the file again';
    throw new GatewayError('model_files', `reading ${file}: it is not JSON (${(error as Error).message}); ${hint}`, { cause: error });
  }
  const fields = asObject(value);
  if (fields === undefined) throw new GatewayError('model_files', `reading ${file}: it must hold a JSON object`);
  return fields;
}

function readNamedTemplates(directory: string): ReadonlyMap<string, string> {
  const folder = join(directory, 'additional_chat_templates');
  const found = new Map<string, string>();
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return found;
  for (const file of readdirSync(folder).sort()) {
    const text = file.endsWith('.jinja') ? readText(folder, file) : null;
    if (text !== null) found.set(file.slice(0, -'.jinja'.length), text);
  }
  return found;
}

function readEndTokenIds(directory: string, generationConfig: Fields, config: Fields, textConfig: Fields): readonly number[] {
  const sources: readonly (readonly [string, unknown])[] = [
    ['generation_config.json', generationConfig.eos_token_id],
    ['config.json', config.eos_token_id],
    ['config.json', textConfig.eos_token_id],
  ];
  const [name, value] = sources.find(([, ids]) => ids !== undefined && ids !== null) ?? ['', []];
  const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const id of ids) {
    if (Number.isInteger(id) && (id as number) >= 0) continue;
    const shown = JSON.stringify(value);
    throw new GatewayError(
      'model_files',
      `reading ${join(directory, name)}: \`eos_token_id\` is ${shown}; it must be an id or a list of ids`,
    );
  }
  return [...new Set(ids as readonly number[])];
}

function readContextTokens(config: Fields, textConfig: Fields, tokenizerConfig: Fields): number | null {
  for (const fields of [textConfig, config]) {
    for (const name of CONTEXT_FIELDS) {
      const value = integerField(fields, name);
      if (value !== undefined && value > 0) return value;
    }
  }
  const limit = tokenizerConfig.model_max_length;
  return typeof limit === 'number' && limit > 0 && limit < CONTEXT_TOKENS_MAX ? Math.floor(limit) : null;
}
