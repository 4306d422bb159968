import type { JsonObject } from '../canonical/json-value.js';
import type { Family } from './family.js';
import type { FamilyEntry, Recognised, TurnSample } from './family-entry.js';
import { probeContentTags } from './probe-content.js';
import { type PrintedCalls, probeConventions } from './probe-conventions.js';
import { probeReasoning } from './probe-reasoning.js';
import { FAMILIES, TEXT } from './registry.js';
import { plainReply, type ReplyShape } from './reply-shape.js';
import {
  assistantMessage,
  CONTENT_MARK,
  FIRST_TOOL,
  leadingMarker,
  type ProbeTurn,
  type RenderTemplate,
  SECOND_TOOL,
  TemplateProbe,
  USER_MARK,
  userMessage,
} from './template-probe.js';
import type { TemplateTraits } from './template-traits.js';

export interface RecogniseOptions {
  /** Variables of the template beside messages and tools, such as `bos_token` and `eos_token`. */
  readonly variables?: JsonObject;
  /** A family that a setting names; only the template's conventions are probed then. */
  readonly family?: FamilyEntry;
}

export interface RecognisedFamily {
  readonly family: Family;
  readonly traits: TemplateTraits;
  /** The printed turn by which the grammar was known; `null` where the template printed no calls. */
  readonly evidence: string | null;
  /** A sentence for the log where calls cannot be parsed. */
  readonly warning: string | null;
}

/** Turns that show calls, the most telling first; where a template refuses one it is asked with the next. */
const TURNS: readonly ProbeTurn[] = (['dict', 'string'] as const).flatMap((argumentsAs) =>
  (['native', 'short'] as const).flatMap((idStyle) =>
    [2, 1].flatMap((calls) =>
      [
        { content: CONTENT_MARK, reasoning: true },
        { content: CONTENT_MARK, reasoning: false },
        { content: '', reasoning: true },
        { content: null, reasoning: true },
        { content: null, reasoning: false },
      ].map((form) => ({ ...form, calls, argumentsAs, idStyle })),
    ),
  ),
);

/**
 * Finds out which grammar a model writes, by rendering turns through its own chat template and looking at what is
 * printed; names of models play no part. Never throws: a template that prints no calls that we know gives the family
 * `text` and a warning.
 */
export function recogniseFamily(render: RenderTemplate, options: RecogniseOptions = {}): RecognisedFamily {
  const probe = new TemplateProbe(render, options.variables ?? new Map());
  const calls = printedCalls(probe);
  const sample = calls === null ? null : turnSample(probe, calls);
  const { entry, make } = recognise(sample, options.family);

  const reasoning = probeReasoning(probe, calls?.turn ?? null);
  const contentTags = probeContentTags(probe, reasoning.reasoning);
  const shape: ReplyShape = { reasoning: reasoning.reasoning, contentLead: reasoning.contentLead, callLead: '', contentTags };
  const family = make({ ...shape, callLead: sample === null ? '' : callLead(sample.text, make(shape)) });
  const conventions = probeConventions(probe, calls, family, contentTags);
  const traits: TemplateTraits = {
    ...conventions,
    ...reasoning,
    ...(entry.reasoning === undefined ? {} : { reasoning: entry.reasoning }),
    turnEnds: [...new Set([...conventions.turnEnds, ...(entry.turnEnds ?? [])])],
  };
  const warning = entry === TEXT && options.family === undefined ? warningOf(calls) : null;
  return { family, traits, evidence: sample?.text ?? null, warning };
}

function recognise(sample: TurnSample | null, named: FamilyEntry | undefined): Recognised {
  for (const entry of named === undefined ? FAMILIES : [named]) {
    const make = sample === null ? null : entry.recognise(sample);
    if (make !== null) return { entry, make };
  }
  const entry = named ?? TEXT;
  return { entry, make: entry.make };
}

/** The first of {@link TURNS} whose calls the template prints all, else the first of which it prints one. */
function printedCalls(probe: TemplateProbe): PrintedCalls | null {
  let partial: PrintedCalls | null = null;
  for (const turn of TURNS) {
    const text = probe.afterUser({ messages: [userMessage(USER_MARK), assistantMessage(turn)], tools: true });
    if (!text?.includes(FIRST_TOOL)) continue;
    if (turn.calls === 1 || text.includes(SECOND_TOOL)) return { turn, text };
    partial ??= { turn: { ...turn, calls: 1 }, text };
  }
  return partial;
}

function turnSample(probe: TemplateProbe, calls: PrintedCalls): TurnSample {
  const prompt = probe.afterUser({ messages: [userMessage(USER_MARK)], tools: true, generationPrompt: true }) ?? '';
  const plain = assistantMessage({ ...calls.turn, content: CONTENT_MARK, reasoning: false, calls: 0 });
  const plainText = probe.afterUser({ messages: [userMessage(USER_MARK), plain] }) ?? '';
  const at = plainText.lastIndexOf(CONTENT_MARK);
  return {
    text: calls.text.slice(sharedLength(calls.text, prompt)),
    calls: calls.turn.calls,
    turnEnd: at < 0 ? null : leadingMarker(plainText.slice(at + CONTENT_MARK.length)),
  };
}

/** Length of the common beginning, not reaching into a control text. */
function sharedLength(text: string, prompt: string): number {
  if (text.startsWith(prompt)) return prompt.length;
  let length = 0;
  while (length < prompt.length && text[length] === prompt[length]) length++;
  const open = Math.max(text.lastIndexOf('<', length - 1), text.lastIndexOf('[', length - 1));
  return open >= 0 && !/[>\]]/.test(text.slice(open, length)) ? open : length;
}

/** White space between the words and the first call of a print. */
function callLead(text: string, family: Family): string {
  const words = family
    .parse(plainReply(text))
    .spans.find((span) => span.kind === 'content' && text.slice(span.start, span.end).includes(CONTENT_MARK));
  if (words === undefined) return '';
  const lead = text.slice(text.indexOf(CONTENT_MARK, words.start) + CONTENT_MARK.length, words.end);
  return lead.trim() === '' ? lead : '';
}

const warningOf = (calls: PrintedCalls | null): string =>
  calls === null
    ? 'The chat template prints no tool calls, so calls in replies are not parsed and reach the agent as text.'
    : 'The chat template prints tool calls in a grammar that is not known, so calls in replies are not parsed and reach the agent as text.';
