import type { AdmissionQueue, Waiting } from './admission-queue.js';
import type { Homes } from './homes.js';
import { type Candidate, leastLoaded, place } from './placement.js';
import type { Replica } from './replica.js';

/**
 * A call leaves the replica that has its prefix only for one with so much of its window free: to read a prompt anew costs a
 * replica that is nearly full more than it gains by one more call.
 */
const SPARE_SHARE = 1 / 8;
/** After so long it leaves for any free place that none of that replica's own sessions wants. */
const STAY_MS = 5000;

/** A call that waits for a place at a replica. */
export interface WaitingCall extends Waiting {
  readonly queuedMs: number;
  /** Replicas that just failed it. */
  readonly avoid: ReadonlySet<Replica>;
}

/** A replica that is up. */
export interface Room extends Candidate {
  readonly replica: Replica;
  readonly windowSize: number;
  /** It asked not to be called for a while. */
  readonly isResting: boolean;
}

/**
 * The call that goes next, and where to; `null` = none can or should. Calls that can stay with the replica that has their prefix, or that
 * have none, come before those that would have to leave it: a place goes to the oldest that gains by it, not to the oldest.
 * @param nowMs by the clock of `queuedMs`
 */
export function nextCall<T extends WaitingCall>(
  queue: AdmissionQueue<T>,
  rooms: readonly Room[],
  homes: Homes,
  nowMs: number,
): { readonly call: T; readonly replica: Replica } | null {
  if (!rooms.some(({ hasRoom }) => hasRoom)) return null;
  const homeOf = ({ sessionId, avoid }: T): Room | undefined => {
    const home = homes.get(sessionId);
    return home === undefined || avoid.has(home) ? undefined : rooms.find(({ replica, isResting }) => replica === home && !isResting);
  };
  const first = queue.next((call) => homeOf(call)?.hasRoom ?? true);
  if (first !== null) {
    const avoided = new Set(rooms.filter(({ replica }) => first.avoid.has(replica)));
    return { call: first, replica: (homeOf(first) ?? place(rooms, first.sessionId, avoided)!).replica };
  }
  const leavesFor =
    ({ queuedMs, avoid }: T) =>
    ({ replica, hasRoom, load, windowSize }: Room): boolean =>
      hasRoom && !avoid.has(replica) && (load <= windowSize * (1 - SPARE_SHARE) || nowMs - queuedMs >= STAY_MS);
  const leaver = queue.next((call) => rooms.some(leavesFor(call)));
  return leaver === null ? null : { call: leaver, replica: leastLoaded(rooms, leavesFor(leaver))!.replica };
}
