import type { TurnRequest } from '../canonical/turn.js';
import type { Protocol, StreamOpening } from '../protocols/protocol.js';
import type { PendingTurn } from '../trajectory/pending-turn.js';
import type { CallAnswer } from './call-answer.js';
import type { Session } from './session.js';
import type { ShardContext } from './shard-context.js';

/** An agent's request for a turn, and all that serving it takes. */
export interface TurnCall {
  readonly request: TurnRequest;
  readonly session: Session;
  readonly protocol: Protocol;
  readonly answer: CallAnswer;
  readonly context: ShardContext;
  /** When the front had read the request's head. */
  readonly receivedAtMs: number;
}

export const createdAtSeconds = ({ receivedAtMs }: TurnCall): number => Math.floor(receivedAtMs / 1000);

/** Names a turn to clients: unlike over sessions, equal when it is replayed. */
export const wireId = ({ context, session }: TurnCall, pending: PendingTurn): string =>
  `${routingKey(session, context).slice(0, 12)}${pending.turnId}`;

/** What is known of a turn's reply before it is sampled. */
export const openingOf = (turn: TurnCall, pending: PendingTurn): StreamOpening => ({
  turnId: wireId(turn, pending),
  createdAtSeconds: createdAtSeconds(turn),
  promptTokens: pending.promptLength,
  promptIds: () => pending.promptIds(),
});

/** The keyed hash by which engines and clients see the session. */
export function routingKey(session: Session, { signatures }: ShardContext): string {
  session.routingKey ??= signatures.routingKey(session.id);
  return session.routingKey;
}

export function countTurn({ request, context }: TurnCall, outcome: string): void {
  context.metrics.turnsTotal.inc({ protocol: request.protocol, outcome });
}

/** Sampled tokens that no row will train. */
export function countDiscarded({ metrics }: ShardContext, reason: string, tokens: number): void {
  if (tokens === 0) return;
  metrics.tokensTotal.inc({ kind: 'discarded' }, tokens);
  metrics.discardedTokensTotal.inc({ reason }, tokens);
}
