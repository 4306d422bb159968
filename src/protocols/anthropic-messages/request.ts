import { isJsonObject, type JsonObject, type JsonValue } from '../../canonical/json-value.js';
import type { SystemMessage } from '../../canonical/message.js';
import type { TurnRequest } from '../../canonical/turn.js';
import { GatewayError } from '../../errors.js';
import type { ParseOptions } from '../protocol.js';
import { invalidField, isIdle, member, optionalBoolean, optionalObject, requiredString, unsupported } from '../request-fields.js';
import { PerMemo } from '../request-memo.js';
import { parseSampling, parseStopStrings, parseTemplateKwargs, refuseUnsupported } from '../sampling-fields.js';
import { type KnownEntries, parseHistory } from './history.js';
import { type KnownSystemTexts, knownSystemMessage, systemMessage } from './text.js';
import { type KnownTools, parseTools } from './tools.js';

interface Known {
  readonly entries: KnownEntries;
  readonly tools: KnownTools;
  readonly systemTexts: KnownSystemTexts;
}
const KNOWN = new PerMemo((): Known => ({ entries: new WeakMap(), tools: new WeakMap(), systemTexts: [] }));

/**
 * Reads a Messages request, or the body of count_tokens, which is the same without `max_tokens`. Betas, cache markers,
 * thinking budgets, context edits and unknown members are ignored.
 */
export function parseMessagesRequest(body: JsonObject, options: ParseOptions): TurnRequest {
  refuseThreads(body);
  refuseUnsupported(body);
  refuseForms(body);
  const model = requiredString(body, 'model');
  const known = options.memo === undefined ? undefined : KNOWN.of(options.memo);
  const { byName, split } = parseTools(body, known?.tools);
  const choice = parseToolChoice(member(body, 'tool_choice'));
  const { messages, references } = parseHistory(body.get('messages'), options, byName, known?.entries);
  const tools = split(references);
  return {
    protocol: 'anthropic-messages',
    model,
    messages: [...parseSystem(member(body, 'system') ?? '', known), ...messages],
    tools: tools.head,
    deferredTools: tools.deferred,
    toolChoice: choice.mode,
    parallelToolCalls: byName.size === 0 || choice.parallel,
    templateKwargs: parseTemplateKwargs(body),
    sampling: parseSampling(body),
    stopStrings: parseStopStrings(body, 'stop_sequences'),
    stream: optionalBoolean(body, 'stream', false),
    includeUsage: false,
    returnTokenIds: false,
    topLogprobs: null,
  };
}

const parseSystem = (system: JsonValue, known: Known | undefined): readonly SystemMessage[] =>
  known === undefined ? systemMessage(system, 'system') : knownSystemMessage(system, 'system', known.systemTexts);

/** Only the new messages of a thread are sent, so ignoring the member would sample on a fragment of the history. */
function refuseThreads(body: JsonObject): void {
  if (member(body, 'thread') === undefined) return;
  throw new GatewayError(
    'thread_unsupported_request',
    '`thread` is not supported: send the whole history in `messages` with each request.',
  );
}

function refuseForms(body: JsonObject): void {
  const format = optionalObject(body, 'output_config')?.get('format');
  if (!isIdle(format)) throw unsupported('output_config.format', 'answers cannot be forced into a form; leave it out');
  if (!isIdle(body.get('output_format'))) throw unsupported('output_format', 'answers cannot be forced into a form; leave it out');
  if (!isIdle(body.get('mcp_servers'))) throw unsupported('mcp_servers', 'the gateway runs no tools itself');
  if (!isIdle(body.get('compaction'))) throw unsupported('compaction', 'the gateway does not rewrite histories');
}

function parseToolChoice(value: JsonValue | undefined): { readonly mode: 'auto' | 'none'; readonly parallel: boolean } {
  if (value === undefined) return { mode: 'auto', parallel: true };
  if (!isJsonObject(value)) throw invalidField('tool_choice', 'an object with a `type`', value);
  const type = value.get('type');
  if (type === 'any' || type === 'tool')
    throw unsupported('tool_choice', 'a call cannot be forced; send {"type":"auto"} or {"type":"none"}');
  if (type !== 'auto' && type !== 'none') throw invalidField('tool_choice.type', '"auto" or "none"', type);
  return { mode: type, parallel: !optionalBoolean(value, 'disable_parallel_tool_use', false) };
}
