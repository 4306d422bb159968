import { jsonEquals } from '../canonical/json-equal.js';
import type { JsonObject } from '../canonical/json-value.js';
import type { AssistantMessage, Message, ToolCall, ToolDefinition } from '../canonical/message.js';
import { GatewayError } from '../errors.js';
import type { Family, ParsedReply } from '../families/family.js';
import { MessageClosers } from './message-closers.js';
import { PromptMemory, textEndOf } from './prompt-memory.js';
import type { Conversation, Renderer } from './renderer.js';
import type { Tokenizer } from './tokenizer.js';

export type HistoryPolicy = 'auto' | 'verbatim' | 'rerender';

/** The last sampled turn on the path of a new prompt. */
export interface RecordedTurn {
  /** Index of its message in the new history. */
  readonly messageIndex: number;
  /** Left by the render of that turn's prompt, its last one; `null` when it is no longer held. */
  readonly memory: PromptMemory | null;
  readonly outputIds: Int32Array;
  /** How many output tokens at the end are its stop token: 0 or 1. */
  readonly stopTokens: number;
  /** Whether the stop token closes a call, and so is a part of the reply that no proof may leave out. */
  readonly stopEndsCall: boolean;
  readonly message: AssistantMessage;
  /** Whether a prompt with this text leaves reasoning open. */
  readonly reasoningOpen: (promptText: string) => boolean;
}

export interface PromptToBuild {
  /** The history in its stored spelling. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  readonly templateKwargs: JsonObject;
  readonly nowMs: number;
  readonly policy: HistoryPolicy;
  /** `null` where nothing on the path was sampled. */
  readonly base: RecordedTurn | null;
}

/** How the prompt continues what was sampled; the words of the tree's counters. */
export type PromptProof = 'root' | 'exact' | 'raw' | 'delta' | 'verbatim' | 'fork_template' | 'rerender';

export interface BuiltPrompt {
  readonly proof: PromptProof;
  /** The end of what the template says. */
  readonly textEnd: string;
  /** For the next turn on this branch; `null` where renders are not remembered. */
  readonly memory: PromptMemory | null;
  /** Trailing output tokens of the base that the prompt leaves out: its stop token, where the template says another. */
  readonly droppedTokens: number;
  /** Whether the base's prompt and output stand before `tail`; else `tail` is the whole prompt. */
  readonly continues: boolean;
  /** The text that is still to be encoded; it starts at a token's border. */
  readonly tail: string;
  /** The text of the base's stop token where it stands right before `tail`, else empty. Tokenizers have tokens that take in what stands behind them. */
  readonly stopText: string;
}

/**
 * Decides what the engine gets. Proofs that the template still says what was sampled, cheapest first (policy `auto`):
 * the text begins with the recorded text (`exact`); it does when the template is given the raw sampled text (`raw`);
 * the difference of two renders around the new messages says the same in another spelling (`delta`). Otherwise the
 * template rewrote the history and the prompt is what it says now (`fork_template`).
 */
export class PromptBuilder {
  readonly #closers: MessageClosers;

  constructor(
    private readonly renderer: Renderer,
    private readonly tokenizer: Tokenizer,
    private readonly family: Family,
    /** Whether renders remember one another; the prompts are the same either way. */
    private readonly remembers: boolean,
  ) {
    this.#closers = new MessageClosers(tokenizer, family.callEnd);
  }

