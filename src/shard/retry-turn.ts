import type { ErrorValue } from '../errors.js';
import type { PendingTurn } from '../trajectory/pending-turn.js';
import { ENDED, holdTurn, settleTurn } from './run-turn.js';
import type { Session } from './session.js';
import { openingOf, type TurnCall } from './turn-call.js';

const JOINED_FAILED: ErrorValue = { code: 'engine_failed', message: 'The turn that this retry joined failed; try again.' };

/** The turn that a marked retry joins while it runs, or replays when it is over; `null` where a new one must be sampled. */
export function retriedTurn(session: Session, digest: string): PendingTurn | null {
  const pending = session.tree.findRetry(digest);
  if (pending === null) return null;
  if (pending.state === 'running') return session.aborting.has(pending) ? null : pending;
  return session.replies.has(pending) ? pending : null;
}

/** Answers with the reply of a turn that another call began: nothing is sampled a second time. */
export async function retryTurn(turn: TurnCall, pending: PendingTurn): Promise<void> {
  const { retrying } = turn.session;
  const call = { pending, ended: joinTurn(turn, pending) };
  retrying.add(call);
  try {
    await call.ended;
  } finally {
    retrying.delete(call);
  }
}

async function joinTurn(turn: TurnCall, pending: PendingTurn): Promise<void> {
  const { request, session, protocol, answer } = turn;
  pending.join();
  const running = [...session.running].find((candidate) => candidate.pending === pending);
  holdTurn(pending, answer, () => {
    if (pending.state !== 'running' || running === undefined) return;
    session.aborting.add(pending);
    running.abort();
  });
  const opening = openingOf(turn, pending);
  if (request.stream) answer.openStream(protocol.openStream(request, opening));
  else answer.awaitJson();
  await running?.sampled;
  const reply = session.replies.get(pending);
  if (reply === undefined) {
    answer.fail(session.state === 'open' ? JOINED_FAILED : ENDED);
    return;
  }
  answer.finish(request.stream ? protocol.finishStream(request, reply) : protocol.formatReply(request, reply));
  await settleTurn(turn, pending, null);
}
