import { parseJson } from '../canonical/json-parse.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../canonical/json-value.js';
import type { Settings } from '../config.js';
import { GatewayError } from '../errors.js';
import type { Family } from '../families/family.js';
import { type RecognisedFamily, recogniseFamily } from '../families/probe.js';
import { FAMILIES, familyNamed } from '../families/registry.js';
import { reasoningOpenAfter, type TemplateTraits } from '../families/template-traits.js';
import { localTime } from '../jinja/strftime.js';
import { compileTemplate, TemplateFailure } from '../jinja/template.js';
import { ChatTemplateRenderer } from './chat-template-renderer.js';
import { probeEmptyContent } from './empty-content.js';
import { loadModelDirectory, type ModelDirectory } from './model-directory.js';
import { PromptBuilder } from './prompt-builder.js';
import { textEndOf } from './prompt-memory.js';
import type { Renderer } from './renderer.js';
import { ROLE_COLON_STOP, RoleColonRenderer } from './role-colon-renderer.js';
import { SpecialMarks } from './special-marks.js';
import { isControlToken } from './special-tokens.js';
import { TemplateInput } from './template-input.js';
import { loadTokenizer, type Tokenizer } from './tokenizer.js';

/** A model as the gateway uses it: how to render for it, how to read it, where it stops. One per shard. */
export interface LoadedModel {
  readonly directory: ModelDirectory;
  readonly tokenizer: Tokenizer;
  readonly renderer: Renderer;
  readonly family: Family;
  readonly prompts: PromptBuilder;
  /** End tokens of the model's configuration. */
  readonly endTokenIds: ReadonlySet<number>;
  /** All tokens that sampling stops at: the end tokens and those by which the template closes a turn. */
  readonly stopTokenIds: readonly number[];
  /** Stop strings that every turn needs, for models without an end token of their own. */
  readonly stopStrings: readonly string[];
  /** The token that ends one tool call, `null` where the grammar ends it with letters. */
  readonly callEndTokenId: number | null;
  /** Takes the marks of users' special-token strings out of a rendered text, `null` where none are set. */
  readonly marks: SpecialMarks | null;
  /** Whether a prompt with this end leaves reasoning open. */
  readonly reasoningOpen: (promptText: string) => boolean;
  /** What probing found in the chat template, `null` for a coded renderer. */
  readonly recognised: RecognisedFamily | null;
  /** What an operator should know, such as a grammar that was not recognised. */
  readonly warning: string | null;
}

export type ModelSettings = Pick<
  Settings,
  'model' | 'family' | 'reasoning' | 'templateInput' | 'templateKwargs' | 'specialTokensInText' | 'renderMemo' | 'shortcuts'
>;

/** @throws GatewayError `model_files`, `setting_invalid` */
export function loadModel(settings: ModelSettings): LoadedModel {
  if (settings.model === null)
    throw new GatewayError('setting_invalid', 'Cannot load a model: the setting `model` must name its directory.');
  const directory = loadModelDirectory(settings.model);
  const tokenizer = loadTokenizer(directory);
  const kwargs = parseJson(settings.templateKwargs);
  const templateKwargs: JsonObject = isJsonObject(kwargs) ? kwargs : new Map();
  const override = familyOverride(settings.family);
  if (directory.chatTemplates.size === 0) return codedModel(directory, tokenizer);
  const variables = new Map<string, JsonValue>(Object.entries(directory.specialTokens));
  const source = directory.chatTemplates.get('tool_use') ?? directory.chatTemplates.get('default');
  if (source === undefined) {
    const names = [...directory.chatTemplates.keys()].join(', ');
    throw new GatewayError(
      'model_files',
      `Cannot choose a chat template: ${directory.path} names ${names}; one called "default" is needed.`,
    );
  }
  const template = compileOrRefuse(source);
  const now = (): ReturnType<typeof localTime> => localTime(0);
  const recognised = recogniseFamily((context) => template.render(new Map([...templateKwargs, ...context]), { now }), {
    variables,
    ...(override === undefined ? {} : { family: override }),
  });
  const traits: TemplateTraits = settings.reasoning === 'none' ? { ...recognised.traits, reasoning: null } : recognised.traits;
  const marks =
    settings.specialTokensInText === 'as-hf'
      ? null
      : new SpecialMarks(tokenizer.addedTokens.filter(isControlToken).map((token) => token.content));
  const input = new TemplateInput({
    style: settings.templateInput,
    argumentsAs: traits.argumentsAs,
    takesMidListSystem: traits.takesMidListSystem,
    emptyContent: probeEmptyContent(
      (context) => template.render(new Map([...variables, ...templateKwargs, ...context]), { now }),
      traits.argumentsAs,
    ),
    nineCharacterIds: traits.needsNineCharacterIds,
    marks,
  });
  const renderer = new ChatTemplateRenderer({ templates: directory.chatTemplates, specialTokens: variables, templateKwargs, input });
  const endTokenIds = new Set(tokenizer.endTokenIds);
  const closers = [...traits.turnEnds, ...(traits.turnEnds.length === 0 && !traits.endsWithVariable ? traits.nextTurnOpeners : [])];
  const closerIds = closers.map((text) => tokenizer.idOf(text)).filter((id) => id !== undefined);
  const { family } = recognised;
  return {
    directory,
    tokenizer,
    renderer,
    family,
    prompts: new PromptBuilder(renderer, tokenizer, family, settings.renderMemo && settings.shortcuts),
    endTokenIds,
    stopTokenIds: [...new Set([...endTokenIds, ...closerIds])],
    stopStrings: [],
    marks,
    callEndTokenId: family.callEnd === null ? null : (tokenizer.idOf(family.callEnd) ?? null),
    reasoningOpen: (promptText) => reasoningOpenAfter(textEndOf(promptText), traits),
    recognised,
    warning: recognised.warning,
  };
}

function codedModel(directory: ModelDirectory, tokenizer: Tokenizer): LoadedModel {
  const renderer = new RoleColonRenderer();
  const family = familyNamed('text')!.make({ reasoning: null, contentLead: ' ', callLead: '' });
  const endTokenIds = new Set(tokenizer.endTokenIds);
  return {
    directory,
    tokenizer,
    renderer,
    family,
    prompts: new PromptBuilder(renderer, tokenizer, family, false),
    endTokenIds,
    stopTokenIds: [...endTokenIds],
    stopStrings: [ROLE_COLON_STOP],
    marks: null,
    callEndTokenId: null,
    reasoningOpen: () => false,
    recognised: null,
    warning: 'the model has no chat template: conversations are rendered as "Role: text" and tools are refused',
  };
}

function familyOverride(name: string | null): (typeof FAMILIES)[number] | undefined {
  if (name === null) return undefined;
  const entry = familyNamed(name);
  if (entry === undefined) {
    throw new GatewayError(
      'setting_invalid',
      `Cannot use family "${name}": it must be one of ${FAMILIES.map((family) => family.name).join(', ')}.`,
    );
  }
  return entry;
}

function compileOrRefuse(source: string): ReturnType<typeof compileTemplate> {
  try {
    return compileTemplate(source);
  } catch (error) {
    if (error instanceof TemplateFailure) {
      throw new GatewayError('model_files', `Cannot compile the chat template: ${error.message} (line ${error.line})`, { cause: error });
    }
    throw error;
  }
}
