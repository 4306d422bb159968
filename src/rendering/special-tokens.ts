import { GatewayError } from '../errors.js';
import type { ModelDirectory } from './model-directory.js';
import { asObject, tokenContent } from './model-directory-fields.js';
import type { AddedTokenDefinition, TokenizerDefinition } from './tokenizer-definition.js';

/** A token that is cut out of the text before anything else looks at it. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /** Dropped by decoders that skip special tokens; `<tool_call>` of many models is added and not special. */
  readonly special: boolean;
  /** Looked for in the normalised text instead of the text as given. */
  readonly normalized: boolean;
  /** Takes the whitespace before it, or after it, into its own match. */
  readonly lstrip: boolean;
  readonly rstrip: boolean;
  /** Matches only where no word character touches it. */
  readonly singleWord: boolean;
}

/**
 * The added tokens of a tokenizer with the ids that the Rust crate gives them: a content of the model's vocabulary keeps its
 * id there, another gets the next free one, whatever id the file declares. As in transformers, tokens that only
 * `tokenizer_config.json` knows (`added_tokens_decoder`, then the named special tokens) follow.
 *
 * @param vocabulary id of a token of the model's own vocabulary
 * @param vocabularyCount number of tokens in it
 * @throws GatewayError `model_files` where a declared id cannot be kept: prompts would hold other ids than the model was trained on.
 */
export function readAddedTokens(
  directory: ModelDirectory,
  definition: TokenizerDefinition,
  vocabulary: (content: string) => number | undefined,
  vocabularyCount: number,
): readonly AddedToken[] {
  const byContent = new Map<string, AddedToken>();
  let nextId = vocabularyCount;
  const add = (token: Omit<AddedTokenDefinition, 'id'>, declaredId: number | null, file: string): void => {
    if (token.content === '' || byContent.has(token.content)) return;
    const id = vocabulary(token.content) ?? nextId;
    if (declaredId !== null && id !== declaredId) {
      const where = `reading ${directory.path}/${file}: the added token ${JSON.stringify(token.content)} declares the id ${declaredId}`;
      throw new GatewayError(
        'model_files',
        `${where}, but the tokenizers library gives it ${id}; correct the id or the order of the added tokens`,
      );
    }
    if (id >= nextId) nextId = id + 1;
    const special = token.special ?? false;
    byContent.set(token.content, {
      id,
      content: token.content,
      special,
      normalized: token.normalized ?? !special,
      lstrip: token.lstrip ?? false,
      rstrip: token.rstrip ?? false,
      singleWord: token.single_word ?? false,
    });
  };
  for (const token of definition.added_tokens ?? []) add(token, token.id, 'tokenizer.json');
  for (const [id, token] of configuredTokens(directory)) add(token, id, 'tokenizer_config.json');
  for (const content of Object.values(directory.specialTokens).flat()) add({ content, special: true }, null, 'tokenizer_config.json');
  return [...byContent.values()];
}

/** `added_tokens_decoder` of `tokenizer_config.json`, by id. */
function configuredTokens(directory: ModelDirectory): readonly (readonly [number, Omit<AddedTokenDefinition, 'id'>])[] {
  const entries = Object.entries(asObject(directory.tokenizerConfig.added_tokens_decoder) ?? {});
  return entries
    .map(([id, value]) => {
      const content = tokenContent(value);
      if (content === undefined || !/^\d+$/.test(id)) {
        const shown = JSON.stringify({ [id]: value });
        throw new GatewayError(
          'model_files',
          `reading ${directory.path}/tokenizer_config.json: \`added_tokens_decoder\` has ${shown}; each member must be an id with an object that has \`content\``,
        );
      }
      return [Number(id), { ...asObject(value), content }] as const;
    })
    .sort(([a], [b]) => a - b);
}

/**
 * Whether text of a user could do harm by being this token. Runs of white space (or of its stand-in U+2581, in Gemma’s
 * vocabulary) are ordinary text.
 */
export function isControlToken(token: AddedToken): boolean {
  return /[^\s\u2581]/.test(token.content);
}
