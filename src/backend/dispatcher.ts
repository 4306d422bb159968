import type { EngineFailure } from '../engines/engine.js';
import { AdmissionQueue, type Waiting } from './admission-queue.js';
import type { CancelSignal } from './cancel.js';
import { Homes } from './homes.js';
import { nextCall, type Room, type WaitingCall } from './next-call.js';
import { Patience } from './patience.js';
import type { Clock, PoolSettings } from './pool-settings.js';
import type { Replica } from './replica.js';
import type { SharedCounters } from './shared-counters.js';

/** Places that other shards give back are not announced; while calls wait for one, look this often. */
const POLL_MS = 4;

/** A turn that wants a replica, through all its attempts. */
export interface Ticket extends Waiting {
  /** Replicas that just failed it. */
  readonly avoid: Set<Replica>;
  /** Time spent waiting, pauses aside; bounded by `backend.holdMs`. */
  heldMs: number;
}

export type Admission =
  | { readonly ok: true; readonly replica: Replica; readonly round: number; readonly full: boolean }
  | { readonly ok: false; readonly failure: EngineFailure };

interface Waiter extends WaitingCall {
  readonly ticket: Ticket;
  readonly settle: (admission: Admission) => void;
}

/** Decides who is sent where and when: windows, queue, placement, pauses. */
export class Dispatcher {
  readonly #queue: AdmissionQueue<Waiter>;
  readonly #patience: Patience;
  readonly #homes = new Homes();
  #paused = false;
  #cancelTimer: () => void = () => {};
  #closed: EngineFailure | null = null;

  constructor(
    private readonly settings: PoolSettings,
    private readonly clock: Clock,
    private readonly counters: SharedCounters,
    private readonly shards: number,
    private readonly replicas: () => readonly Replica[],
  ) {
    this.#queue = new AdmissionQueue(settings.limits.queue);
    this.#patience = new Patience(clock);
  }

