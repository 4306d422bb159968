import type { JsonValue } from '../canonical/json-value.js';
import { isJsonArray, isJsonObject } from '../canonical/json-value.js';
import type { SpawnLink } from '../canonical/trace.js';
import { turnsAbove } from './drift.js';
import { pathTo } from './node.js';
import type { TurnRecord } from './turn.js';

/** The tool call that started a conversation, before rows are numbered. */
export interface Spawn {
  readonly turn: TurnRecord;
  readonly callId: string | null;
  readonly certainty: SpawnLink['certainty'];
}

/** Shorter texts are too common to be evidence when they are only part of a message. */
const CONTAINED_MIN_LENGTH = 16;

/**
 * Links conversations to the tool calls that started them: a text among the call's arguments is a user message before the
 * conversation's first answer, or stands in one as lines of its own. Calls of the conversation itself and calls committed after it
 * began are no candidates. Where several calls fit equally well each conversation gets one of them in order, marked `ambiguous`.
 * @returns by the first turn of a conversation
 */
export function spawnLinks(turns: readonly TurnRecord[]): ReadonlyMap<TurnRecord, Spawn> {
  const calls = turns.flatMap(textsOfCalls);
  const links = new Map<TurnRecord, Spawn>();
  const given = new Set<CallText>();
  for (const child of turns.filter(isOpening).toSorted((a, b) => a.order - b.order)) {
    const openings = pathTo(child.historyEnd).flatMap(({ message }) => (message!.role === 'user' ? [message!.content.trim()] : []));
    const earlier = calls.filter(({ turn }) => turn.commitOrder < child.begunAfter && firstTurn(turn) !== child);
    const exact = earlier.filter(({ text }) => openings.includes(text));
    const fits = exact.length > 0 ? exact : longest(earlier.filter(({ text }) => openings.some((opening) => holdsLines(opening, text))));
    const chosen = fits.find((call) => !given.has(call)) ?? fits[0];
    if (chosen === undefined) continue;
    given.add(chosen);
    const certainty = new Set(fits.map(({ place }) => place)).size > 1 ? 'ambiguous' : exact.length > 0 ? 'exact' : 'contained';
    links.set(child, { turn: chosen.turn, callId: chosen.callId, certainty });
  }
  return links;
}

/** The first turn of the conversation that a turn belongs to. */
export function firstTurn(turn: TurnRecord): TurnRecord {
  let first = turn;
  for (const above of turnsAbove(turn.historyEnd)) first = above;
  return first;
}

interface CallText {
  readonly turn: TurnRecord;
  readonly callId: string | null;
  /** Names the call among all calls. */
  readonly place: string;
  readonly text: string;
}

function textsOfCalls(turn: TurnRecord): CallText[] {
  const { message } = turn.sampled;
  return message.toolCalls.flatMap((call, i) =>
    [...texts(call.value)].map((text) => ({ turn, callId: call.id, place: `${turn.turnId} ${i}`, text: text.trim() })),
  );
}

function* texts(value: JsonValue | undefined): Generator<string> {
  if (typeof value === 'string' && value.trim() !== '') yield value;
  else if (isJsonArray(value)) for (const item of value) yield* texts(item);
  else if (isJsonObject(value)) for (const item of value.values()) yield* texts(item);
}

const isOpening = (turn: TurnRecord): boolean => turnsAbove(turn.historyEnd).next().done === true;

function holdsLines(opening: string, text: string): boolean {
  if (text.length < CONTAINED_MIN_LENGTH) return false;
  for (let at = opening.indexOf(text); at >= 0; at = opening.indexOf(text, at + 1)) {
    const end = at + text.length;
    if ((at === 0 || opening[at - 1] === '\n') && (end === opening.length || opening[end] === '\n')) return true;
  }
  return false;
}

function longest(fits: readonly CallText[]): readonly CallText[] {
  const length = Math.max(...fits.map(({ text }) => text.length));
  return fits.filter(({ text }) => text.length === length);
}
