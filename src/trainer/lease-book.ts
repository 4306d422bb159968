/** One finished life of a session; an id can be finished, opened again and finished again. */
interface Entry<Life> {
  readonly sessionId: string;
  readonly life: Life;
  readonly finishedAtMs: number;
  leaseId: string | null;
}

interface LeaseTerm {
  readonly expiresAtMs: number;
  readonly lives: Set<string>;
}

export interface AckCount {
  /** Sessions whose rows are gone now. */
  readonly acked: number;
  /** Names that were not known, or not any more. */
  readonly unknown: readonly string[];
}

/** An acknowledgement with the lives that it has ended. */
export interface Acked<Life> extends AckCount {
  readonly gone: readonly Life[];
}

/**
 * Which finished sessions wait for a trainer, which are leased to one, and until when. Every life is handed out at
 * least once until it is acknowledged or expires: a lease that ran out gives its lives back, first in line. The caller
 * passes the time; nothing here waits.
 */
export class LeaseBook<Life> {
  readonly #entries = new Map<string, Entry<Life>>();
  readonly #bySession = new Map<string, Set<string>>();
  /** Names of lives that can be leased, oldest first; returned ones before fresh ones. */
  readonly #returned = new Set<string>();
  readonly #fresh = new Set<string>();
  readonly #leases = new Map<string, LeaseTerm>();

  /** Lives that are kept, leased ones included. */
  get size(): number {
    return this.#entries.size;
  }

  /** @param name unique for each life */
  add(name: string, sessionId: string, life: Life, finishedAtMs: number): void {
    this.#entries.set(name, { sessionId, life, finishedAtMs, leaseId: null });
    const names = this.#bySession.get(sessionId);
    if (names === undefined) this.#bySession.set(sessionId, new Set([name]));
    else names.add(name);
    this.#fresh.add(name);
  }

  get(name: string): Life | undefined {
    return this.#entries.get(name)?.life;
  }

  /** Whether a lease would give something. */
  hasReady(nowMs: number): boolean {
    this.#reclaim(nowMs);
    return this.#returned.size + this.#fresh.size > 0;
  }

  /** Hands out the oldest lives under a new lease; an empty answer makes none. */
  lease(leaseId: string, max: number, expiresAtMs: number, nowMs: number): readonly Life[] {
    this.#reclaim(nowMs);
    const names = [...take(this.#returned, max)];
    names.push(...take(this.#fresh, max - names.length));
    const lives = names.map((name) => {
      const entry = this.#entries.get(name)!;
      this.#leave(entry, name);
      entry.leaseId = leaseId;
      return entry.life;
    });
    if (names.length > 0) this.#leases.set(leaseId, { expiresAtMs, lives: new Set(names) });
    return lives;
  }

  /** A late acknowledgement still counts for lives that nobody leased since. */
  ackLease(leaseId: string): Acked<Life> {
    const lease = this.#leases.get(leaseId);
    if (lease === undefined) return { acked: 0, unknown: [leaseId], gone: [] };
    const names = [...lease.lives];
    const sessions = new Set(names.map((name) => this.#entries.get(name)!.sessionId));
    return { acked: sessions.size, unknown: [], gone: names.map((name) => this.remove(name)!) };
  }

  /** All finished lives of each id. */
  ackSessions(sessionIds: readonly string[]): Acked<Life> {
    const unknown: string[] = [];
    const gone: Life[] = [];
    let acked = 0;
    for (const id of new Set(sessionIds)) {
      const names = [...(this.#bySession.get(id) ?? [])];
      if (names.length === 0) unknown.push(id);
      else acked++;
      for (const name of names) gone.push(this.remove(name)!);
    }
    return { acked, unknown, gone };
  }

  /** Forgets one life, leased or not; gives it, where it was known. */
  remove(name: string): Life | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    this.#entries.delete(name);
    this.#returned.delete(name);
    this.#fresh.delete(name);
    const siblings = this.#bySession.get(entry.sessionId)!;
    siblings.delete(name);
    if (siblings.size === 0) this.#bySession.delete(entry.sessionId);
    this.#leave(entry, name);
    return entry.life;
  }

  /** Forgets lives that were finished before a time, and the oldest beyond `maxLives`; gives what it forgot. */
  expire(finishedBeforeMs: number, maxLives: number): readonly Life[] {
    const gone: Life[] = [];
    for (const [name, entry] of this.#entries) {
      if (entry.finishedAtMs >= finishedBeforeMs && this.#entries.size <= maxLives) break;
      gone.push(entry.life);
      this.remove(name);
    }
    return gone;
  }

  /** A lease that ran out keeps its lives too, for a late acknowledgement, until they are leased again. */
  #reclaim(nowMs: number): void {
    for (const lease of this.#leases.values()) {
      if (lease.expiresAtMs > nowMs) continue;
      for (const name of lease.lives) this.#returned.add(name);
    }
  }

  #leave(entry: Entry<Life>, name: string): void {
    if (entry.leaseId === null) return;
    const lease = this.#leases.get(entry.leaseId);
    lease?.lives.delete(name);
    if (lease?.lives.size === 0) this.#leases.delete(entry.leaseId);
  }
}

function* take(names: Set<string>, max: number): Generator<string> {
  let left = max;
  for (const name of names) {
    if (left-- <= 0) return;
    names.delete(name);
    yield name;
  }
}
