import { Cancel } from '../backend/cancel.js';
import type { DiscardReason } from '../canonical/trace.js';
import type { Sampling } from '../canonical/turn.js';
import type { EngineFailure } from '../engines/engine.js';
import { type ErrorValue, GatewayError } from '../errors.js';
import type { PendingTurn } from '../trajectory/pending-turn.js';
import { type PreparedPrompt, preparePrompt, turnRoom, turnSampling } from './begin-turn.js';
import type { CallAnswer } from './call-answer.js';
import { formReply } from './form-reply.js';
import { IdScratch } from './id-scratch.js';
import { answerOverflow } from './overflow-reply.js';
import type { RunningTurn, Session } from './session.js';
import type { ShardContext } from './shard-context.js';
import { countDiscarded, countTurn, openingOf, routingKey, type TurnCall, wireId } from './turn-call.js';

const idScratch = new IdScratch();

/**
 * One turn from the parsed request to commit or discard:
 *
 *     identify + render + encode → begin → head → engine → read → finish → reply → written? commit : discard
 *
 * Nothing of the tree changes before the reply was written to an open socket.
 * @param digest names the body, for a marked retry
 * @throws GatewayError for refusals before the turn began; afterwards failures go to the client and the turn is discarded.
 */
export async function runTurn(turn: TurnCall, digest: string): Promise<void> {
  const { request, session, protocol, answer, context } = turn;
  const prepared = await preparePrompt(session, request, context, 'take');
  refuseIfOver(session, context);
  const { limitTokens, roomTokens } = turnRoom(session, prepared.promptTokens, context);
  if (answer.gone.aborted) return;
  if (roomTokens < 1) return answerOverflow(turn, prepared, limitTokens, null);
  const sampling = turnSampling(session, request, roomTokens, context);
  const pending = session.tree.begin({
    located: prepared.located,
    prompt: prepared.form,
    digest,
    protocol: request.protocol,
    sampling,
    startedAtMs: turn.receivedAtMs,
  });
  context.metrics.promptTokensTotal.inc({ source: 'reused' }, prepared.promptTokens - prepared.encodedTokens);
  context.metrics.promptTokensTotal.inc({ source: 'encoded' }, prepared.encodedTokens);
  if (request.stream) answer.openStream(protocol.openStream(request, openingOf(turn, pending)));
  else answer.awaitJson();
  await sampleAndAnswer(turn, prepared, pending, sampling);
}

async function sampleAndAnswer(turn: TurnCall, prepared: PreparedPrompt, pending: PendingTurn, sampling: Sampling): Promise<void> {
  const { request, session, protocol, answer, context } = turn;
  const abort = new Cancel();
  holdTurn(pending, answer, () => {
    if (pending.state !== 'running') return;
    session.aborting.add(pending);
    abort.abort();
  });
  const sampled = deferred();
  const ended = deferred();
  const running: RunningTurn = { pending, abort: () => abort.abort(), sampled: sampled.promise, ended: ended.promise };
  session.running.add(running);
  let sampledTokens = 0;
  try {
    const outcome = await context.engine.generate({
      model: context.settings.engineModel,
      promptIds: pending.promptIds((length) => idScratch.take(length)),
      sampling,
      topLogprobs: request.topLogprobs ?? 0,
      routingKey: routingKey(session, context),
      sessionId: session.id,
      sessionSinceMs: session.openedAtMs,
      signal: abort,
    });
    context.metrics.turnWaitSeconds.observe({ stage: 'queue' }, outcome.queueMs / 1000);
    context.metrics.turnWaitSeconds.observe({ stage: 'engine' }, outcome.engineMs / 1000);
    if (!outcome.ok) {
      const reason = answer.gone.aborted ? 'client_gone' : 'engine_failed';
      const tokens = outcome.failure.sampledTokens ?? 0;
      context.metrics.tokensTotal.inc({ kind: 'sampled' }, tokens);
      discardTurn(turn, pending, reason, tokens);
      if (outcome.failure.kind === 'context_overflow' && reason === 'engine_failed' && session.state === 'open') {
        // A replica takes less than was known when the turn began.
        answerOverflow(turn, prepared, prepared.promptTokens - 1, wireId(turn, pending));
        return;
      }
      countTurn(turn, reason);
      answer.fail(failureValue(outcome.failure, session));
      return;
    }
    const { result } = outcome;
    sampledTokens = result.outputIds.length;
    context.metrics.tokensTotal.inc({ kind: 'sampled' }, result.outputIds.length);
    if (result.unknownLogprobs > 0) context.metrics.repairedLogprobsTotal.inc(result.unknownLogprobs);
    if (result.finish.kind === 'abort') {
      discardTurn(turn, pending, session.state === 'open' ? 'client_gone' : 'session_closed', result.outputIds.length);
      countTurn(turn, 'aborted');
      answer.fail(ENDED);
      return;
    }
    const formed = formReply(turn, pending, prepared.built.textEnd, sampling, result, outcome);
    if (!pending.finish(formed.sampled)) {
      countDiscarded(context, 'session_closed', result.outputIds.length);
      countTurn(turn, 'session_closed');
      answer.fail(ENDED);
      return;
    }
    session.replies.set(pending, formed.reply);
    sampled.resolve();
    answer.finish(request.stream ? protocol.finishStream(request, formed.reply) : protocol.formatReply(request, formed.reply));
    await settleTurn(turn, pending, prepared, () => session.running.delete(running));
  } catch (error) {
    // A fault of ours: the call fails, and the books say what became of its tokens.
    if (pending.state !== 'committed') discardTurn(turn, pending, 'gateway_failed', sampledTokens);
    throw error;
  } finally {
    session.running.delete(running);
    sampled.resolve();
    ended.resolve();
  }
}

