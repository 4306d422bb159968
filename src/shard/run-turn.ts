import type { AssistantMessage, ToolCall } from '../canonical/message.js';
import type { Sampling, TurnReply, TurnRequest } from '../canonical/turn.js';
import type { EngineFailure, GenerateResult } from '../engines/engine.js';
import { GatewayError } from '../errors.js';
import { contentWithoutUnparsed, engineView } from '../families/engine-view.js';
import type { Protocol, StreamOpening } from '../protocols/protocol.js';
import { finishReasonOf, type ReadReply, readReply } from '../rendering/reply-reader.js';
import type { PromptForm } from '../trajectory/drift.js';
import type { PendingTurn } from '../trajectory/pending-turn.js';
import type { SampledTurn } from '../trajectory/turn.js';
import { fullIds } from '../trajectory/turn-ids.js';
import { type PreparedPrompt, preparePrompt, rememberPromptText, turnSampling } from './begin-turn.js';
import type { CallAnswer } from './call-answer.js';
import type { AgentCall } from './messages.js';
import type { Session } from './session.js';
import type { ShardContext } from './shard-context.js';

/**
 * One turn from the parsed request to commit or discard:
 *
 *     identify + render + encode → begin → head → engine → read → finish → reply → written? commit : discard
 *
 * Nothing of the tree changes before the reply was written to an open socket.
 * @throws GatewayError for refusals before the turn began; afterwards failures go to the client and the turn is discarded.
 */
export async function runTurn(
  call: AgentCall,
  digest: string,
  request: TurnRequest,
  session: Session,
  protocol: Protocol,
  answer: CallAnswer,
  context: ShardContext,
): Promise<void> {
  const prepared = await preparePrompt(session, request, context);
  refuseIfOver(session, context);
  const sampling = turnSampling(session, request, prepared.promptTokens, context);
  if (sampling === null) return overflow(session, request, prepared, protocol, answer, context);
  if (answer.gone.aborted) return;
  const pending = session.tree.begin({
    located: prepared.located,
    prompt: prepared.form,
    digest,
    protocol: request.protocol,
    sampling,
    startedAtMs: call.receivedAtMs,
  });
  context.metrics.promptTokensTotal.inc({ source: 'reused' }, prepared.promptTokens - deltaLength(prepared));
  context.metrics.promptTokensTotal.inc({ source: 'encoded' }, deltaLength(prepared));
  const promptIds = pending.promptIds();
  if (request.stream) answer.openStream(protocol.openStream(request, opening(call, session, pending, promptIds, context)));
  else answer.awaitJson();
  await sampleAndAnswer(call, request, session, protocol, answer, context, prepared, pending, promptIds, sampling);
}

