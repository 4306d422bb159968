import { describe, expect, it } from 'vitest';
import { jsonEquals } from '../../src/canonical/json-equal.js';
import { isJsonArray, isJsonObject, type JsonValue } from '../../src/canonical/json-value.js';
import { writeJson } from '../../src/canonical/json-write.js';
import type { ParsedReply } from '../../src/families/family.js';
import type { RecognisedFamily } from '../../src/families/probe.js';
import { reasoningOpenAfter } from '../../src/families/template-traits.js';
import { PRINTS, recogniseFixture, renderFixture, TOOLS, TURN_CASES, type TurnCase, WIRE_TOOLS } from './template-fixtures.js';

/** Every template of the fixtures and the grammar that its print shows. */
const FAMILY_OF: Readonly<Record<string, string>> = {
  axolotl__command_a_tool_use: 'json-list',
  axolotl__exaone4: 'hermes',
  axolotl__gemma4: 'gemma4',
  axolotl__llama4: 'llama4',
  axolotl__qwen3: 'hermes',
  lenml__deepseek_v3: 'deepseek-v3',
  lenml__gemma3: 'text',
  lenml__llama3_2: 'llama3-json',
  lenml__mistral_nemo: 'mistral',
  lenml__qwen3: 'hermes',
  'llamacpp__DeepSeek-V3.1': 'deepseek-v3.1',
  'llamacpp__Kimi-K2-Thinking': 'kimi-k2',
  'llamacpp__Mistral-Small-3.1': 'mistral',
  'minja__Qwen3-Coder-30B-A3B-Instruct': 'qwen3-coder',
  own__dsml: 'deepseek-dsml',
  own__function_gemma: 'function-gemma',
  own__lfm2: 'lfm2',
  own__llama3_pythonic: 'llama3-pythonic',
  own__minimax_m3: 'minimax-m3',
  own__mistral_args: 'mistral-args',
  trl__glm4moe: 'glm-4.5',
  trl__gptoss: 'harmony',
  trl__nemotron_3_nano: 'qwen3-coder',
  trl__nemotron_3_ultra: 'qwen3-coder',
  trl__qwen3_5_think: 'qwen3-coder',
  trl__qwen3_6: 'qwen3-coder',
  trl__qwen3_instruct_2507: 'hermes',
  'xinf__GLM-4.7': 'glm-4.7',
  'xinf__Kimi-K2.5': 'kimi-k2',
  'xinf__Ling-3.0-tiny': 'ling',
  'xinf__MiniMax-M2': 'minimax-m2',
  'xinf__Qwen3-VL-Thinking': 'hermes',
  'xinf__deepseek-r1-0528': 'deepseek-v3',
  'xinf__glm-5': 'glm-4.7',
  'xinf__seed-oss': 'seed-oss',
};

interface Exception {
  readonly templates: RegExp;
  readonly cases: RegExp;
  /** What becomes of the case before it is printed. */
  readonly loses:
    | 'reasoning'
    | 'words'
    | 'the kind of words'
    | 'all calls but the first'
    | 'null members'
    | 'types of undeclared members'
    | 'backslashes';
  readonly why: string;
}

/** Templates that rewrite a turn: what of a case they do not print, and why. */
const REWRITES: readonly Exception[] = [
  { templates: /gemma4|Kimi/, cases: /^reasoning and words$/, loses: 'reasoning', why: 'reasoning is kept beside calls only' },
  {
    templates: /mistral_nemo|Mistral-Small|llama3_2|llama3_pythonic/,
    cases: /words and a|words and two|words, and|, words/,
    loses: 'words',
    why: 'words beside calls have no place',
  },
  { templates: /gptoss/, cases: /two calls|strings that/, loses: 'all calls but the first', why: 'one call a message' },
  { templates: /gptoss/, cases: /words and (?:a|two)/, loses: 'the kind of words', why: 'words beside a call become reasoning' },
  { templates: /minimax_m3/, cases: /null|nested/, loses: 'null members', why: 'null members are left out' },
  { templates: /minimax_m3/, cases: /two calls|nested/, loses: 'types of undeclared members', why: 'all values are bare text' },
  { templates: /own__lfm2/, cases: /backslash/, loses: 'backslashes', why: 'strings are put between quotes without escapes' },
];

interface Structure {
  readonly content: string;
  readonly reasoning: string | null;
  readonly calls: readonly { readonly name: string; readonly value: JsonValue | undefined }[];
}

function parsePrint(found: RecognisedFamily, prompt: string, text: string): ParsedReply {
  const { family, traits } = found;
  const ends = [...traits.turnEnds, '</s>', ...(traits.turnEnds.length === 0 ? traits.nextTurnOpeners : [])];
  const shown = text.trimEnd();
  const stop = ends.filter((end) => shown.endsWith(end)).map((end) => shown.length - end.length);
  return family.parse({
    text,
    stopStart: Math.min(text.length, ...stop),
    isMarker: () => true,
    reasoningOpen: reasoningOpenAfter(prompt, traits),
    tools: TOOLS,
  });
}

const structureOf = (reply: ParsedReply): Structure => ({
  content: reply.content,
  reasoning: reply.reasoning === '' ? null : reply.reasoning,
  calls: reply.toolCalls.map(({ name, value }) => ({ name, value })),
});

