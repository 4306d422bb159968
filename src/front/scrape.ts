import { FinishedWaker } from '../shard/finished-waker.js';
import type { TrainerCall } from '../trainer/calls.js';
import { joinLease } from '../trainer/join.js';
import type { Call, Front } from './front.js';
import { refuse } from './refusal.js';

type LeaseCall = TrainerCall & { readonly kind: 'lease' };

/**
 * Leases finished sessions from all shards under one lease id, waiting up to `waitMs` for the first. Shards take turns in being
 * asked first, so that none fills every lease. A trainer that left is given nothing; one that leaves while it reads gets
 * the same rows again when the lease has run out.
 */
export const scrape = async (front: Front, call: Call, lease: LeaseCall, waitMs: number): Promise<void> => {
  const waker = new FinishedWaker(front.link, waitMs);
  call.exchange.onGone = () => waker.end();
  try {
    for (;;) {
      const expiresAtMs = Date.now() + front.settings.traces.leaseMs;
      const sessions = await leaseFromAll(front, call, { ...lease, expiresAtMs });
      if (sessions === null) return;
      if (sessions.length > 0 || waker.isOver || front.isStopping) {
        const { headers, body } = joinLease(lease.encoding, sessions.length > 0 ? { leaseId: lease.leaseId, expiresAtMs } : null, sessions);
        call.exchange.answer(200, headers, body);
        return;
      }
      await waker.next();
    }
  } finally {
    waker.stop();
    call.exchange.onGone = null;
  }
};

let nextFirst = 0;

/** `null` when the call is over: the trainer left or was refused. */
const leaseFromAll = async (front: Front, call: Call, lease: LeaseCall): Promise<readonly Uint8Array[] | null> => {
  const { link } = front;
  const first = nextFirst++;
  const sessions: Uint8Array[] = [];
  for (let turn = 0; turn < link.shardCount && sessions.length < lease.max; turn++) {
    if (!call.exchange.isOpen) return null;
    const result = await link.trainer((first + turn) % link.shardCount, { ...lease, max: lease.max - sessions.length });
    if (result.kind === 'traces') {
      sessions.push(...result.sessions);
      continue;
    }
    if (result.kind !== 'error') throw new Error(`a shard answered ${result.kind} to a lease`);
    // A shard that is being replaced has no rows; what others have given is under a lease already and must go out.
    if (result.error.code === 'overloaded' || result.error.code === 'session_lost') continue;
    refuse(call.exchange, call.dialect, result.error);
    return null;
  }
  return sessions;
};
