import { type LeaseCall, leaseFromAll, type SessionHolders } from './fan-out.js';
import type { Lease } from './join.js';

export interface ScrapeTerms {
  readonly waitMs: number;
  readonly leaseMs: number;
  /** Aborted when the trainer has left: it is given nothing more. */
  readonly gone?: AbortSignal;
  /** Answers at once with what there is. */
  readonly isStopping?: () => boolean;
}

export interface Scraped {
  /** `null` where nothing was ready. */
  readonly lease: Lease | null;
  readonly sessions: readonly Uint8Array[];
}

export interface ScrapeHolders extends SessionHolders {
  /** Calls the listener whenever a session waits for a lease; the returned function ends that. */
  onFinished(listener: () => void): () => void;
}

/**
 * Leases what is finished, waiting for the first; `null` when the trainer left meanwhile. One that leaves while it reads gets the same
 * rows again when the lease has run out.
 * @throws GatewayError
 */
export async function scrape(holders: ScrapeHolders, call: LeaseCall, terms: ScrapeTerms): Promise<Scraped | null> {
  const { waitMs, leaseMs, gone, isStopping = () => false } = terms;
  // Told by the timer alone: a clock that was compared could be behind, and then nothing would wake the scrape again.
  let isOver = waitMs <= 0;
  let wake = (): void => undefined;
  let isRung = false;
  const ring = (): void => {
    isRung = true;
    wake();
  };
  // Listening before the first look: what is finished during it is not missed.
  const stopListening = holders.onFinished(ring);
  const timer = setTimeout(() => {
    isOver = true;
    ring();
  }, waitMs);
  gone?.addEventListener('abort', ring, { once: true });
  try {
    for (;;) {
      isRung = false;
      const isLast = isOver;
      // A lease begins when rows are given, not when they were asked for.
      const expiresAtMs = Date.now() + leaseMs;
      const sessions = await leaseFromAll(holders, { ...call, expiresAtMs }, () => gone?.aborted !== true);
      if (sessions === null) return null;
      if (sessions.length > 0) return { lease: { leaseId: call.leaseId, expiresAtMs }, sessions };
      if (isLast || isStopping()) return { lease: null, sessions };
      if (!isRung) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    stopListening();
    clearTimeout(timer);
    gone?.removeEventListener('abort', ring);
  }
}
