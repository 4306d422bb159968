import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseJson } from '../../src/canonical/json-parse.js';
import type { AssistantMessage, Message, ToolDefinition } from '../../src/canonical/message.js';
import type { ProtocolName } from '../../src/canonical/turn.js';
import { resolveSettings } from '../../src/config-load.js';
import { type LoadedModel, loadModel } from '../../src/rendering/model.js';
import { preparePrompt } from '../../src/shard/begin-turn.js';
import { formReply } from '../../src/shard/form-reply.js';
import { implicitSession, Session } from '../../src/shard/session.js';
import type { ShardContext } from '../../src/shard/shard-context.js';
import type { TurnCall } from '../../src/shard/turn-call.js';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';
import { type Reply, replyIds } from '../../src/sim/reply.js';
import { SimVocabulary } from '../../src/sim/vocabulary.js';
import { createMetrics } from '../../src/telemetry/metrics.js';
import type { HistoryPolicy } from '../../src/trainer/calls.js';
import type { PendingTurn } from '../../src/trajectory/pending-turn.js';
import { generateResult, shardContext, turnRequest } from './hand-made-turn.js';
import { SAMPLING } from './sampling.js';

export interface SeenTurn {
  readonly promptIds: Int32Array;
  readonly outputIds: Int32Array;
  readonly logprobs: Float32Array;
  committed: boolean;
}

const vocabulary = new SimVocabulary(SIM_MODEL_DIR);
const metrics = createMetrics('test');
metrics.stop();

/** The embedded tokenizer behind another chat template. */
export const modelWithTemplate = (template: string, renderMemo: boolean): LoadedModel =>
  changedModel((directory) => writeFileSync(join(directory, 'chat_template.jinja'), template), renderMemo);

/** The embedded model with an added token that strips white space beside it. */
export const modelWithStrippingToken = (content: string, side: 'lstrip' | 'rstrip', renderMemo: boolean): LoadedModel =>
  changedModel((directory) => {
    const file = join(directory, 'tokenizer.json');
    const definition = JSON.parse(readFileSync(file, 'utf8')) as { added_tokens: Record<string, unknown>[] };
    definition.added_tokens.find((token) => token.content === content)![side] = true;
    writeFileSync(file, JSON.stringify(definition));
  }, renderMemo);

/** The embedded model after a change to a copy of its directory. */
function changedModel(change: (directory: string) => void, renderMemo: boolean): LoadedModel {
  const directory = mkdtempSync(join(tmpdir(), 'rollout-gateway-temper-'));
  try {
    cpSync(SIM_MODEL_DIR, directory, { recursive: true });
    change(directory);
    return loadModel({ ...resolveSettings({}), model: directory, renderMemo });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export const embeddedTemplate = (): string => readFileSync(join(SIM_MODEL_DIR, 'chat_template.jinja'), 'utf8');

/** One session without threads, sockets or an engine: turns are prepared, sampled by hand and settled. */
export class HistoryWorld {
  readonly session: Session;
  readonly seen: SeenTurn[] = [];
  readonly #context: ShardContext;

  constructor(
    readonly model: LoadedModel,
    policy: HistoryPolicy,
  ) {
    const settings = resolveSettings({ history: policy });
    this.session = new Session({ ...implicitSession('world'), history: policy }, settings, 1_750_000_000_000, true);
    this.#context = shardContext({ settings, model, metrics, contextTokens: () => 1_000_000 });
  }

  /** Prepares and begins a turn; `null` where the template refuses the history. */
  async begin(messages: readonly Message[], tools: readonly ToolDefinition[], protocol: ProtocolName): Promise<OpenTurn> {
    const request = turnRequest({ protocol, messages, tools });
    const prepared = await preparePrompt(this.session, request, this.#context, 'take');
    const sampling = { ...SAMPLING, maxTokens: 1000, stopTokenIds: this.model.stopTokenIds };
    const pending = this.session.tree.begin({
      located: prepared.located,
      prompt: prepared.form,
      digest: `${this.seen.length}`,
      protocol,
      sampling,
      startedAtMs: 0,
    });
    const fresh = this.model.renderer.render({
      messages: prepared.located.messages,
      tools,
      templateKwargs: new Map(),
      addGenerationPrompt: true,
      nowMs: this.session.openedAtMs,
    });
    const turn = { request, session: this.session, context: this.#context, receivedAtMs: 0 } as unknown as TurnCall;
    return { world: this, turn, pending, prepared, sampling, promptIds: pending.promptIds(), fresh };
  }

  /** The engine says a reply; `cut` ends it early by length. */
  finish(open: OpenTurn, reply: Reply, cut: number | null, logprob: () => number): AssistantMessage {
    const whole = replyIds(reply, vocabulary, false);
    const ids = cut === null ? [...whole, [...this.model.endTokenIds][0]!] : whole.slice(0, Math.max(1, cut));
    const outputIds = Int32Array.from(ids);
    const logprobs = Float32Array.from(ids, logprob);
    const result = generateResult(outputIds, logprobs, cut === null ? { finish: { kind: 'stop', matched: null } } : {});
    const times = { replica: 'r', queueMs: 0, engineMs: 0, firstTokenMs: null };
    const formed = formReply(open.turn, open.pending, open.prepared.built.textEnd, open.sampling, result, times);
    open.pending.finish(formed.sampled);
    this.seen.push({ promptIds: open.promptIds, outputIds, logprobs, committed: false });
    return formed.reply.message;
  }

  commit(open: OpenTurn, at: number): void {
    const committed = open.pending.commit(at);
    if (!committed.ok) throw new Error(`not committed: ${committed.reason}`);
    if (open.prepared.built.memory !== null) this.session.keepMemory(committed.turn, open.prepared.built.memory);
    this.seen[at]!.committed = true;
  }
}

export interface OpenTurn {
  readonly world: HistoryWorld;
  readonly turn: TurnCall;
  readonly pending: PendingTurn;
  readonly prepared: Awaited<ReturnType<typeof preparePrompt>>;
  readonly sampling: Parameters<typeof formReply>[3];
  readonly promptIds: Int32Array;
  /** What the template says of the stored history, rendered without any memory. */
  readonly fresh: string;
}

export const toolArguments = (text: string): { readonly arguments: string; readonly value: ReturnType<typeof parseJson> | undefined } => {
  try {
    return { arguments: text, value: parseJson(text) };
  } catch {
    return { arguments: text, value: undefined };
  }
};
