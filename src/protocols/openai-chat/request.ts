import { isJsonObject, type JsonObject, type JsonValue } from '../../canonical/json-value.js';
import type { Message, ToolDefinition } from '../../canonical/message.js';
import type { SamplingFields, TurnRequest } from '../../canonical/turn.js';
import type { ParseOptions } from '../protocol.js';
import {
  invalidField,
  isIdle,
  member,
  numberOf,
  optionalArray,
  optionalBoolean,
  optionalObject,
  requiredString,
  shown,
  unsupported,
} from '../request-fields.js';
import { PerMemo } from '../request-memo.js';
import { parseSampling, parseStopStrings, parseTemplateKwargs, refuseUnsupported } from '../sampling-fields.js';
import { toolDefinition } from '../tool-definition.js';
import { parseMessages } from './messages.js';

/** OpenAI's bound. */
const MAX_TOP_LOGPROBS = 20;

interface Known {
  readonly messages: WeakMap<JsonObject, Message>;
  readonly tools: WeakMap<readonly JsonValue[], readonly ToolDefinition[]>;
}
const KNOWN = new PerMemo((): Known => ({ messages: new WeakMap(), tools: new WeakMap() }));

/** Reads a Chat request. Unknown members are ignored, what would change the sample and cannot be honoured is refused by name. */
export function parseChatRequest(body: JsonObject, { memo }: ParseOptions): TurnRequest {
  const known = memo === undefined ? undefined : KNOWN.of(memo);
  refuseUnsupported(body);
  refuseForms(body);
  const model = requiredString(body, 'model');
  const tools = parseTools(optionalArray(body, 'tools'), known);
  return {
    protocol: 'openai-chat',
    model,
    messages: parseMessages(body.get('messages'), known?.messages),
    tools,
    toolChoice: parseToolChoice(member(body, 'tool_choice')),
    parallelToolCalls: tools.length === 0 || optionalBoolean(body, 'parallel_tool_calls', true),
    templateKwargs: parseTemplateKwargs(body),
    sampling: parseChatSampling(body),
    stopStrings: parseStopStrings(body, 'stop'),
    stream: optionalBoolean(body, 'stream', false),
    includeUsage: optionalBoolean(optionalObject(body, 'stream_options') ?? new Map(), 'include_usage', false),
    returnTokenIds: optionalBoolean(body, 'return_token_ids', false) || optionalBoolean(body, 'return_tokens_as_token_ids', false),
    topLogprobs: parseLogprobs(body),
  };
}

/** Answers in another form than free text, and OpenAI's older way to offer tools. */
function refuseForms(body: JsonObject): void {
  const format = optionalObject(body, 'response_format')?.get('type') ?? 'text';
  if (format !== 'text') throw unsupported('response_format', 'answers cannot be forced into a form; leave it out or send {"type":"text"}');
  const modalities = optionalArray(body, 'modalities');
  if (modalities.some((modality) => modality !== 'text'))
    throw unsupported('modalities', 'answers are text; leave it out or send ["text"]');
  if (member(body, 'web_search_options') !== undefined) throw unsupported('web_search_options', 'the gateway runs no tools itself');
  if (!isIdle(body.get('functions'))) throw unsupported('functions', 'offer functions as `tools`');
  const legacyChoice = member(body, 'function_call') ?? 'auto';
  if (legacyChoice !== 'auto' && legacyChoice !== 'none') throw unsupported('function_call', 'a call cannot be forced');
}

function parseTools(list: readonly JsonValue[], known: Known | undefined): readonly ToolDefinition[] {
  const before = known?.tools.get(list);
  if (before !== undefined) return before;
  const tools = list.map(parseTool);
  known?.tools.set(list, tools);
  return tools;
}

function parseTool(tool: JsonValue, i: number): ToolDefinition {
  const path = `tools[${i}]`;
  if (!isJsonObject(tool)) throw invalidField(path, 'an object', tool);
  const type = member(tool, 'type') ?? 'function';
  if (type !== 'function') throw unsupported(path, `tools of type ${shown(type)} cannot be rendered, only functions`);
  const definition = tool.get('function');
  if (!isJsonObject(definition)) throw invalidField(`${path}.function`, 'an object', definition);
  return toolDefinition(definition, 'parameters', `${path}.function`);
}

function parseToolChoice(choice: JsonValue | undefined): 'auto' | 'none' {
  if (choice === undefined || choice === 'auto') return 'auto';
  if (choice === 'none') return 'none';
  if (choice === 'required' || isJsonObject(choice)) throw unsupported('tool_choice', 'a call cannot be forced; send "auto" or "none"');
  throw invalidField('tool_choice', '"auto" or "none"', choice);
}

/** The smaller of `max_tokens` and its newer name. */
function parseChatSampling(body: JsonObject): SamplingFields {
  const sampling = parseSampling(body);
  const value = member(body, 'max_completion_tokens');
  if (value === undefined) return sampling;
  const limit = numberOf(value);
  if (limit === undefined || !Number.isSafeInteger(limit) || limit < 1) {
    throw invalidField('max_completion_tokens', 'a whole number of at least 1', value);
  }
  return { ...sampling, maxTokens: Math.min(limit, sampling.maxTokens ?? limit) };
}

function parseLogprobs(body: JsonObject): number | null {
  const wanted = optionalBoolean(body, 'logprobs', false);
  const value = member(body, 'top_logprobs');
  if (value === undefined) return wanted ? 0 : null;
  const top = numberOf(value);
  if (top === undefined || !Number.isInteger(top) || top < 0 || top > MAX_TOP_LOGPROBS) {
    throw invalidField('top_logprobs', `a whole number from 0 to ${MAX_TOP_LOGPROBS}`, value);
  }
  if (!wanted && top > 0) throw invalidField('logprobs', 'true where `top_logprobs` is set', body.get('logprobs'));
  return wanted ? top : null;
}
