import type { JsonObject, JsonValue } from '../canonical/json-value.js';
import type { ReasoningTags } from './reasoning-split.js';
import {
  assistantMessage,
  CONTENT_MARK,
  type ProbeTurn,
  REASONING_MARK,
  type RenderProbe,
  SECOND_USER_MARK,
  type TemplateProbe,
  toolMessages,
  USER_MARK,
  userMessage,
} from './template-probe.js';
import type { TemplateTraits } from './template-traits.js';

export type ReasoningFindings = Pick<TemplateTraits, 'reasoning' | 'reasoningKey' | 'assistantOpener' | 'contentLead'>;

const KEYS = ['reasoning_content', 'thinking', 'reasoning'] as const;
/** Tags that a template may know of without printing them from a member of the message. */
const KNOWN_TAGS: readonly (readonly [open: string, close: string])[] = [
  ['<think>', '</think>'],
  ['<seed:think>', '</seed:think>'],
  ['<mm:think>', '</mm:think>'],
  ['[THINK]', '[/THINK]'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
];
const MODES = [undefined, true, false] as const;

/** Finds the delimiters of reasoning, the member that holds it, and what a generation prompt leaves to the model. */
export function probeReasoning(probe: TemplateProbe, calls: ProbeTurn | null): ReasoningFindings {
  const prompts = MODES.map(
    (thinking) => probe.afterUser(withMode({ messages: [userMessage(USER_MARK)], generationPrompt: true }, thinking)) ?? '',
  );
  const printed = printedReasoning(probe, calls);
  const tags = (printed === null ? null : tagsAround(printed.text, prompts)) ?? knownTags(probe, prompts, calls);
  return {
    reasoning: tags,
    reasoningKey: printed?.key ?? null,
    assistantOpener: assistantOpener(probe, prompts[0] ?? '', tags),
    contentLead: contentLead(probe, prompts, tags),
  };
}

const withMode = (probe: RenderProbe, thinking: boolean | undefined): RenderProbe =>
  thinking === undefined ? probe : { ...probe, thinking };

/** A print of a turn with reasoning, and the member by which it got there. */
function printedReasoning(probe: TemplateProbe, calls: ProbeTurn | null): { text: string; key: (typeof KEYS)[number] } | null {
  const plain: ProbeTurn = { content: CONTENT_MARK, reasoning: true, calls: 0, argumentsAs: 'dict', idStyle: 'native' };
  const turns: readonly ProbeTurn[] =
    calls === null ? [plain] : [plain, { ...calls, content: CONTENT_MARK, reasoning: true }, { ...calls, content: '', reasoning: true }];
  for (const thinking of [undefined, true]) {
    for (const turn of turns) {
      for (const tail of turn.calls > 0 ? [[], toolMessages(turn)] : [[]]) {
        const print = (message: JsonObject): string | null =>
          probe.afterUser(withMode({ messages: [userMessage(USER_MARK), message, ...tail], tools: turn.calls > 0 }, thinking));
        const message = assistantMessage(turn);
        // A template that prints nothing of a message with all members reads none of them; one that refuses it may take one.
        if (print(message)?.includes(REASONING_MARK) === false) continue;
        for (const key of KEYS) {
          const text = print(onlyKey(message, key));
          if (text?.includes(REASONING_MARK)) return { text, key };
        }
      }
    }
  }
  return null;
}

function onlyKey(message: JsonObject, key: string): JsonObject {
  const copy = new Map<string, JsonValue>(message);
  for (const other of KEYS) if (other !== key) copy.delete(other);
  return copy;
}

const OPEN_TAG = /(<[^<>\s]+>[a-z]*|\[[A-Z_]+\])(\s*)$/;
const CLOSE_TAG = /^(\s*)(<[^<>\s]+>|\[\/?[A-Z_]+\])(\s*)/;

function tagsAround(text: string, prompts: readonly string[]): ReasoningTags | null {
  const at = text.indexOf(REASONING_MARK);
  const open = OPEN_TAG.exec(text.slice(0, at));
  const close = CLOSE_TAG.exec(text.slice(at + REASONING_MARK.length));
  if (open === null || close === null) return null;
  const tag = open[1] ?? '';
  return {
    open: tag,
    close: close[2] ?? '',
    openPad: open[2] ?? '',
    closePad: close[1] ?? '',
    afterPad: close[3] ?? '',
    promptPad: promptPad(prompts, tag) ?? '',
  };
}

/** White space behind an opening tag at the end of a generation prompt; `null` where no prompt opens reasoning. */
function promptPad(prompts: readonly string[], open: string): string | null {
  for (const prompt of prompts) {
    const trimmed = prompt.trimEnd();
    if (trimmed.endsWith(open)) return prompt.slice(trimmed.length);
  }
  return null;
}

/** Tags that a generation prompt ends with, that stand empty before calls, or that the template takes out of old content. */
function knownTags(probe: TemplateProbe, prompts: readonly string[], calls: ProbeTurn | null): ReasoningTags | null {
  const turn = calls === null ? null : probe.afterUser({ messages: [userMessage(USER_MARK), assistantMessage(calls)], tools: true });
  for (const [open, close] of KNOWN_TAGS) {
    const pad = promptPad(prompts, open);
    const inPrompt = pad !== null || prompts.some((prompt) => prompt.trimEnd().endsWith(close));
    const empty = turn?.includes(open + close) === true;
    if (!inPrompt && !empty && !takesOut(probe, open, close)) continue;
    const newlines = !empty && (pad === null || pad !== '');
    return newlines && !prompts.some((prompt) => prompt.endsWith(close))
      ? { open, close, openPad: '\n', closePad: '\n', afterPad: '\n\n', promptPad: pad ?? '' }
      : { open, close, openPad: '', closePad: '', afterPad: '', promptPad: '' };
  }
  return null;
}

function takesOut(probe: TemplateProbe, open: string, close: string): boolean {
  const content = `${open}\n${REASONING_MARK}\n${close}\n\n${CONTENT_MARK}`;
  const message = new Map<string, JsonValue>([
    ['role', 'assistant'],
    ['content', content],
  ]);
  const text = probe.afterUser({ messages: [userMessage(USER_MARK), message, userMessage(SECOND_USER_MARK)] });
  return text?.includes(CONTENT_MARK) === true && !text.includes(REASONING_MARK);
}

/** The generation prompt without what the user's turn ends with and without tags of reasoning. */
function assistantOpener(probe: TemplateProbe, prompt: string, tags: ReasoningTags | null): string {
  const userEnd = probe.afterUser({ messages: [userMessage(USER_MARK)] }) ?? '';
  const opener = prompt.startsWith(userEnd) ? prompt.slice(userEnd.length) : prompt;
  const tag = tags === null ? [] : [opener.indexOf(tags.open), opener.indexOf(tags.close)].filter((at) => at >= 0);
  return tag.length === 0 ? opener : opener.slice(0, Math.min(...tag));
}

/** What the template prints between a prompt that leaves reasoning closed and the answer's content or empty block of reasoning. */
function contentLead(probe: TemplateProbe, prompts: readonly string[], tags: ReasoningTags | null): string {
  const message = new Map<string, JsonValue>([
    ['role', 'assistant'],
    ['content', CONTENT_MARK],
  ]);
  const leads = prompts.map((prompt, index) => {
    if (tags !== null && prompt.trimEnd().endsWith(tags.open)) return null;
    const text = probe.afterUser(withMode({ messages: [userMessage(USER_MARK), message] }, MODES[index]));
    const at = text?.indexOf(CONTENT_MARK) ?? -1;
    if (text === null || at < 0 || !text.startsWith(prompt)) return null;
    const between = text.slice(prompt.length, at);
    const closed = tags !== null && prompt.trimEnd().endsWith(tags.close);
    const block = tags === null ? -1 : between.indexOf(tags.open);
    const lead = block < 0 ? between : between.slice(0, block);
    return lead.trim() === '' ? { lead, closed } : null;
  });
  const known = leads.filter((lead) => lead !== null);
  return (known.find((lead) => lead.closed) ?? known[0])?.lead ?? '';
}
