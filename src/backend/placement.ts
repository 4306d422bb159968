/** What placement looks at. */
export interface Candidate {
  readonly url: string;
  /** Calls in work from all shards. */
  readonly load: number;
  /** A call may be sent to it now. */
  readonly hasRoom: boolean;
}

/** A session's first replica may have so much more to do than the least loaded one. */
const MORE_SHARE = 0.05;
const MORE_CALLS = 4;

/**
 * The replica for a session that no replica knows: the one that rendezvous hashing gives it, the same one in every gateway; the least
 * loaded one when that is full or has clearly more to do. `null` = none has room.
 * Replicas in `avoid` are taken only where no other has room.
 */
export function place<C extends Candidate>(candidates: readonly C[], sessionId: string, avoid: ReadonlySet<C>): C | null {
  const least = leastLoaded(candidates, (candidate) => !avoid.has(candidate));
  if (least === null) return leastLoaded(candidates, (candidate) => avoid.has(candidate));
  let own: C | null = null;
  let ownScore = -1;
  for (const candidate of candidates) {
    if (avoid.has(candidate)) continue;
    const score = rendezvousScore(sessionId, candidate.url);
    if (score > ownScore) [own, ownScore] = [candidate, score];
  }
  const isEven = own !== null && own.load <= least.load * (1 + MORE_SHARE) + MORE_CALLS;
  return own?.hasRoom === true && isEven ? own : least;
}

export function leastLoaded<C extends Candidate>(candidates: readonly C[], admits: (candidate: C) => boolean): C | null {
  let best: C | null = null;
  for (const candidate of candidates)
    if (candidate.hasRoom && admits(candidate) && (best === null || candidate.load < best.load)) best = candidate;
  return best;
}

/** An unsigned 32-bit hash of the pair, uniform in both: FNV-1a with the finaliser of MurmurHash3. */
export function rendezvousScore(sessionId: string, url: string): number {
  let hash = 0x811c9dc5;
  for (const text of [sessionId, '\n', url])
    for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
