import { isJsonArray, isJsonObject, JsonFloat, type JsonValue } from '../../src/canonical/json-value.js';
import { compareCodePoints } from '../../src/canonical/json-write.js';
import type { AssistantMessage, Message, ToolCall } from '../../src/canonical/message.js';

/**
 * What a recorder has to do, done the slow and plain way: every turn keeps a full copy of its prompt and of its history, every look-up
 * goes through all turns. Histories are lists of words: a canonical text per message, or `turn:…` for a message that was sampled.
 */
export interface ReferenceTurn {
  readonly id: string;
  readonly order: number;
  readonly committed: number;
  path: string[];
  readonly prompt: readonly number[];
  readonly output: readonly number[];
  readonly logprobs: readonly number[];
  readonly shown: AssistantMessage;
  readonly duplicateOf: string | null;
}

export interface ReferenceRow {
  /** Turn ids, first to last. */
  readonly turns: string[];
  readonly tokens: number[];
  readonly promptLength: number;
}

export interface ReferenceSettings {
  readonly rerender: boolean;
  readonly realignTokensMax: number;
}

export interface ReferencePending {
  readonly id: string;
  readonly order: number;
  path: string[];
  /** Number of leading messages that were known. */
  readonly known: number;
  readonly prompt: readonly number[];
}

export class ReferenceRecorder {
  turns: ReferenceTurn[] = [];
  readonly #open: ReferencePending[] = [];
  #committed = 0;

  constructor(private readonly settings: ReferenceSettings) {}

  /** The history as words. */
  locate(root: string, messages: readonly Message[]): string[] {
    const places = callPlaces(messages);
    const path = [root];
    for (const i of messages.keys()) path.push(this.#word(path, messages, places, i));
    return path;
  }

  #word(path: readonly string[], messages: readonly Message[], places: readonly number[], i: number): string {
    const message = messages[i]!;
    if (message.role === 'assistant') return this.#sampled(path, messages, places, i) ?? canonical(message);
    if (message.role === 'tool') return `tool ${places[i]} ${message.isError} ${solid(message.content)}`;
    return `${message.role} ${solid(message.content)}`;
  }

