import type { JsonObject, JsonValue } from '../canonical/json-value.js';
import { writeJson } from '../canonical/json-write.js';

/** A chat template, ready to be rendered. It throws where the template refuses its input. */
export type RenderTemplate = (context: JsonObject) => string;

export const USER_MARK = 'Qx7user';
export const SECOND_USER_MARK = 'Qx7next';
export const CONTENT_MARK = 'Qx7words';
export const REASONING_MARK = 'Qx7thought';
export const RESULT_MARK = 'Qx7result';
export const SYSTEM_MARK = 'Qx7rules';
export const FIRST_TOOL = 'probe_f';
export const SECOND_TOOL = 'probe_g';
/** Printed where a template takes its end token from a variable whose value is not known. */
export const UNKNOWN_END = '<|Qx7end|>';

/** Arguments of every kind; the last member closes with `1.5}}`. */
export const FIRST_ARGUMENTS: JsonObject = new Map<string, JsonValue>([
  ['s', 'a b'],
  ['n', 7],
  ['b', true],
  ['l', ['q']],
  ['o', new Map<string, JsonValue>([['k', 1.5]])],
]);
export const SECOND_ARGUMENTS: JsonObject = new Map<string, JsonValue>([['s', 'c']]);

const object = (members: Record<string, JsonValue>): JsonObject => new Map(Object.entries(members));
const typed = (type: string): JsonObject => object({ type, description: 'd' });

const TOOLS: readonly JsonValue[] = [
  tool(FIRST_TOOL, {
    s: typed('string'),
    n: typed('integer'),
    b: typed('boolean'),
    l: object({ type: 'array', description: 'd', items: typed('string') }),
    o: typed('object'),
  }),
  tool(SECOND_TOOL, { s: typed('string') }),
];

function tool(name: string, properties: Record<string, JsonValue>): JsonObject {
  const parameters = object({ type: 'object', properties: object(properties), required: [] });
  return object({ type: 'function', function: object({ name, description: 'd', parameters }) });
}

export const userMessage = (content: string): JsonObject => object({ role: 'user', content });
export const systemMessage = (content: string): JsonObject => object({ role: 'system', content });

/** What an assistant message of a probe has. */
export interface ProbeTurn {
  readonly content: string | null;
  readonly reasoning: boolean;
  readonly calls: number;
  readonly argumentsAs: 'dict' | 'string';
  readonly idStyle: 'native' | 'short';
}

export function assistantMessage(turn: ProbeTurn): JsonObject {
  const message = new Map<string, JsonValue>([
    ['role', 'assistant'],
    ['content', turn.content],
  ]);
  if (turn.reasoning) for (const key of ['reasoning_content', 'thinking', 'reasoning']) message.set(key, REASONING_MARK);
  const calls = [call(0, FIRST_TOOL, FIRST_ARGUMENTS, turn), call(1, SECOND_TOOL, SECOND_ARGUMENTS, turn)].slice(0, turn.calls);
  if (calls.length > 0) message.set('tool_calls', calls);
  return message;
}

function call(index: number, name: string, args: JsonObject, turn: ProbeTurn): JsonObject {
  const id = callId(index, name, turn.idStyle);
  return object({ id, type: 'function', function: object({ name, arguments: turn.argumentsAs === 'dict' ? args : writeJson(args) }) });
}

/** Kimi's form, or the nine letters and digits that Mistral's templates insist on. */
export const callId = (index: number, name: string, style: ProbeTurn['idStyle']): string =>
  style === 'native' ? `functions.${name}:${index}` : `Qx7call0${index}`;

export function toolMessages(turn: ProbeTurn): readonly JsonObject[] {
  return [FIRST_TOOL, SECOND_TOOL]
    .slice(0, turn.calls)
    .map((name, index) => object({ role: 'tool', tool_call_id: callId(index, name, turn.idStyle), name, content: RESULT_MARK }));
}

export interface RenderProbe {
  readonly messages: readonly JsonObject[];
  readonly tools?: boolean;
  readonly generationPrompt?: boolean;
  /** Given as `enable_thinking` and as `thinking`. */
  readonly thinking?: boolean;
}

/** Renders probes through one template; a refusal is `null`. Every different probe is rendered once. */
export class TemplateProbe {
  constructor(
    private readonly render: RenderTemplate,
    private readonly variables: JsonObject,
  ) {}

  text(probe: RenderProbe): string | null {
    const context = new Map<string, JsonValue>([
      ['bos_token', ''],
      ['eos_token', UNKNOWN_END],
      ['pad_token', ''],
      ['unk_token', ''],
      ...this.variables,
      ['messages', probe.messages],
      ['tools', probe.tools === true ? TOOLS : null],
      ['documents', null],
      ['add_generation_prompt', probe.generationPrompt === true],
    ]);
    if (probe.thinking !== undefined) {
      context.set('enable_thinking', probe.thinking);
      context.set('thinking', probe.thinking);
    }
    try {
      return this.render(context);
    } catch {
      return null;
    }
  }

  /** The text behind the user's words. */
  afterUser(probe: RenderProbe): string | null {
    const text = this.text(probe);
    if (text === null) return null;
    const at = text.lastIndexOf(USER_MARK);
    return at < 0 ? null : text.slice(at + USER_MARK.length);
  }
}

/** The control text at the beginning of `text`, such as `<|im_end|>`, `[/INST]`, `[e~[`; `null` without one. */
export function leadingMarker(text: string): string | null {
  return /^\s*(<[^<>\s]+>|\[[^[\]\s]+\]|\[e~\[)/.exec(text)?.[1] ?? null;
}

/**
 * What opens the calls of a print, `end` being where they begin: the control texts between the words and the calls
 * where nothing else stands there, but for those that close something, else the last one before the calls.
 */
export function callsOpener(text: string, end: number): string | null {
  const words = text.lastIndexOf(CONTENT_MARK, end);
  const between = words < 0 ? '' : text.slice(words + CONTENT_MARK.length, end).trim();
  if (!/^(?:<[^<>\s]+>\s*|\[[^[\]\s]+\]\s*)+$/.test(between)) return trailingMarker(text.slice(0, end));
  return /(?:(?!<\/|\[\/|<\|\/|<[^<>]*END|<[^<>]*end)(?:<[^<>\s]+>|\[[^[\]\s]+\])\s*)*$/.exec(between)?.[0] || trailingMarker(between);
}

/** The control text at the end of `text`. */
export function trailingMarker(text: string): string | null {
  return /(<[^<>\s]+>|\[[^[\]\s]+\])\s*$/.exec(text)?.[1] ?? null;
}
