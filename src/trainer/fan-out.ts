import { type ErrorValue, GatewayError } from '../errors.js';
import type { TrainerAnswer, TrainerCall } from './calls.js';

/** A call that every holder of sessions is asked. */
export type WideCall = TrainerCall & { readonly kind: 'list' | 'lease' | 'ack' };
export type LeaseCall = TrainerCall & { readonly kind: 'lease' };
type AckCall = TrainerCall & { readonly kind: 'ack' };
type ListCall = TrainerCall & { readonly kind: 'list' };

/** Who holds sessions: the shards, and for those that were lost with theirs whoever remembers them. */
export interface SessionHolders {
  readonly shardCount: number;
  /** Failures are answers of kind `error`. */
  trainer(shard: number, call: TrainerCall): Promise<TrainerAnswer>;
  /** Answers for the sessions that were lost with their shards. */
  lost(call: WideCall): TrainerAnswer;
}

/** A page of all sessions, as JSON. @throws GatewayError */
export async function listAll(holders: SessionHolders, call: ListCall): Promise<string> {
  const answers = [...(await askShards(holders, call)), holders.lost(call)];
  const sessions = answers.flatMap((answer) => JSON.parse(expected(answer, 'text').text) as { readonly session_id: string }[]);
  sessions.sort((a, b) => (a.session_id < b.session_id ? -1 : 1));
  const page = sessions.slice(0, call.limit);
  const isLast = sessions.length < call.limit;
  return JSON.stringify({ sessions: page, next_cursor: isLast ? null : (page.at(-1)?.session_id ?? null) });
}

/** Acknowledges everywhere; a name is unknown where nobody knew it. @throws GatewayError */
export async function ackAll(holders: SessionHolders, call: AckCall): Promise<{ readonly acked: number; readonly unknown: number }> {
  // The lost are asked last: a shard that dies meanwhile has handed its sessions over by then.
  const answers = [...(await askShards(holders, call)), holders.lost(call)].map((answer) => expected(answer, 'acked'));
  const unknown = new Set([...(call.leaseId === null ? [] : [call.leaseId]), ...call.sessionIds]);
  for (const answer of answers) for (const name of [...unknown]) if (!answer.unknown.includes(name)) unknown.delete(name);
  return { acked: answers.reduce((sum, { acked }) => sum + acked, 0), unknown: unknown.size };
}

let nextFirst = 0;

/**
 * Leases up to `max` sessions under one lease, each as an encoded piece. Shards take turns in being asked first, so that none fills
 * every lease.
 * @param isWanted asked before and after each shard; once it says no, `null`: what was leased is handed out again when the lease has run out
 * @throws GatewayError
 */
export async function leaseFromAll(
  holders: SessionHolders,
  call: LeaseCall,
  isWanted: () => boolean = () => true,
): Promise<readonly Uint8Array[] | null> {
  if (!isWanted()) return null;
  const first = nextFirst++;
  const sessions = [...expected(holders.lost(call), 'traces').sessions];
  for (let turn = 0; turn < holders.shardCount && sessions.length < call.max; turn++) {
    if (!isWanted()) return null;
    const answer = await holders.trainer((first + turn) % holders.shardCount, { ...call, max: call.max - sessions.length });
    if (!isEmptyHanded(answer)) sessions.push(...expected(answer, 'traces').sessions);
  }
  return isWanted() ? sessions : null;
}

/** The answers of all shards, but for those that hold nothing. */
async function askShards(holders: SessionHolders, call: WideCall): Promise<readonly TrainerAnswer[]> {
  const answers = await Promise.all(Array.from({ length: holders.shardCount }, (_, shard) => holders.trainer(shard, call)));
  return answers.filter((answer) => !isEmptyHanded(answer));
}

/** A shard that is being loaded or replaced holds nothing; what others have must not wait for it. */
const isEmptyHanded = (answer: TrainerAnswer): boolean => answer.kind === 'error' && EMPTY_HANDED.includes(answer.error.code);
const EMPTY_HANDED: readonly ErrorValue['code'][] = ['overloaded', 'session_lost'];

function expected<Kind extends TrainerAnswer['kind']>(answer: TrainerAnswer, kind: Kind): TrainerAnswer & { readonly kind: Kind } {
  if (answer.kind === kind) return answer as TrainerAnswer & { readonly kind: Kind };
  if (answer.kind === 'error') throw new GatewayError(answer.error.code, answer.error.message);
  throw new Error(`${answer.kind} was answered where ${kind} was asked for`);
}