  #isKnown(path: readonly string[]): boolean {
    return this.turns.some((turn) => startsWith([...turn.path, `turn:${turn.id}`], path));
  }

  /** How many of the messages from `from` on are known below a path, and how many of these were sampled. */
  #reach(
    above: readonly string[],
    messages: readonly Message[],
    places: readonly number[],
    from: number,
  ): { sampled: number; messages: number } {
    const path = [...above];
    const reach = { sampled: 0, messages: 0 };
    for (let i = from; i < messages.length; i++) {
      path.push(this.#word(path, messages, places, i));
      if (!this.#isKnown(path)) break;
      reach.messages++;
      if (path.at(-1)!.startsWith('turn:')) reach.sampled++;
    }
    return reach;
  }

  begin(id: string, order: number, path: string[], prompt: readonly number[]): ReferencePending {
    let known = 0;
    while (known < path.length && this.#isKnown(path.slice(0, known + 1))) known++;
    const pending = { id, order, path: [...path], known, prompt: [...prompt] };
    this.#open.push(pending);
    return pending;
  }

  commit(pending: ReferencePending, output: readonly number[], logprobs: readonly number[], shown: AssistantMessage): void {
    const { id, order, prompt } = pending;
    if (this.settings.rerender && this.settings.realignTokensMax > 0) this.#absorbRewrite(pending);
    const path = [...pending.path];
    const twin = this.turns.find((turn) => same(turn.path, path) && same(turn.prompt, prompt));
    this.turns.push({
      id,
      order,
      committed: this.#committed++,
      path,
      prompt,
      output: [...output],
      logprobs: [...logprobs],
      shown,
      duplicateOf: twin?.id ?? null,
    });
  }

  /** Maximal chains that sampled something of their own, depth first by the time at which turns began. */
  rows(): ReferenceRow[] {
    const chainOf = (turn: ReferenceTurn): ReferenceTurn[] => {
      const link = this.linkOf(turn);
      return link === null ? [turn] : [...chainOf(link.to), turn];
    };
    const chains = this.turns.map(chainOf);
    const isEnd = (chain: ReferenceTurn[]) => !chains.some((other) => other.length > chain.length && startsWith(other, chain));
    const ends = chains.filter(isEnd).sort((a, b) => compareOrders(a, b));
    return ends.map((chain) => {
      const last = chain.at(-1)!;
      return { turns: chain.map((turn) => turn.id), tokens: [...last.prompt, ...last.output], promptLength: chain[0]!.prompt.length };
    });
  }

  /** The turn before this one in its row, and whether its output was written over. */
  linkOf({ prompt, path, output }: ReferenceTurn): { readonly to: ReferenceTurn; readonly realign: boolean } | null {
    const above = path.filter((word) => word.startsWith('turn:')).map((word) => this.turns.find((turn) => `turn:${turn.id}` === word)!);
    const nearest = above.at(-1);
    if (nearest === undefined) return null;
    const clean = above.findLast((turn) => startsWith(prompt, [...turn.prompt, ...turn.output]));
    if (clean === nearest) return { to: nearest, realign: false };
    const inLastOutput = startsWith(prompt, nearest.prompt) && prompt.length > nearest.prompt.length;
    const short = this.settings.rerender && output.length > 0 && output.length < this.settings.realignTokensMax;
    if (inLastOutput && short) return { to: nearest, realign: true };
    return clean === undefined ? null : { to: clean, realign: false };
  }

  #absorbRewrite(pending: ReferencePending): void {
    const { path, known } = pending;
    const above = path.slice(0, known);
    const word = path[known];
    if (word === undefined || !word.startsWith('assistant ')) return;
    const beside = this.turns.filter((turn) => same(turn.path, above));
    const foreign = this.turns.some((turn) => startsWith(turn.path, above) && turn.path[known]?.startsWith('assistant '));
    const [only] = beside;
    if (beside.length !== 1 || foreign || only!.output.length >= this.settings.realignTokensMax) return;
    this.turns = this.turns.filter((turn) => turn !== only);
    const rename = (words: string[]) => words.map((old, i) => (i === known && old === `turn:${only!.id}` ? word : old));
    for (const held of [...this.turns, ...this.#open]) held.path = rename(held.path);
  }

  #sampled(path: readonly string[], messages: readonly Message[], places: readonly number[], at: number): string | undefined {
    const echo = messages[at] as AssistantMessage;
    const here = this.turns.filter((turn) => same(turn.path, path));
    const issued = here.filter(
      (turn) =>
        turn.id === echo.turnHint ||
        turn.shown.toolCalls.some((call) => call.id !== null && echo.toolCalls.some((other) => other.id === call.id)),
    );
    const [named, ...others] = issued;
    if (named !== undefined && others.length === 0 && fits(echo, named.shown, true)) return `turn:${named.id}`;
    const exact = here.filter((turn) => canonical(turn.shown) === canonical(echo));
    const close = here.filter((turn) => !exact.includes(turn) && fits(echo, turn.shown, false));
    const ranked = [...close.map((turn) => [turn, 0] as const), ...exact.map((turn) => [turn, 1] as const)].map(([turn, fit]) => {
      const { sampled, messages: known } = this.#reach([...path, `turn:${turn.id}`], messages, places, at + 1);
      return { turn, rank: [sampled, fit, known] };
    });
    // A reply that was sampled below says more than a fit, a message that is known there says less; later ones win.
    const best = ranked.reduce<(typeof ranked)[number] | undefined>(
      (most, next) => (most === undefined || compareNumbers(next.rank, most.rank) >= 0 ? next : most),
      undefined,
    );
    if (best === undefined) return undefined;
    const alike = close.every((turn) => canonical(turn.shown) === canonical(close[0]!.shown));
    return exact.length > 0 || ranked.length === 1 || best.rank[0]! > 0 || alike ? `turn:${best.turn.id}` : undefined;
  }
}

function compareNumbers(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((x, i) => x !== b[i]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}

/** The place of the call that each message answers, -1 where it answers none. */
function callPlaces(messages: readonly Message[]): number[] {
  let calls: { readonly id: string | null; answered: boolean }[] = [];
  return messages.map((message) => {
    if (message.role === 'assistant') calls = message.toolCalls.map(({ id }) => ({ id, answered: false }));
    if (message.role !== 'tool') return -1;
    const place = calls.findIndex(({ id, answered }) => !answered && (message.toolCallId === null || message.toolCallId === id));
    if (place >= 0) calls[place]!.answered = true;
    return place;
  });
}

function fits(echo: AssistantMessage, shown: AssistantMessage, named: boolean): boolean {
  if (canonical(echo) === canonical(shown)) return true;
  const text = (echo.content ?? '').trim();
  if (text !== (shown.content ?? '').trim() && !(named && text === '' && echo.toolCalls.length > 0)) return false;
  const reasoning = (echo.reasoning ?? '').trim();
  if (reasoning !== '' && reasoning !== (shown.reasoning ?? '').trim()) return false;
  if (echo.toolCalls.length !== shown.toolCalls.length) return false;
  return shown.toolCalls.every((call, i) => {
    const other = echo.toolCalls[i]!;
    if (canonicalCall(call) === canonicalCall(other)) return true;
    return (
      named &&
      call.value === undefined &&
      call.arguments.trim() !== '' &&
      call.id === other.id &&
      [call.name, 'invalid'].includes(other.name)
    );
  });
}

function canonical(message: AssistantMessage): string {
  return `assistant ${JSON.stringify([solid(message.content), solid(message.reasoning), message.toolCalls.map(canonicalCall)])}`;
}

function canonicalCall(call: ToolCall): string {
  const value = call.arguments.trim() === '' ? new Map() : call.value;
  return `${call.name} ${value === undefined ? `text ${call.arguments}` : canonicalJson(value)}`;
}

function canonicalJson(value: JsonValue): string {
  if (value instanceof JsonFloat) return String(value.value + 0);
  if (typeof value === 'number') return String(value + 0);
  if (isJsonArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (isJsonObject(value)) {
    const members = [...value].sort(([a], [b]) => compareCodePoints(a, b));
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join()}}`;
  }
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}

const solid = (text: string | null): string => ((text ?? '').trim() === '' ? '' : text!);

function same<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && startsWith(a, b);
}

function startsWith<T>(whole: readonly T[], start: readonly T[]): boolean {
  return start.length <= whole.length && start.every((item, i) => item === whole[i]);
}

function compareOrders(a: readonly ReferenceTurn[], b: readonly ReferenceTurn[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]!.order - b[i]!.order;
  return a.length - b.length;
}
