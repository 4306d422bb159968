import { parseJson } from '../../src/canonical/json-parse.js';
import type { AssistantMessage, Message, ToolCall, ToolMessage } from '../../src/canonical/message.js';
import type { TraceRecord } from '../../src/canonical/trace.js';
import type { PromptForm } from '../../src/trajectory/drift.js';
import type { PendingTurn } from '../../src/trajectory/pending-turn.js';
import type { RootKey } from '../../src/trajectory/root.js';
import { NO_FACTS, type RowFacts, type RowOptions, rowRecords } from '../../src/trajectory/row-record.js';
import { planRows } from '../../src/trajectory/rows.js';
import type { TrajectoryTree } from '../../src/trajectory/tree.js';
import type { SampledTurn, TurnRecord } from '../../src/trajectory/turn.js';
import { SAMPLING } from './sampling.js';

export const ROOT: RootKey = { model: 'policy', tools: [], templateKwargs: new Map() };
export const TOOLS: RootKey = { ...ROOT, tools: [{ name: 'look', parameters: new Map([['type', 'object']]) }] };

export const system = (content: string): Message => ({ role: 'system', content });
export const user = (content: string): Message => ({ role: 'user', content });
export const assistant = (content: string | null, more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: 'assistant',
  content,
  reasoning: null,
  toolCalls: [],
  ...more,
});
export const tool = (content: string, toolCallId: string | null = null, more: Partial<ToolMessage> = {}): ToolMessage => ({
  role: 'tool',
  content,
  toolCallId,
  name: null,
  isError: false,
  ...more,
});

/** A call as a protocol would read it: `value` is the JSON value of the arguments, `undefined` where they are not JSON. */
export function call(name: string, args: string, id: string | null = null): ToolCall {
  const parsed = (() => {
    try {
      return parseJson(args);
    } catch {
      return undefined;
    }
  })();
  return { id, name, arguments: args, value: parsed };
}

export const ids = (...values: number[]): Int32Array => Int32Array.from(values);

export function sampled(outputIds: Int32Array, message: AssistantMessage, more: Partial<SampledTurn> = {}): SampledTurn {
  return {
    outputIds,
    logprobs: Float32Array.from(outputIds, (id) => logprobOf(id)),
    message,
    shown: message,
    finishReason: 'stop',
    stop: { kind: 'eos', tokenCount: Math.min(1, outputIds.length) },
    stopString: null,
    weightVersions: [],
    engine: 'sim',
    replica: 'http://engine:1',
    engineRequestId: null,
    logprobBasis: 'raw',
    cachedTokens: null,
    queueMs: null,
    firstTokenMs: null,
    engineMs: null,
    illFormed: false,
    flags: [],
    ...more,
  };
}

/** A logprob that tells its token: −id ⁄ 1024, exact in float32. */
export const logprobOf = (id: number): number => -id / 1024;

let clockMs = 1_700_000_000_000;

export interface TurnScript {
  readonly key?: RootKey;
  readonly messages: readonly Message[];
  readonly prompt: Int32Array | PromptForm;
  readonly output: Int32Array;
  readonly reply: AssistantMessage;
  readonly digest?: string;
  readonly more?: Partial<SampledTurn>;
}

export function begin(tree: TrajectoryTree, script: TurnScript): PendingTurn {
  const located = tree.locate(script.key ?? ROOT, script.messages);
  const prompt: PromptForm = script.prompt instanceof Int32Array ? { kind: 'whole', ids: script.prompt } : script.prompt;
  clockMs += 10;
  return tree.begin({
    located,
    prompt,
    digest: script.digest ?? `d${clockMs}`,
    protocol: 'openai-chat',
    sampling: SAMPLING,
    startedAtMs: clockMs,
  });
}

export function commit(pending: PendingTurn, script: Pick<TurnScript, 'output' | 'reply' | 'more'>): TurnRecord {
  pending.finish(sampled(script.output, script.reply, script.more));
  clockMs += 10;
  const result = pending.commit(clockMs);
  if (!result.ok) throw new Error(`commit refused: ${result.reason}`);
  return result.turn;
}

/** A whole turn: begin, finish, commit. */
export const turn = (tree: TrajectoryTree, script: TurnScript): TurnRecord => commit(begin(tree, script), script);

export const FACTS: RowFacts = { ...NO_FACTS, sessionId: 'session', tokenizerHash: 'hash' };
export const OPTIONS: RowOptions = { decode: (tokens) => tokens.join(' ') };

export function rowsOf(
  tree: TrajectoryTree,
  facts: Partial<RowFacts> = {},
  options: Partial<RowOptions> = {},
  maxRowTokens?: number,
): TraceRecord[] {
  return rowRecords(planRows(tree.turns, maxRowTokens), { ...FACTS, ...facts }, { ...OPTIONS, ...options });
}

/** The row's ids with the trained ones in brackets: `1 2 [3 4] 5 [6]`. */
export function picture(row: TraceRecord): string {
  const parts = Array.from(row.token_ids, (id, i) => ({
    id,
    trained: i >= row.prompt_length && row.loss_mask[i - row.prompt_length] === 1,
  }));
  let text = '';
  for (const [i, { id, trained }] of parts.entries()) {
    const before = i > 0 && parts[i - 1]!.trained;
    text += `${before && !trained ? ']' : ''}${i > 0 ? ' ' : ''}${trained && !before ? '[' : ''}${id}`;
  }
  return parts.at(-1)?.trained ? `${text}]` : text;
}

let nextId = 1000;
/** Ids that were used nowhere before. */
export const fresh = (length: number): Int32Array => Int32Array.from({ length }, () => nextId++);

const known = new Map<string, Int32Array>();
/** Ids for a text: fresh for a new one, the same for the same. */
function said(text: string, length: number): Int32Array {
  const before = known.get(text);
  if (before !== undefined) return before;
  const made = fresh(length);
  known.set(text, made);
  return made;
}

/** A conversation of a client with a template that keeps what was said. */
export class Talk {
  readonly messages: Message[];
  last: TurnRecord | null = null;

  constructor(
    readonly tree: TrajectoryTree,
    readonly key: RootKey,
    ...head: Message[]
  ) {
    this.messages = [...head];
  }

  /** Another conversation that has said the same so far. */
  fork(): Talk {
    const copy = new Talk(this.tree, this.key, ...this.messages);
    copy.last = this.last;
    return copy;
  }

  script(reply: AssistantMessage, rewritten = false): TurnScript {
    const name = JSON.stringify([this.key.tools, [...this.key.templateKwargs], this.messages, rewritten], (_, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    );
    const prompt: TurnScript['prompt'] =
      this.last === null || rewritten
        ? said(name, 4)
        : { kind: 'extends', base: this.last, delta: said(`${this.last.turnId} ${name}`, 2), proof: 'exact' };
    return { key: this.key, messages: [...this.messages], prompt, output: fresh(3), reply };
  }

  begin(reply: AssistantMessage): { readonly pending: PendingTurn; readonly end: () => TurnRecord } {
    const script = this.script(reply);
    const pending = begin(this.tree, script);
    return { pending, end: () => this.#take(commit(pending, script), reply) };
  }

  /** One turn. @param rewritten the template renders the history anew */
  answer(reply: AssistantMessage, rewritten = false): TurnRecord {
    return this.#take(turn(this.tree, this.script(reply, rewritten)), reply);
  }

  hear(...messages: Message[]): this {
    this.messages.push(...messages);
    return this;
  }

  #take(record: TurnRecord, reply: AssistantMessage): TurnRecord {
    this.messages.push(reply);
    this.last = record;
    return record;
  }
}