/** The tokens go to the session's books, or, where the session was closed and its books with it, to the metrics. */
function discardTurn(turn: TurnCall, pending: PendingTurn, reason: DiscardReason, tokens: number): void {
  if (pending.state === 'running' || pending.state === 'finished') pending.discard(reason, tokens);
  else countDiscarded(turn.context, 'session_closed', tokens);
}

/** The call stops holding the turn when its client leaves; `onAbandoned` when no other call holds it. */
export function holdTurn(pending: PendingTurn, answer: CallAnswer, onAbandoned: () => void): void {
  const onGone = (): void => {
    if (pending.release() === 'abandoned') onAbandoned();
  };
  if (answer.gone.aborted) onGone();
  else answer.gone.addEventListener('abort', onGone, { once: true });
}

/**
 * Commits when the reply reached an open socket; else the turn stays aside for a marked retry. All of it happens while the front's
 * word is read: the next word may be of a call that builds on the turn.
 * @param prepared of the call that began the turn; `null` for a retry
 * @param settled is called before anything else can happen to the session
 */
export function settleTurn(
  turn: TurnCall,
  pending: PendingTurn,
  prepared: PreparedPrompt | null,
  settled: () => void = () => undefined,
): Promise<void> {
  return turn.answer.whenOver((delivered) => {
    try {
      if (delivered) commitTurn(turn, pending, prepared);
      else countTurn(turn, 'client_gone');
    } finally {
      settled();
    }
  });
}

function commitTurn(turn: TurnCall, pending: PendingTurn, prepared: PreparedPrompt | null): void {
  const { session, context } = turn;
  const isFirst = pending.turn === null;
  const committed = pending.commit(Date.now());
  if (!committed.ok || !isFirst) {
    countTurn(turn, committed.ok ? 'replayed' : committed.reason === 'closed' ? 'session_closed' : 'discarded');
    return;
  }
  const record = committed.turn;
  if (prepared !== null && prepared.built.memory !== null) session.keepMemory(record, prepared.built.memory);
  context.metrics.historiesTotal.inc({ cause: record.outcome });
  context.metrics.tokensTotal.inc({ kind: 'committed' }, record.sampled.outputIds.length);
  const { committedTurns: turns, committed: tokens } = session.tree.books;
  context.journal({ kind: 'commit', sessionId: session.id, life: session.life, turn: record, turns, tokens });
  countTurn(turn, 'committed');
}

/** What is told to whoever waits for a turn of a session that is over. */
export const ENDED: ErrorValue = { code: 'session_closed', message: 'The session ended while this turn was sampled.' };

function refuseIfOver(session: Session, { settings }: ShardContext): void {
  if (session.state !== 'open') throw new GatewayError('session_closed', 'The session was finished or deleted: it takes no more turns.');
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

function failureValue(failure: EngineFailure, session: Session): ErrorValue {
  if (session.state !== 'open') return ENDED;
  const message = `The engine did not sample this turn: ${failure.message}`;
  switch (failure.kind) {
    case 'overloaded':
      return { code: 'overloaded', message, ...(failure.retryAfterMs === null ? {} : { retryAfterMs: failure.retryAfterMs }) };
    case 'context_overflow':
      return { code: 'context_length_exceeded', message };
    case 'invalid_answer':
      return { code: 'engine_invalid_answer', message };
    case 'cancelled':
      // The client is there and so is the session: the engine's connections were closed.
      return { code: 'shutting_down', message };
    case 'transient':
    case 'down':
    case 'bad_request':
    case 'unauthorized':
      return { code: 'engine_failed', message };
  }
}

interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

function deferred(): Deferred {
  let settle = (): void => undefined;
  const promise = new Promise<void>((done) => {
    settle = done;
  });
  return { promise, resolve: () => settle() };
}
