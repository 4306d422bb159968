import { isJsonArray, type JsonObject } from '../canonical/json-value.js';
import type { SamplingFields } from '../canonical/turn.js';
import { invalidField, isIdle, member, numberOf, optionalBoolean, unsupported } from './request-fields.js';

interface NumberRule {
  readonly field: keyof SamplingFields;
  readonly integer: boolean;
  readonly accepts: (x: number) => boolean;
  readonly expected: string;
}

const rule = (field: keyof SamplingFields, integer: boolean, expected: string, accepts: (x: number) => boolean): NumberRule => ({
  field,
  integer,
  expected,
  accepts,
});
const penalty = (x: number): boolean => x >= -2 && x <= 2;

/** vLLM's names and bounds. Both protocols read all of them. */
const NUMBER_RULES: Readonly<Record<string, NumberRule>> = {
  max_tokens: rule('maxTokens', true, 'a whole number of at least 1', (x) => x >= 1),
  temperature: rule('temperature', false, 'a number of at least 0', (x) => x >= 0),
  top_p: rule('topP', false, 'a number above 0 and at most 1', (x) => x > 0 && x <= 1),
  top_k: rule('topK', true, 'a whole number of at least 1, or -1 or 0 for off', (x) => x >= -1),
  min_p: rule('minP', false, 'a number from 0 to 1', (x) => x >= 0 && x <= 1),
  presence_penalty: rule('presencePenalty', false, 'a number from -2 to 2', penalty),
  frequency_penalty: rule('frequencyPenalty', false, 'a number from -2 to 2', penalty),
  repetition_penalty: rule('repetitionPenalty', false, 'a number above 0', (x) => x > 0),
  seed: rule('seed', true, 'a whole number within ±2^53', () => true),
  min_tokens: rule('minTokens', true, 'a whole number of at least 0', (x) => x >= 0),
};

/** Names of the fields of {@link parseSampling} on the wire. */
export const SAMPLING_NAMES: readonly string[] = Object.keys(NUMBER_RULES);

/** @throws GatewayError naming the field that has the wrong type or lies outside its bounds */
export function parseSampling(body: JsonObject): SamplingFields {
  const sampling: { -readonly [K in keyof SamplingFields]: number } = {};
  for (const [name, { field, integer, accepts, expected }] of Object.entries(NUMBER_RULES)) {
    const value = member(body, name);
    if (value === undefined) continue;
    const x = numberOf(value);
    if (x === undefined || !Number.isFinite(x) || (integer && !Number.isSafeInteger(x)) || !accepts(x)) {
      throw invalidField(name, expected, value);
    }
    sampling[field] = field === 'topK' && x === 0 ? -1 : x;
  }
  return sampling;
}

/** A string or a list of strings. */
export function parseStopStrings(body: JsonObject, name: string): readonly string[] {
  const value = member(body, name);
  if (value === undefined) return [];
  const list = isJsonArray(value) ? value : [value];
  const strings = list.filter((stop): stop is string => typeof stop === 'string' && stop !== '');
  if (strings.length !== list.length) throw invalidField(name, 'a string or a list of strings, none of them empty', value);
  return strings;
}

/** Members by which engines change the sample or the prompt and that the gateway does not pass on. */
const REFUSED: readonly string[] = [
  'allowed_token_ids',
  'audio',
  'bad_words',
  'chat_template',
  'continue_final_message',
  'documents',
  'echo',
  'ebnf',
  'guided_choice',
  'guided_decoding_backend',
  'guided_grammar',
  'guided_json',
  'guided_regex',
  'ignore_eos',
  'include_stop_str_in_output',
  'logit_bias',
  'logits_processors',
  'regex',
  'stop_token_ids',
  'structured_outputs',
  'suffix',
  'thinking_token_budget',
  'truncate_prompt_tokens',
  'use_beam_search',
  'vllm_xargs',
];

/** @throws GatewayError `unsupported_feature` for the first field that would change the sample and cannot be honoured */
export function refuseUnsupported(body: JsonObject): void {
  for (const name of REFUSED) {
    if (!isIdle(body.get(name))) throw unsupported(name, 'it would change what is sampled and cannot be honoured; leave it out');
  }
  for (const name of ['n', 'best_of']) {
    const count = member(body, name);
    if (count !== undefined && numberOf(count) !== 1) throw unsupported(name, 'each request gives one choice; send several requests');
  }
  if (!optionalBoolean(body, 'add_generation_prompt', true)) {
    throw unsupported('add_generation_prompt', 'every request samples a new assistant message; leave it out or send true');
  }
}

/** Arguments that every render passes itself, so that a client cannot. */
const RESERVED_TEMPLATE_ARGUMENTS: readonly string[] = [
  'add_generation_prompt',
  'chat_template',
  'continue_final_message',
  'conversation',
  'documents',
  'messages',
  'tokenize',
  'tools',
];

/** vLLM's `chat_template_kwargs`. */
export function parseTemplateKwargs(body: JsonObject): JsonObject {
  const value = member(body, 'chat_template_kwargs');
  if (value === undefined) return new Map();
  if (!(value instanceof Map)) throw invalidField('chat_template_kwargs', 'an object', value);
  for (const name of RESERVED_TEMPLATE_ARGUMENTS) {
    if (value.has(name)) throw unsupported(`chat_template_kwargs.${name}`, 'the gateway passes it to the template itself');
  }
  return value;
}
