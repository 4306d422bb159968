import { GatewayError } from '../errors.js';

/** Members of a JSON object whose values are not known yet. */
export type Fields = Readonly<Record<string, unknown>>;

const NAMED_TOKENS = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'];

export function asObject(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

export function integerField(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

/** The text of a token that is written as a string or as an AddedToken object. */
export function tokenContent(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const content = asObject(value)?.content;
  return typeof content === 'string' ? content : undefined;
}

/**
 * The template variables that transformers makes of special tokens. `special_tokens_map.json` is the older place:
 * what `tokenizer_config.json` says of a token wins, a `null` there included.
 */
export function readSpecialTokens(map: Fields, config: Fields): Readonly<Record<string, string | readonly string[]>> {
  const merged = { ...map, ...config };
  const tokens: Record<string, string | readonly string[]> = {};
  const named: Fields = {
    ...(asObject(merged.extra_special_tokens) ?? {}),
    ...Object.fromEntries(NAMED_TOKENS.map((n) => [n, merged[n]])),
  };
  for (const [name, value] of Object.entries(named)) {
    const content = tokenContent(value);
    if (content !== undefined) tokens[name] = content;
  }
  const more = merged.additional_special_tokens ?? (Array.isArray(merged.extra_special_tokens) ? merged.extra_special_tokens : undefined);
  if (Array.isArray(more)) {
    const contents = more.map(tokenContent).filter((content) => content !== undefined);
    if (contents.length > 0) tokens.additional_special_tokens = contents;
  }
  return tokens;
}

/**
 * Chat templates by name. A template file wins over the configuration, which holds one text, a list of
 * `{name, template}` or an object from name to text.
 * @throws GatewayError `model_files` for a configuration of another shape.
 */
export function readChatTemplates(
  configFile: string,
  configured: unknown,
  templateFile: string | null,
  namedFiles: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const templates = new Map<string, string>();
  if (templateFile !== null) templates.set('default', templateFile);
  else for (const [name, text] of configuredTemplates(configFile, configured)) templates.set(name, text);
  for (const [name, text] of namedFiles) templates.set(name, text);
  return templates;
}

function configuredTemplates(file: string, value: unknown): readonly (readonly [string, string])[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [['default', value]];
  const entries = Array.isArray(value)
    ? value.map((item) => [asObject(item)?.name, asObject(item)?.template] as const)
    : Object.entries(asObject(value) ?? { '': value });
  return entries.map(([name, text]) => {
    if (typeof name === 'string' && typeof text === 'string') return [name, text];
    const shape = 'a text, a list of {name, template} or an object from name to text';
    throw new GatewayError('model_files', `reading ${file}: \`chat_template\` must be ${shape}`);
  });
}
