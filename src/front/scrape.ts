import type { TrainerCall } from '../trainer/calls.js';
import { joinLease } from '../trainer/join.js';
import type { Call, Front } from './front.js';
import { refuse } from './refusal.js';

type LeaseCall = TrainerCall & { readonly kind: 'lease' };

/** Wakes a waiting scrape: a session was finished, time is up, or its trainer left. */
interface Waker {
  /** Resolves at the next reason to look again. */
  next(): Promise<void>;
  stop(): void;
}

const wakerOf = (front: Front, call: Call, waitMs: number): Waker => {
  let wake: () => void = () => undefined;
  let isPending = false;
  const ring = (): void => {
    isPending = true;
    wake();
  };
  const stopListening = front.link.onFinished(ring);
  const timer = setTimeout(ring, waitMs);
  call.exchange.onGone = ring;
  return {
    next: async () => {
      if (!isPending) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      isPending = false;
    },
    stop: () => {
      stopListening();
      clearTimeout(timer);
      call.exchange.onGone = null;
    },
  };
};

/**
 * Leases finished sessions from all shards under one lease id, waiting up to `waitMs` for the first. Shards take turns in being
 * asked first, so that none fills every lease. A trainer that left is given nothing; one that leaves while it reads gets
 * the same rows again when the lease has run out.
 */
export const scrape = async (front: Front, call: Call, lease: LeaseCall, waitMs: number): Promise<void> => {
  const untilMs = Date.now() + waitMs;
  const waker = wakerOf(front, call, waitMs);
  try {
    for (;;) {
      const expiresAtMs = Date.now() + front.settings.traces.leaseMs;
      const sessions = await leaseFromAll(front, call, { ...lease, expiresAtMs });
      if (sessions === null) return;
      if (sessions.length > 0 || Date.now() >= untilMs || front.isStopping) {
        const { headers, body } = joinLease(lease.encoding, sessions.length > 0 ? { leaseId: lease.leaseId, expiresAtMs } : null, sessions);
        call.exchange.answer(200, headers, body);
        return;
      }
      await waker.next();
    }
  } finally {
    waker.stop();
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