  get queued(): number {
    return this.#queue.length;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** A place at a replica, to be given back by {@link release}. `again` = the ticket had one before and is not refused for a full queue. */
  admit(ticket: Ticket, again: boolean, signal: CancelSignal | undefined): Promise<Admission> {
    return new Promise((resolve) => {
      if (this.#closed !== null) return resolve({ ok: false, failure: this.#closed });
      if (signal?.aborted === true) return resolve(refused('cancelled', 'the caller cancelled the turn before it was sent'));
      const startMs = this.#patience.now();
      let cancelHold = (): void => {};
      let isSettled = false;
      const waiter: Waiter = {
        sessionId: ticket.sessionId,
        sinceMs: ticket.sinceMs,
        ticket,
        queuedMs: startMs,
        avoid: ticket.avoid,
        settle: (admission) => {
          isSettled = true;
          cancelHold();
          signal?.removeEventListener('abort', cancel);
          ticket.heldMs += this.#patience.now() - startMs;
          resolve(admission);
        },
      };
      const cancel = (): void => this.#drop(waiter, 'cancelled', 'the caller cancelled the turn while it waited for a replica');
      if (!this.#queue.add(waiter, again))
        return resolve(
          refused('overloaded', `${this.#queue.length} turns wait for the engine (limits.queue ${this.settings.limits.queue})`),
        );
      this.pump();
      if (isSettled) return;
      signal?.addEventListener('abort', cancel, { once: true });
      const hold = (leftMs: number): void => {
        cancelHold = this.clock.after(leftMs, () => {
          const left = this.settings.backend.holdMs - ticket.heldMs - (this.#patience.now() - startMs);
          if (this.#paused || left > 0) hold(Math.max(left, 1000));
          else this.#drop(waiter, 'overloaded', this.#whyNoPlace());
        });
      };
      hold(Math.max(0, this.settings.backend.holdMs - ticket.heldMs));
    });
  }

  release(ticket: Ticket, replica: Replica): void {
    this.counters.release(replica.slot);
    this.#queue.ended(ticket.sessionId);
    this.pump();
  }

  /** The session is over. */
  forget(sessionId: string): void {
    this.#homes.forget(sessionId);
  }

  setPaused(paused: boolean): void {
    if (paused === this.#paused) return;
    this.#paused = paused;
    this.#patience.hold(paused);
    this.pump();
  }

  close(failure: EngineFailure): void {
    this.#closed = failure;
    this.#cancelTimer();
    for (const waiter of [...this.#queue]) this.#settle(waiter, { ok: false, failure });
    for (const { slot } of this.replicas()) this.counters.setHungry(slot, false);
  }

  /** Sends what can be sent. To be called when anything changed. */
  pump(): void {
    if (this.#closed !== null) return;
    this.#cancelTimer();
    // One reading for all decisions: a rest that ended between two of them would wake nobody.
    const now = this.clock.now();
    while (!this.#paused && this.#queue.length > 0) {
      const next = nextCall(this.#queue, this.#rooms(now), this.#homes, this.#patience.now());
      if (next === null) break;
      const { call, replica } = next;
      this.counters.take(replica.slot);
      this.#homes.set(call.sessionId, replica);
      this.#queue.started(call);
      const full = this.counters.total(replica.slot) >= replica.window.size;
      this.#settle(call, { ok: true, replica, round: replica.window.round, full });
    }
    this.#lookAgain(now);
  }

  #rooms(now: number): Room[] {
    const rooms: Room[] = [];
    for (const replica of this.replicas()) {
      if (!replica.isUp) continue;
      const { slot, url } = replica;
      const windowSize = replica.window.size;
      const load = this.counters.total(slot);
      const isResting = replica.restUntilMs > now;
      const mayTake = this.shards === 1 || this.counters.own(slot) < this.#share(replica) || !this.counters.othersHungry(slot);
      rooms.push({ replica, url, load, windowSize, isResting, hasRoom: !isResting && mayTake && load < windowSize });
    }
    return rooms;
  }

  #share(replica: Replica): number {
    return Math.max(1, Math.floor(replica.window.size / this.shards));
  }

  /** Calls wait: be woken by what no event announces, the end of a rest and places given back by other shards. */
  #lookAgain(now: number): void {
    const waiting = this.#queue.length > 0 && !this.#paused;
    const up = waiting ? this.replicas().filter((replica) => replica.isUp) : [];
    if (this.shards > 1) {
      const wanted = this.#wanted(up);
      for (const replica of this.replicas())
        this.counters.setHungry(replica.slot, wanted.has(replica) && this.counters.own(replica.slot) < this.#share(replica));
    }
    let delayMs = Number.POSITIVE_INFINITY;
    for (const replica of up) {
      const restMs = replica.restUntilMs - now;
      if (restMs > 0) delayMs = Math.min(delayMs, restMs);
      else if (this.shards > 1) delayMs = Math.min(delayMs, POLL_MS);
    }
    if (delayMs < Number.POSITIVE_INFINITY) this.#cancelTimer = this.clock.after(delayMs, () => this.pump());
  }

  /** Those of the replicas that calls wait for. */
  #wanted(up: readonly Replica[]): ReadonlySet<Replica> {
    const wanted = new Set<Replica>();
    for (const { sessionId } of this.#queue) {
      const home = this.#homes.get(sessionId);
      if (home === undefined || !up.includes(home)) return new Set(up);
      wanted.add(home);
      if (wanted.size === up.length) break;
    }
    return wanted;
  }

  #settle(waiter: Waiter, admission: Admission): void {
    this.#queue.remove(waiter);
    waiter.settle(admission);
  }

  #drop(waiter: Waiter, kind: EngineFailure['kind'], message: string): void {
    if (this.#queue.remove(waiter)) waiter.settle(refused(kind, message));
  }

  #whyNoPlace(): string {
    const states = this.replicas().map(
      (replica) => `${replica.url}: ${replica.problem ?? `${this.counters.total(replica.slot)} of ${replica.window.size} in work`}`,
    );
    const what = states.length === 0 ? 'there is no replica' : states.join('; ');
    return `no replica took the turn within backend.holdMs ${this.settings.backend.holdMs} (${what})`;
  }
}

const refused = (kind: EngineFailure['kind'], message: string): Admission => ({
  ok: false,
  failure: { kind, message, status: null, retryAfterMs: null },
});