function difference(found: Structure, wanted: Structure): string | null {
  if (found.content !== wanted.content) return `content ${JSON.stringify(found.content)}`;
  if (found.reasoning !== wanted.reasoning) return `reasoning ${JSON.stringify(found.reasoning)}`;
  const equal =
    found.calls.length === wanted.calls.length &&
    found.calls.every((call, index) => {
      const other = wanted.calls[index]!;
      return call.name === other.name && call.value !== undefined && other.value !== undefined && jsonEquals(call.value, other.value);
    });
  return equal
    ? null
    : `calls ${found.calls.map((call) => `${call.name} ${call.value === undefined ? '' : writeJson(call.value)}`).join(', ')}`;
}

/** Templates whose own print does not tell what was said. */
const UNREADABLE: Readonly<Record<string, string>> = {
  axolotl__command_a_tool_use: 'the opening of another turn is always printed',
  lenml__deepseek_v3: 'the section of calls is closed behind every call but the first',
  lenml__gemma3: 'no calls are printed',
};

function wantedOf(name: string, turn: TurnCase): Structure {
  const lost = new Set(REWRITES.filter((entry) => entry.templates.test(name) && entry.cases.test(turn.name)).map((entry) => entry.loses));
  const { traits } = recogniseFixture(name);
  const calls = lost.has('all calls but the first') ? turn.calls.slice(0, 1) : turn.calls;
  return {
    content: lost.has('words') || lost.has('the kind of words') ? '' : turn.content,
    reasoning: lost.has('the kind of words') ? turn.content : traits.reasoningKey === null || lost.has('reasoning') ? null : turn.reasoning,
    calls: calls.map((call) => ({ name: call.name, value: rewritten(call.value, lost) })),
  };
}

function rewritten(value: JsonValue, lost: ReadonlySet<Exception['loses']>, depth = 0): JsonValue {
  if (isJsonArray(value)) return value.map((item) => rewritten(item, lost, depth + 1));
  if (isJsonObject(value)) {
    const members = [...value].filter(([, item]) => item !== null || !lost.has('null members'));
    return new Map(members.map(([key, item]) => [key, rewritten(item, lost, depth + 1)]));
  }
  if (lost.has('backslashes') && typeof value === 'string') return value.replace('\\n', '\n');
  const bare = depth > 1 && typeof value !== 'string' && lost.has('types of undeclared members');
  return bare ? writeJson(value) : value;
}

describe.each(Object.entries(FAMILY_OF))('%s', (name, family) => {
  const found = recogniseFixture(name);
  const prints = PRINTS[name] ?? {};
  const replies = TURN_CASES.flatMap((turn) => {
    const print = prints[turn.name];
    return print !== undefined && 'reply' in print ? [{ turn, title: turn.name, print }] : [];
  });

  it(`is recognised as ${family} by its print`, () => {
    expect(found.family.name).toBe(family);
    expect(found.warning === null).toBe(family !== 'text');
  });

  if (name in UNREADABLE) return;

  it.each(replies)('reads what Python printed: $title', ({ turn, print }) => {
    const reply = parsePrint(found, print.prompt_tail, print.reply);
    expect(difference(structureOf(reply), wantedOf(name, turn))).toBeNull();
    expect(reply.illFormed).toBe(false);
    expect(reply.toolCalls.map((call) => call.error)).toEqual(reply.toolCalls.map(() => null));
  });

  it.each(replies)('prints what it read as the same turn: $title', ({ turn, print }) => {
    const reply = parsePrint(found, print.prompt_tail, print.reply);
    const again = printAgain(name, reply, turn);
    expect(again.startsWith(print.prompt_tail)).toBe(true);
    const second = parsePrint(found, print.prompt_tail, again.slice(print.prompt_tail.length));
    expect(difference(structureOf(second), structureOf(reply))).toBeNull();
  });
});

/** The turn that was read, printed by the template, from the place where the first print's prompt tail begins. */
function printAgain(name: string, reply: ParsedReply, turn: TurnCase): string {
  const { traits } = recogniseFixture(name);
  const render = renderFixture(name);
  const print = PRINTS[name]?.[turn.name];
  const tail = print !== undefined && 'prompt_tail' in print ? print.prompt_tail : '';
  for (const thinking of [undefined, true, false]) {
    for (const content of reply.content === '' ? ['', null] : [reply.content]) {
      const message = new Map<string, JsonValue>([
        ['role', 'assistant'],
        ['content', content],
      ]);
      if (reply.reasoning !== null && reply.reasoning !== '' && traits.reasoningKey !== null)
        message.set(traits.reasoningKey, reply.reasoning);
      const calls = reply.toolCalls.map((call, index) => wireCall(call.name, call.value ?? null, index, name));
      if (calls.length > 0) message.set('tool_calls', calls);
      const context = new Map<string, JsonValue>([
        [
          'messages',
          [
            new Map([
              ['role', 'user'],
              ['content', 'question'],
            ]),
            message,
          ],
        ],
        ['tools', WIRE_TOOLS],
        ['bos_token', '<s>'],
        ['eos_token', '</s>'],
        ['add_generation_prompt', false],
      ]);
      if (thinking !== undefined) for (const key of ['thinking', 'enable_thinking']) context.set(key, thinking);
      const whole = attempt(() => render(context));
      const at = whole?.lastIndexOf(tail) ?? -1;
      if (whole !== null && at >= 0) return whole.slice(at);
    }
  }
  return '';
}

function wireCall(called: string, value: JsonValue, index: number, template: string): JsonValue {
  const args = recogniseFixture(template).traits.argumentsAs === 'dict' ? value : writeJson(value);
  return new Map<string, JsonValue>([
    ['id', /istral/.test(template) ? `abcdefg0${index}` : `functions.${called}:${index}`],
    ['type', 'function'],
    [
      'function',
      new Map([
        ['name', called],
        ['arguments', args],
      ]),
    ],
  ]);
}

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}