async function sampleAndAnswer(
  call: AgentCall,
  request: TurnRequest,
  session: Session,
  protocol: Protocol,
  answer: CallAnswer,
  context: ShardContext,
  prepared: PreparedPrompt,
  pending: PendingTurn,
  promptIds: Int32Array,
  sampling: Sampling,
): Promise<void> {
  const abort = new AbortController();
  holdTurn(pending, answer, () => {
    if (pending.state !== 'running') return;
    session.aborting.add(pending);
    abort.abort();
  });
  const work = context.engine
    .generate({
      model: context.settings.engineModel,
      promptIds,
      sampling,
      topLogprobs: request.topLogprobs ?? 0,
      routingKey: context.signatures.routingKey(session.id),
      sessionId: session.id,
      sessionSinceMs: session.openedAtMs,
      signal: abort.signal,
    })
    .then((outcome) => {
      context.metrics.turnWaitSeconds.observe({ stage: 'queue' }, outcome.queueMs / 1000);
      context.metrics.turnWaitSeconds.observe({ stage: 'engine' }, outcome.engineMs / 1000);
      return outcome;
    });
  const sampled = deferred();
  const ended = deferred();
  const running = { pending, abort: () => abort.abort(), sampled: sampled.promise, ended: ended.promise };
  session.running.add(running);
  try {
    const outcome = await work;
    if (!outcome.ok) {
      pending.discard(answer.gone.aborted ? 'client_gone' : 'engine_failed');
      count(request, context, answer.gone.aborted ? 'client_gone' : 'engine_failed');
      answer.fail(failureValue(outcome.failure, session), request.stream);
      return;
    }
    const { result } = outcome;
    if (result.finish.kind === 'abort') {
      pending.discard(session.state === 'open' ? 'client_gone' : 'session_closed', result.outputIds.length);
      count(request, context, 'aborted');
      answer.fail({ code: 'session_closed', message: 'The session ended while this turn was sampled.' }, request.stream);
      return;
    }
    const reply = form(request, session, result, prepared, promptIds, pending, sampling, outcome, context);
    if (!pending.finish(reply.sampled)) {
      count(request, context, 'session_closed');
      answer.fail({ code: 'session_closed', message: 'The session ended while this turn was sampled.' }, request.stream);
      return;
    }
    context.metrics.tokensTotal.inc({ kind: 'sampled' }, result.outputIds.length);
    if (result.unknownLogprobs > 0) context.metrics.repairedLogprobsTotal.inc(result.unknownLogprobs);
    const reasoned: TurnReply = { ...reply.shown, createdAtSeconds: createdAtSeconds(call) };
    session.replies.set(pending, reasoned);
    sampled.resolve();
    answer.finish(request.stream ? protocol.finishStream(request, reasoned) : protocol.formatReply(request, reasoned));
    await settle(pending, prepared, session, request, answer, context);
  } finally {
    session.running.delete(running);
    sampled.resolve();
    ended.resolve();
  }
}

interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

