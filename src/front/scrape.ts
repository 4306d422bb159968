import type { LeaseCall } from '../trainer/fan-out.js';
import { joinLease } from '../trainer/join.js';
import { scrape } from '../trainer/scrape.js';
import type { Call, Front } from './front.js';

/** A scrape over HTTP, for as long as its trainer's socket is open. */
export const answerScrape = async (front: Front, { exchange }: Call, lease: LeaseCall, waitMs: number): Promise<void> => {
  const gone = new AbortController();
  exchange.onGone = () => gone.abort();
  const isStopping = (): boolean => front.isStopping;
  const scraped = await scrape(front.link, lease, { waitMs, leaseMs: front.settings.traces.leaseMs, gone: gone.signal, isStopping });
  exchange.onGone = null;
  if (scraped === null) return;
  const { headers, body } = joinLease(lease.encoding, scraped.lease, scraped.sessions);
  exchange.answer(200, headers, body);
};
