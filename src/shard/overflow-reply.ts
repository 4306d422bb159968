import type { TurnReply } from '../canonical/turn.js';
import type { PromptForm } from '../trajectory/drift.js';
import { fullIds } from '../trajectory/turn-ids.js';
import type { PreparedPrompt } from './begin-turn.js';
import { countTurn, createdAtSeconds, type TurnCall } from './turn-call.js';

/**
 * A prompt that leaves no room: the dialect's overflow error, or an empty reply that ends by length; nothing is recorded.
 * @param begunAs names the turn where an engine found it out and the head of a stream may be on its way
 */
export function answerOverflow(turn: TurnCall, prepared: PreparedPrompt, limitTokens: number, begunAs: string | null): void {
  const { request, session, protocol, answer, context } = turn;
  countTurn(turn, 'overflow');
  if (context.settings.onContextOverflow === 'error') {
    answer.fail({ code: 'context_length_exceeded', message: protocol.overflowMessage(prepared.promptTokens, limitTokens) });
    return;
  }
  const turnId = begunAs ?? `overflow-${answer.id}`;
  const reply: TurnReply = {
    turnId,
    createdAtSeconds: createdAtSeconds(turn),
    promptTokens: prepared.promptTokens,
    promptIds: () => wholePrompt(prepared.form),
    outputIds: new Int32Array(0),
    logprobs: new Float32Array(0),
    topLogprobs: request.topLogprobs === null ? null : [],
    message: { role: 'assistant', content: '', reasoning: null, toolCalls: [] },
    finishReason: 'length',
    stopString: null,
    cachedTokens: null,
    reasoningTokens: 0,
    signature: () => context.signatures.sign(session.id, turnId),
    tokenText: (id) => context.model.tokenizer.tokenText(id),
  };
  if (request.stream && begunAs === null) answer.openStream(protocol.openStream(request, reply));
  answer.finish(request.stream ? protocol.finishStream(request, reply) : protocol.formatReply(request, reply));
}

function wholePrompt(form: PromptForm): Int32Array {
  if (form.kind === 'whole') return form.ids;
  const base = fullIds(form.base);
  const ids = new Int32Array(base.length + form.delta.length);
  ids.set(base);
  ids.set(form.delta, base.length);
  return ids;
}