function deferred(): Deferred {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

/** The call stops holding the turn when its client leaves; `onAbandoned` when no other call holds it. */
export function holdTurn(pending: PendingTurn, answer: CallAnswer, onAbandoned: () => void): void {
  const onGone = (): void => {
    if (pending.release() === 'abandoned') onAbandoned();
  };
  if (answer.gone.aborted) onGone();
  else answer.gone.addEventListener('abort', onGone, { once: true });
}

/** Commits when the reply reached an open socket; else it stays aside for a marked retry, or is discarded. */
export async function settle(
  pending: PendingTurn,
  prepared: Pick<PreparedPrompt, 'built'> | null,
  session: Session,
  request: TurnRequest,
  answer: CallAnswer,
  context: ShardContext,
): Promise<void> {
  const delivered = await answer.delivered;
  if (!delivered) {
    count(request, context, 'client_gone');
    return;
  }
  const before = session.tree.turns.length;
  const committed = pending.commit(Date.now());
  if (!committed.ok) {
    count(request, context, committed.reason === 'closed' ? 'session_closed' : 'discarded');
    return;
  }
  if (session.tree.turns.length === before) {
    count(request, context, 'replayed');
    return;
  }
  const { turn } = committed;
  if (prepared !== null) rememberPromptText(session, turn, prepared.built.text);
  context.metrics.historiesTotal.inc({ cause: turn.outcome });
  context.metrics.tokensTotal.inc({ kind: 'committed' }, turn.sampled.outputIds.length);
  context.journal({ kind: 'commit', sessionId: session.id, turn });
  count(request, context, 'committed');
}

function refuseIfOver(session: Session, context: ShardContext): void {
  if (session.state !== 'open') throw new GatewayError('session_closed', 'The session was finished or deleted: it takes no more turns.');
  const { settings } = context;
  const cap = Math.min(settings.limits.turnsPerSession, session.created.maxTurns ?? Number.POSITIVE_INFINITY);
  if (session.turnsUsed >= cap) {
    throw new GatewayError('turn_limit', `The session has used its ${cap} turns: finish it and start another rollout.`);
  }
  if (session.running.size >= settings.limits.pendingTurns) {
    throw new GatewayError(
      'overloaded',
      `The session has ${session.running.size} turns in work (limits.pendingTurns): wait for one to end.`,
    );
  }
}

const opening = (call: AgentCall, session: Session, pending: PendingTurn, promptIds: Int32Array, context: ShardContext): StreamOpening => ({
  turnId: wireId(session, pending, context),
  createdAtSeconds: createdAtSeconds(call),
  promptIds,
});

/** Names a turn to clients: unlike over sessions, equal when it is replayed. */
export const wireId = (session: Session, pending: PendingTurn, context: ShardContext): string =>
  `${context.signatures.routingKey(session.id).slice(0, 12)}${pending.turnId}`;

const createdAtSeconds = (call: AgentCall): number => Math.floor(call.receivedAtMs / 1000);

const deltaLength = ({ form }: PreparedPrompt): number => (form.kind === 'extends' ? form.delta.length : form.ids.length);

function count(request: TurnRequest, context: ShardContext, outcome: string): void {
  context.metrics.turnsTotal.inc({ protocol: request.protocol, outcome });
}

function failureValue(failure: EngineFailure, session: Session): { code: GatewayError['code']; message: string; retryAfterMs?: number } {
  const message = `The engine did not sample this turn: ${failure.message}`;
  if (session.state !== 'open') return { code: 'session_closed', message: 'The session ended while this turn was sampled.' };
  switch (failure.kind) {
    case 'overloaded':
      return { code: 'overloaded', message, ...(failure.retryAfterMs === null ? {} : { retryAfterMs: failure.retryAfterMs }) };
    case 'context_overflow':
      return { code: 'context_length_exceeded', message };
    case 'invalid_answer':
      return { code: 'engine_invalid_answer', message };
    case 'cancelled':
      return { code: 'client_gone', message };
    default:
      return { code: 'engine_failed', message };
  }
}

function wholePrompt(form: PromptForm): Int32Array {
  if (form.kind === 'whole') return form.ids;
  const base = fullIds(form.base);
  const ids = new Int32Array(base.length + form.delta.length);
  ids.set(base);
  ids.set(form.delta, base.length);
  return ids;
}

interface FormedReply {
  readonly sampled: SampledTurn;
  readonly shown: Omit<TurnReply, 'createdAtSeconds'>;
}

function form(
  request: TurnRequest,
  session: Session,
  result: GenerateResult,
  prepared: PreparedPrompt,
  promptIds: Int32Array,
  pending: PendingTurn,
  sampling: Sampling,
  outcome: { readonly replica: string | null; readonly queueMs: number; readonly engineMs: number; readonly firstTokenMs: number | null },
  context: ShardContext,
): FormedReply {
  const { model } = context;
  const startedMs = performance.now();
  const read = readReply(
    {
      outputIds: result.outputIds,
      finish: result.finish,
      stopStrings: sampling.stopStrings,
      eosTokenIds: model.endTokenIds,
      stopTokenIds: new Set(sampling.stopTokenIds),
      reasoningOpen: model.reasoningOpen(prepared.built.text),
      tools: [...request.tools, ...(request.deferredTools ?? [])],
    },
    model.tokenizer,
    model.family,
  );
  context.metrics.turnStageSeconds.observe({ stage: 'read' }, (performance.now() - startedMs) / 1000);
  const message = assistantMessage(read, session, model.family.nativeIds);
  const shown = shownMessage(message, read, request, context);
  const finishReason = finishReasonOf(read.stop, shown.toolCalls.length);
  // Models without an end token of their own stop at a string that no client asked for.
  const stopString = read.stop.stopString !== null && request.stopStrings.includes(read.stop.stopString) ? read.stop.stopString : null;
  return {
    sampled: {
      outputIds: result.outputIds,
      logprobs: result.logprobs,
      message,
      shown,
      finishReason: finishReason === 'stop_sequence' && stopString === null ? 'stop' : finishReason,
      stop: { kind: read.stop.kind, tokenCount: read.stop.tokenCount },
      stopString,
      weightVersions: result.weightVersions,
      engine: context.engineName,
      replica: outcome.replica ?? '',
      engineRequestId: result.engineRequestId,
      logprobBasis: result.logprobBasis,
      cachedTokens: result.cachedTokens,
      queueMs: outcome.queueMs,
      firstTokenMs: outcome.firstTokenMs,
      engineMs: outcome.engineMs,
      illFormed: read.parsed.illFormed,
      flags: result.flags,
    },
    shown: {
      turnId: wireId(session, pending, context),
      promptIds,
      outputIds: result.outputIds,
      logprobs: result.logprobs,
      topLogprobs: result.topLogprobs,
      message: shown,
      finishReason: finishReason === 'stop_sequence' && stopString === null ? 'stop' : finishReason,
      stopString,
      cachedTokens: result.cachedTokens,
      reasoningTokens: read.reasoningTokens,
      signature: context.signatures.sign(session.id, pending.turnId),
      tokenText: (id) => model.tokenizer.tokenText(id),
    },
  };
}

function assistantMessage(read: ReadReply, session: Session, nativeIds: boolean): AssistantMessage {
  const { parsed } = read;
  const toolCalls = parsed.toolCalls.map(
    (call): ToolCall => ({
      id: nativeIds && call.id !== null ? call.id : session.tree.callIds.issue(Math.random),
      name: call.name,
      arguments: call.arguments,
      value: call.value,
    }),
  );
  const content = parsed.content === '' && toolCalls.length > 0 ? null : parsed.content;
  return { role: 'assistant', content, reasoning: parsed.reasoning, toolCalls };
}

/** What the client sees of a message: as the chosen parser would have read it, without what it asked not to get. */
function shownMessage(
  message: AssistantMessage,
  read: ReadReply,
  request: TurnRequest,
  { settings, model }: ShardContext,
): AssistantMessage {
  const { parsed } = read;
  const view = engineView(parsed, { ...read, tools: request.tools }, settings.toolParsing, model.family);
  const content = settings.unparsedCalls === 'hidden' ? contentWithoutUnparsed(view, read.text) : view.content;
  const hidesCalls = request.toolChoice === 'none' && message.toolCalls.length > 0;
  if (content === parsed.content && view.toolCalls === parsed.toolCalls && !hidesCalls) return message;
  // A view leaves calls out or writes their arguments anew; what it keeps has the place, and so the id, of the call as sampled.
  const toolCalls = view.toolCalls.map((call) => {
    const sampled = message.toolCalls[parsed.toolCalls.findIndex(({ start }) => start === call.start)];
    return { id: sampled?.id ?? null, name: call.name, arguments: call.arguments, value: call.value };
  });
  return {
    ...message,
    content: content === '' && toolCalls.length > 0 ? null : content,
    toolCalls: hidesCalls ? [] : toolCalls,
  };
}

/** A prompt that leaves no room: the dialect's overflow error, or an empty reply that ends by length; nothing is recorded. */
function overflow(
  session: Session,
  request: TurnRequest,
  prepared: PreparedPrompt,
  protocol: Protocol,
  answer: CallAnswer,
  context: ShardContext,
): void {
  const limit = Math.min(context.contextTokens(), session.created.maxContextTokens ?? Number.POSITIVE_INFINITY);
  if (context.settings.onContextOverflow === 'error') {
    throw new GatewayError('context_length_exceeded', protocol.overflowMessage(prepared.promptTokens, limit));
  }
  const createdAt = Math.floor(Date.now() / 1000);
  const turnId = `overflow-${answer.id}`;
  const reply: TurnReply = {
    turnId,
    createdAtSeconds: createdAt,
    promptIds: wholePrompt(prepared.form),
    outputIds: new Int32Array(0),
    logprobs: new Float32Array(0),
    topLogprobs: request.topLogprobs === null ? null : [],
    message: { role: 'assistant', content: '', reasoning: null, toolCalls: [] },
    finishReason: 'length',
    stopString: null,
    cachedTokens: null,
    reasoningTokens: 0,
    signature: context.signatures.sign(session.id, turnId),
    tokenText: (id) => context.model.tokenizer.tokenText(id),
  };
  count(request, context, 'overflow');
  if (request.stream) answer.openStream(protocol.openStream(request, reply));
  answer.finish(request.stream ? protocol.finishStream(request, reply) : protocol.formatReply(request, reply));
}