  build(prompt: PromptToBuild): BuiltPrompt {
    const { base } = prompt;
    const whole = conversation(prompt, prompt.messages, true);
    if (base !== null && base.memory !== null && prompt.policy !== 'rerender') {
      const near = this.#continueFrom(base, base.memory, whole);
      if (near !== null) return near;
    }
    const { text, memory } = this.#renderWhole(whole);
    const made = { textEnd: textEndOf(text), memory };
    if (base === null) return { ...made, ...wholePrompt('root', text) };
    if (prompt.policy === 'rerender') return { ...made, ...wholePrompt('rerender', text) };
    const promptText = this.renderer.render(conversation(prompt, prompt.messages.slice(0, base.messageIndex), true));
    const recorded: Recorded = { ...base, ...this.#sampledText(base), index: base.messageIndex, promptText };
    const proofs: readonly (readonly [PromptProof, () => string | null])[] = [
      ['exact', () => exactRest(text, recorded)],
      ['raw', () => this.#rawRest(prompt, text, recorded)],
      ['delta', () => this.#deltaRest(prompt, text, recorded)],
      ['verbatim', () => (prompt.policy === 'verbatim' ? this.#verbatimRest(prompt, recorded) : null)],
    ];
    let dropping: PromptPlan | null = null;
    for (const [proof, restOf] of proofs) {
      const plan = continued(proof, restOf(), recorded);
      if (plan?.droppedTokens === 0) return { ...made, ...plan };
      dropping ??= plan;
      // A stop that the template prints further on was sampled early, and another proof may keep it; any other is not the template's.
      if (dropping !== null && prompt.policy === 'auto' && !dropping.tail.includes(recorded.stopText)) break;
    }
    if (dropping !== null) return { ...made, ...dropping };
    return { ...made, ...wholePrompt('fork_template', text) };
  }

  /**
   * The `exact` proof without the text of the base's prompt: what is reused of its render is all of it, and the new part begins with
   * what was sampled. `null` where that is not so, or cannot be told from the new part alone.
   */
  #continueFrom(base: RecordedTurn, memory: PromptMemory, whole: Conversation): BuiltPrompt | null {
    const baseLength = memory.textLength;
    const { reusedPrefixLength, tail } = this.renderer.renderTail(whole, memory.memo);
    memory.rendered(reusedPrefixLength, tail);
    const { outputText, stopText } = this.#sampledText(base);
    if (reusedPrefixLength !== baseLength || !tail.startsWith(outputText)) return null;
    const { stopTokens, stopEndsCall } = base;
    const plan = continued('exact', tail.slice(outputText.length), { stopText, stopTokens, stopEndsCall });
    if (plan === null || plan.droppedTokens > 0) return null;
    const { proof, droppedTokens, continues } = plan;
    return { proof, textEnd: memory.textEnd, memory, droppedTokens, continues, tail: plan.tail, stopText: plan.stopText };
  }

  #renderWhole(whole: Conversation): { readonly text: string; readonly memory: PromptMemory | null } {
    if (!this.remembers) return { text: this.renderer.render(whole), memory: null };
    const memory = new PromptMemory();
    const { reusedPrefixLength, tail } = this.renderer.renderTail(whole, memory.memo);
    memory.rendered(reusedPrefixLength, tail);
    return { text: tail, memory };
  }

  #sampledText({ outputIds, stopTokens }: RecordedTurn): { readonly outputText: string; readonly stopText: string } {
    const end = outputIds.length - stopTokens;
    return {
      outputText: this.tokenizer.decode(outputIds.subarray(0, end)),
      stopText: stopTokens === 0 ? '' : this.tokenizer.decode(outputIds.subarray(end)),
    };
  }

  #rawRest(prompt: PromptToBuild, text: string, recorded: Recorded): string | null {
    const callEnd = recorded.stopEndsCall ? recorded.stopText : '';
    const outputText = recorded.outputText + callEnd;
    const rawText = this.#attempt(() =>
      this.renderer.renderWithRaw(conversation(prompt, prompt.messages, true), recorded.index, outputText),
    );
    const behind = rawText === null ? null : exactRest(rawText, { ...recorded, outputText });
    if (behind === null) return null;
    const rest = callEnd + behind;
    return text.startsWith(recorded.promptText) && text.endsWith(rest) ? rest : null;
  }

