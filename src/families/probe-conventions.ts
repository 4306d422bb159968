import { isJsonObject } from '../canonical/json-value.js';
import { writeJson } from '../canonical/json-write.js';
import type { Family } from './family.js';
import { type ContentTags, plainReply } from './reply-shape.js';
import {
  assistantMessage,
  CONTENT_MARK,
  callId,
  FIRST_ARGUMENTS,
  FIRST_TOOL,
  leadingMarker,
  type ProbeTurn,
  RESULT_MARK,
  SECOND_USER_MARK,
  SYSTEM_MARK,
  systemMessage,
  type TemplateProbe,
  toolMessages,
  UNKNOWN_END,
  USER_MARK,
  userMessage,
} from './template-probe.js';
import type { TemplateTraits } from './template-traits.js';

export type Conventions = Pick<
  TemplateTraits,
  | 'argumentsAs'
  | 'keepsArgumentText'
  | 'acceptsToolRole'
  | 'takesMidListSystem'
  | 'printsToolCallIds'
  | 'needsNineCharacterIds'
  | 'turnEnds'
  | 'endsWithVariable'
  | 'nextTurnOpeners'
>;

/** A turn with calls that the template printed. */
export interface PrintedCalls {
  readonly turn: ProbeTurn;
  /** Behind the user's words. */
  readonly text: string;
}

const PLAIN_TURN: ProbeTurn = { content: CONTENT_MARK, reasoning: false, calls: 0, argumentsAs: 'dict', idStyle: 'native' };

/** Finds out what the template takes and how turns end. */
export function probeConventions(probe: TemplateProbe, calls: PrintedCalls | null, family: Family, tags: ContentTags | null): Conventions {
  const turn = calls?.turn ?? PLAIN_TURN;
  const messages = [userMessage(USER_MARK), assistantMessage(turn)];
  const results = toolMessages(turn.calls > 0 ? turn : { ...turn, calls: 1 });
  const withResults = probe.afterUser({ messages: [...messages, ...results], tools: true, generationPrompt: true });
  const ids = [callId(0, FIRST_TOOL, turn.idStyle), callId(0, FIRST_TOOL, turn.idStyle).slice(-9)];
  const ends = turnEnds(probe, calls, family, `${CONTENT_MARK}${tags?.closePad ?? ''}${tags?.close ?? ''}`);
  return {
    argumentsAs: turn.argumentsAs,
    keepsArgumentText: calls !== null && keepsText(probe, calls.turn, family),
    acceptsToolRole: withResults?.includes(RESULT_MARK) ?? false,
    takesMidListSystem: takesMidListSystem(probe),
    printsToolCallIds: ids.some((id) => calls?.text.includes(id) === true || withResults?.includes(id) === true),
    needsNineCharacterIds: calls !== null && turn.idStyle === 'short',
    ...ends,
  };
}

function keepsText(probe: TemplateProbe, turn: ProbeTurn, family: Family): boolean {
  const text = probe.afterUser({ messages: [userMessage(USER_MARK), assistantMessage({ ...turn, argumentsAs: 'string' })], tools: true });
  if (text === null) return false;
  const call = family.parse(plainReply(text)).toolCalls[0];
  return call?.arguments === writeJson(FIRST_ARGUMENTS) && isJsonObject(call.value);
}

function takesMidListSystem(probe: TemplateProbe): boolean {
  const text = probe.afterUser({
    messages: [userMessage(USER_MARK), assistantMessage(PLAIN_TURN), systemMessage(SYSTEM_MARK), userMessage(SECOND_USER_MARK)],
  });
  if (text === null) return false;
  const system = text.indexOf(SYSTEM_MARK);
  return system > text.indexOf(CONTENT_MARK) && system < text.indexOf(SECOND_USER_MARK);
}

function turnEnds(
  probe: TemplateProbe,
  calls: PrintedCalls | null,
  family: Family,
  content: string,
): Pick<TemplateTraits, 'turnEnds' | 'endsWithVariable' | 'nextTurnOpeners'> {
  const plain = endOfTurn(probe, [assistantMessage(PLAIN_TURN)], content);
  const ends = [plain, calls === null ? '' : behindCalls(calls.text, family)].map(leadingMarker);
  const user = endOfTurn(probe, [assistantMessage(PLAIN_TURN), userMessage(SECOND_USER_MARK)], content);
  const tool = calls === null ? '' : resultsBehindCalls(probe, calls, family);
  const own = unique(ends);
  const openers = unique([user, tool].map((text) => leadingMarker(behindEnd(text, own))));
  return { turnEnds: own.filter((end) => end !== UNKNOWN_END), endsWithVariable: own.includes(UNKNOWN_END), nextTurnOpeners: openers };
}

/** What is printed behind the last `mark`. */
function endOfTurn(probe: TemplateProbe, messages: readonly ReturnType<typeof userMessage>[], mark: string): string {
  const text = probe.afterUser({ messages: [userMessage(USER_MARK), ...messages] });
  const at = text?.lastIndexOf(mark) ?? -1;
  return text === null || at < 0 ? '' : text.slice(at + mark.length);
}

/** What the family leaves behind the last call of a print. */
function behindCalls(text: string, family: Family): string {
  const parsed = family.parse(plainReply(text));
  const last = parsed.toolCalls.at(-1);
  if (last === undefined) return '';
  let end = last.end;
  for (const span of parsed.spans) if (span.start === end && span.kind === 'markup') end = span.end;
  const rest = text.slice(end);
  return rest.includes(CONTENT_MARK) ? rest.slice(rest.indexOf(CONTENT_MARK) + CONTENT_MARK.length) : rest;
}

function resultsBehindCalls(probe: TemplateProbe, calls: PrintedCalls, family: Family): string {
  const text = probe.afterUser({
    messages: [userMessage(USER_MARK), assistantMessage(calls.turn), ...toolMessages(calls.turn)],
    tools: true,
  });
  const result = text?.indexOf(RESULT_MARK) ?? -1;
  return text === null || result < 0 ? '' : behindCalls(text.slice(0, result), family);
}

function behindEnd(text: string, ends: readonly string[]): string {
  const marker = leadingMarker(text);
  return marker !== null && ends.includes(marker) ? text.slice(text.indexOf(marker) + marker.length) : text;
}

const unique = (markers: readonly (string | null)[]): readonly string[] => [
  ...new Set(markers.filter((marker): marker is string => marker !== null)),
];
