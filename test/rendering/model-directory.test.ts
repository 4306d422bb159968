import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/errors.js';
import { loadModelDirectory, type ModelDirectory, readTokenizerDefinition } from '../../src/rendering/model-directory.js';
import { loadTokenizer } from '../../src/rendering/tokenizer.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'model-directory-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const TOKENIZER = {
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: null,
  decoder: null,
  model: { type: 'BPE', vocab: { a: 0 }, merges: [] },
};

function directory(files: Readonly<Record<string, unknown>>): ModelDirectory {
  for (const [name, content] of Object.entries({ 'tokenizer.json': TOKENIZER, 'tokenizer_config.json': {}, ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return loadModelDirectory(folder);
}

function failure(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    expect((error as GatewayError).code).toBe('model_files');
    return (error as GatewayError).message;
  }
  throw new Error('nothing was thrown');
}

describe('loadModelDirectory', () => {
  it('names itself, its tokenizer and what it lacks', () => {
    const found = directory({});
    expect(found.path).toBe(folder);
    expect(folder.endsWith(found.name)).toBe(true);
    expect(found.tokenizerHash).toMatch(/^[0-9a-f]{16}$/);
    expect([...found.chatTemplates]).toEqual([]);
    expect(found).toMatchObject({ specialTokens: {}, eosTokenIds: [], contextTokens: null, vocabSize: null });
  });

  it('reads chat templates wherever they stand; a file wins', () => {
    const templates = (files: Readonly<Record<string, unknown>>): unknown => Object.fromEntries(directory(files).chatTemplates);
    expect(templates({ 'tokenizer_config.json': { chat_template: 'x' } })).toEqual({ default: 'x' });
    const list = [
      { name: 'default', template: 'd' },
      { name: 'tool_use', template: 't' },
    ];
    expect(templates({ 'tokenizer_config.json': { chat_template: list } })).toEqual({ default: 'd', tool_use: 't' });
    expect(templates({ 'tokenizer_config.json': { chat_template: { default: 'd', rag: 'r' } } })).toEqual({ default: 'd', rag: 'r' });
    expect(templates({ 'tokenizer_config.json': {}, 'chat_template.json': { chat_template: 'p' } })).toEqual({ default: 'p' });
    expect(templates({ 'tokenizer_config.json': { chat_template: list }, 'chat_template.jinja': 'file' })).toEqual({ default: 'file' });
    expect(templates({ 'additional_chat_templates/tool_use.jinja': 'more', 'additional_chat_templates/README': 'no' })).toEqual({
      default: 'file',
      tool_use: 'more',
    });
  });

  it('reads special tokens as text or object; the configuration wins over the older map', () => {
    const config = {
      bos_token: { __type: 'AddedToken', content: '<s>' },
      eos_token: '</s>',
      pad_token: null,
      additional_special_tokens: ['<a>', { content: '<b>' }],
      extra_special_tokens: { image_token: '<image>' },
    };
    const map = { pad_token: '<pad>', unk_token: '<unk>', eos_token: 'old' };
    expect(directory({ 'tokenizer_config.json': config, 'special_tokens_map.json': map }).specialTokens).toEqual({
      bos_token: '<s>',
      eos_token: '</s>',
      unk_token: '<unk>',
      image_token: '<image>',
      additional_special_tokens: ['<a>', '<b>'],
    });
  });

  it('reads end tokens: the generation configuration, else the model’s', () => {
    expect(directory({ 'config.json': { eos_token_id: 3 } }).eosTokenIds).toEqual([3]);
    expect(directory({ 'config.json': { text_config: { eos_token_id: [4, 4, 5] } } }).eosTokenIds).toEqual([4, 5]);
    expect(directory({ 'generation_config.json': { eos_token_id: [7, 8], temperature: 0.1 } }).eosTokenIds).toEqual([7, 8]);
  });

  it('reads the context and the vocabulary’s size, of the text model where there are several', () => {
    const config = { max_position_embeddings: 10, text_config: { max_position_embeddings: 4096, vocab_size: 99 } };
    expect(directory({ 'config.json': config })).toMatchObject({ contextTokens: 4096, vocabSize: 99 });
    expect(directory({ 'config.json': { n_positions: 1024, vocab_size: 5 } })).toMatchObject({ contextTokens: 1024, vocabSize: 5 });
    expect(directory({ 'config.json': {}, 'tokenizer_config.json': { model_max_length: 512 } }).contextTokens).toBe(512);
    expect(directory({ 'tokenizer_config.json': { model_max_length: 1e30 } }).contextTokens).toBeNull();
  });

  it('names the file that is missing or broken and says what to do', () => {
    expect(failure(() => loadModelDirectory(join(folder, 'none')))).toMatch(/none: it is not a directory; give the folder/);
    expect(failure(() => loadModelDirectory(folder))).toMatch(/tokenizer\.json: there is no such file; save/);
    writeFileSync(join(folder, 'tokenizer.json'), '{');
    expect(failure(() => loadModelDirectory(folder))).toMatch(/tokenizer_config\.json: there is no such file; copy/);
    expect(failure(() => directory({ 'tokenizer_config.json': 'version https://git-lfs' }))).toMatch(
      /tokenizer_config\.json: it is not JSON .*LFS/,
    );
    expect(failure(() => directory({ 'tokenizer_config.json': '[]' }))).toMatch(/must hold a JSON object/);
    expect(failure(() => directory({ 'tokenizer_config.json': { chat_template: 5 } }))).toMatch(/`chat_template` must be/);
    expect(failure(() => directory({ 'generation_config.json': { eos_token_id: 'x' } }))).toMatch(
      /generation_config\.json.*"x".*an id or a list/,
    );
    expect(failure(() => readTokenizerDefinition(directory({ 'generation_config.json': {}, 'tokenizer.json': {} })))).toMatch(
      /model\.vocab/,
    );
    const noList = { ...TOKENIZER, added_tokens: {} };
    expect(failure(() => readTokenizerDefinition(directory({ 'tokenizer.json': noList })))).toMatch(/`added_tokens` must be a list/);
  });
});

describe('loadTokenizer', () => {
  const added = (id: number, content: string): unknown => ({ id, content, special: true });

  it('adds tokens that only the configuration knows, as transformers does', () => {
    const files = {
      'tokenizer.json': { ...TOKENIZER, added_tokens: [added(1, '<x>')], model: { ...TOKENIZER.model, vocab: { a: 0 } } },
      'tokenizer_config.json': { added_tokens_decoder: { 2: { content: '<y>' } }, eos_token: '<z>', bos_token: 'a' },
    };
    const tokenizer = loadTokenizer(directory(files));
    expect(tokenizer.addedTokens.map(({ id, content }) => [id, content])).toEqual([
      [1, '<x>'],
      [2, '<y>'],
      [0, 'a'],
      [3, '<z>'],
    ]);
    expect([...tokenizer.encode('<y>a<z><x>')]).toEqual([2, 0, 3, 1]);
    expect(tokenizer.endTokenIds).toEqual([3]);
  });

  it('refuses ids that the tokenizers library would not give', () => {
    const gap = { 'tokenizer.json': { ...TOKENIZER, added_tokens: [added(5, '<x>')] } };
    expect(failure(() => loadTokenizer(directory(gap)))).toMatch(/"<x>" declares the id 5, .* gives it 1; correct/);
    const config = { 'tokenizer.json': TOKENIZER, 'tokenizer_config.json': { added_tokens_decoder: { 9: { content: '<y>' } } } };
    expect(failure(() => loadTokenizer(directory(config)))).toMatch(/tokenizer_config\.json.*"<y>" declares the id 9/);
    const shape = { 'tokenizer_config.json': { added_tokens_decoder: { 9: 5 } } };
    expect(failure(() => loadTokenizer(directory(shape)))).toMatch(/`added_tokens_decoder` has \{"9":5\}/);
  });

  it('refuses a component that the library does not know', () => {
    const files = { 'tokenizer.json': { ...TOKENIZER, pre_tokenizer: { type: 'Martian' } } };
    expect(failure(() => loadTokenizer(directory(files)))).toMatch(/Martian.*not supported/);
  });
});