  #deltaRest(prompt: PromptToBuild, text: string, recorded: Recorded): string | null {
    const upTo = this.#attempt(() => this.renderer.render(conversation(prompt, prompt.messages.slice(0, recorded.index + 1), false)));
    if (upTo === null || !upTo.startsWith(recorded.promptText) || !text.startsWith(upTo)) return null;
    const region = upTo.slice(recorded.promptText.length);
    const closer = this.#closers.end(region, recorded.stopText);
    if (closer < 0) return null;
    const parsed = this.family.parse({
      text: region.slice(0, closer + recorded.stopText.length),
      stopStart: closer,
      isMarker: () => true,
      reasoningOpen: recorded.reasoningOpen(recorded.promptText),
      tools: prompt.tools,
    });
    return saysTheSame(parsed, recorded.message) ? region.slice(closer) + text.slice(upTo.length) : null;
  }

  /** Append-only where the template would rewrite: what it prints behind a stand-in for the sampled message. */
  #verbatimRest(prompt: PromptToBuild, recorded: Recorded): string | null {
    const standIn: AssistantMessage = { ...recorded.message, content: STAND_IN, reasoning: null };
    const messages = prompt.messages.map((message, at) => (at === recorded.index ? standIn : message));
    const rendered = this.#attempt(() => this.renderer.render(conversation(prompt, messages, true)));
    const start = rendered?.indexOf(STAND_IN) ?? -1;
    if (rendered === null || start < 0) return null;
    const from = start + STAND_IN.length;
    const upTo = this.#attempt(() => this.renderer.render(conversation(prompt, messages.slice(0, recorded.index + 1), false)));
    const print = upTo?.split(STAND_IN).at(1);
    const isWhole = print !== undefined && rendered.startsWith(print, from);
    // Some templates close a message otherwise while it is the last; without calls its closer is the next special token.
    if (!isWhole && standIn.toolCalls.length > 0) return null;
    const border = from + (isWhole ? print.length : this.#closers.firstEnd(rendered.slice(from)));
    return this.#closers.restBehind(rendered.slice(from, border), rendered.slice(border), recorded);
  }

  /** A template may refuse a history that is only tried; that is no proof, not an error. */
  #attempt(render: () => string): string | null {
    try {
      return render();
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'template_error') return null;
      throw error;
    }
  }
}

type PromptPlan = Omit<BuiltPrompt, 'textEnd' | 'memory'>;

const wholePrompt = (proof: PromptProof, text: string): PromptPlan => ({
  proof,
  droppedTokens: 0,
  continues: false,
  tail: text,
  stopText: '',
});

/**
 * @param rest what follows the sampled text, the stop token included; `null` where that was not proved
 * @returns `null` where nothing is proved
 */
function continued(
  proof: PromptProof,
  rest: string | null,
  { stopText, stopTokens, stopEndsCall }: Pick<Recorded, 'stopText' | 'stopTokens' | 'stopEndsCall'>,
): PromptPlan | null {
  if (rest === null) return null;
  if (rest.startsWith(stopText)) return { proof, droppedTokens: 0, continues: true, tail: rest.slice(stopText.length), stopText };
  return stopEndsCall ? null : { proof, droppedTokens: stopTokens, continues: true, tail: rest, stopText: '' };
}

interface Recorded extends RecordedTurn {
  readonly index: number;
  readonly promptText: string;
  readonly outputText: string;
  readonly stopText: string;
}

/** Private-use letters that no template touches. */
const STAND_IN = '\uE000sampled\uE001';

const conversation = (prompt: PromptToBuild, messages: readonly Message[], addGenerationPrompt: boolean): Conversation => ({
  messages,
  tools: prompt.tools,
  templateKwargs: prompt.templateKwargs,
  addGenerationPrompt,
  nowMs: prompt.nowMs,
});

function exactRest(text: string, recorded: Recorded): string | null {
  const { promptText, outputText } = recorded;
  if (!text.startsWith(promptText) || !text.startsWith(outputText, promptText.length)) return null;
  return text.slice(promptText.length + outputText.length);
}

function saysTheSame(parsed: ParsedReply, message: AssistantMessage): boolean {
  return (
    !parsed.illFormed &&
    (parsed.reasoning ?? '').trim() === (message.reasoning ?? '').trim() &&
    parsed.content.trim() === (message.content ?? '').trim() &&
    parsed.toolCalls.length === message.toolCalls.length &&
    parsed.toolCalls.every((call, index) => sameCall(call.name, call, message.toolCalls[index]))
  );
}

function sameCall(name: string, printed: Pick<ToolCall, 'arguments' | 'value'>, stored: ToolCall | undefined): boolean {
  if (stored === undefined || stored.name !== name) return false;
  if (printed.value === undefined || stored.value === undefined) return printed.arguments === stored.arguments;
  return jsonEquals(printed.value, stored.value);
}
