import { randomBytes } from 'node:crypto';
import { SharedCounters } from '../backend/shared-counters.js';
import type { Settings } from '../config.js';
import { type ErrorValue, GatewayError } from '../errors.js';
import type { EngineOrder, TrainerAnswer, TrainerCall } from '../trainer/calls.js';
import { EngineOrders, type EngineStand } from './engine-orders.js';
import type { AgentCall, EngineWork, FromShard, ReplicaState, ServedModel } from './messages.js';
import { LOST, SessionFates } from './session-fates.js';
import { type SessionOutline, SessionOutlines } from './session-outlines.js';
import { ShardAsks } from './shard-asks.js';
import { FIRST_LIVES_MAX, ShardHost } from './shard-host.js';
import type { CallHandle, ShardLink } from './shard-link.js';
import { shardOf } from './shard-of.js';

export interface ShardPoolOptions {
  readonly settings: Settings;
  readonly engineKey: string | null;
  readonly onProblem: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

interface ShardSeat {
  readonly host: ShardHost;
  state: 'starting' | 'ready' | 'failed';
  problem: string | null;
  /** Why it will never take calls, with state `failed`. */
  failure: ErrorValue | null;
  model: ServedModel | null;
  replicas: readonly ReplicaState[];
  /** Sessions of the present life. */
  readonly sessions: SessionOutlines;
}

interface OpenCall {
  readonly seat: ShardSeat;
  readonly onMessage: (message: FromShard) => void;
}

const NO_WORK: EngineWork = { calls: 0, waiting: 0, running: [] };
const METRICS_WAIT_MS = 2000;
/** After a drain, time for the shards to refuse what is left, each call in its dialect. */
const REFUSING_MS = 1000;

/** All shards, and which session lives, is closed or was lost where. Lives on the front's thread. */
export class ShardPool implements ShardLink {
  readonly #seats: ShardSeat[];
  readonly #calls = new Map<number, OpenCall>();
  readonly #trainerCalls = new ShardAsks<ShardSeat, TrainerAnswer>();
  readonly #metricsCalls = new ShardAsks<ShardSeat, readonly object[]>();
  readonly #orderCalls = new ShardAsks<ShardSeat, EngineWork>();
  readonly #orders: EngineOrders;
  readonly #finishedListeners = new Set<() => void>();
  readonly #readyListeners = new Set<() => void>();
  readonly #fates: SessionFates;
  #nextId = 1;

  constructor(private readonly options: ShardPoolOptions) {
    const { settings } = options;
    this.#fates = new SessionFates(settings.sessions.closedTtlMs, settings.traces.ttlMs, settings.sessions.closedMax);
    this.#orders = new EngineOrders(settings.engineUrl);
    const secret = new Uint8Array(randomBytes(32));
    const inFlight = new SharedArrayBuffer(SharedCounters.bytes(settings.shards));
    this.#seats = Array.from({ length: settings.shards }, (_, index) => {
      const seat: ShardSeat = {
        host: new ShardHost({
          index,
          start: (epoch) => ({ index, epoch, settings, engines: this.#orders.stand, engineKey: options.engineKey, secret, inFlight }),
          hangMs: settings.shard.hangMs,
          heapMb: settings.shard.heapMb,
          onMessage: (message) => this.#receive(seat, message),
          onDeath: (epoch, problem, isLast) => this.#bury(seat, index, epoch, problem, isLast),
        }),
        state: 'starting',
        problem: 'it is loading the model',
        failure: null,
        model: null,
        replicas: [],
        sessions: new SessionOutlines(),
      };
      return seat;
    });
  }

  get shardCount(): number {
    return this.#seats.length;
  }

  get model(): ServedModel | null {
    return this.#seats.find((seat) => seat.model !== null)?.model ?? null;
  }

  get ready(): boolean {
    return this.problem === null;
  }

  get problem(): string | null {
    for (const [index, seat] of this.#seats.entries()) {
      if (seat.state !== 'ready') return `shard ${index} is not ready: ${seat.problem ?? seat.state}`;
    }
    const replicas = this.replicas;
    if (replicas.some((replica) => replica.state === 'up')) return null;
    return `no engine answers: ${replicas.map((replica) => `${replica.url} is ${replica.state}${replica.problem === null ? '' : ` (${replica.problem})`}`).join(', ')}`;
  }

  /** One entry per replica: the first shard's view, with queues summed over the shards. */
  get replicas(): readonly ReplicaState[] {
    const merged = new Map<string, ReplicaState>();
    for (const seat of this.#seats) {
      for (const replica of seat.replicas) {
        const seen = merged.get(replica.url);
        const better = seen === undefined || (seen.state !== 'up' && replica.state === 'up') ? replica : seen;
        merged.set(replica.url, seen === undefined ? replica : { ...better, queued: seen.queued + replica.queued });
      }
    }
    return [...merged.values()];
  }

  shardOf(sessionKey: string): number {
    return shardOf(sessionKey, this.#seats.length);
  }

  /** Resolves when every shard takes calls. @throws GatewayError why one cannot start */
  async started(): Promise<void> {
    for (;;) {
      const failure = this.#seats.find((seat) => seat.failure !== null)?.failure ?? null;
      if (failure !== null) throw new GatewayError(failure.code, failure.message);
      if (this.#seats.every((seat) => seat.state === 'ready')) return;
      await new Promise<void>((resolve) => {
        const listener = (): void => {
          this.#readyListeners.delete(listener);
          resolve();
        };
        this.#readyListeners.add(listener);
      });
    }
  }

  open(call: Omit<AgentCall, 'kind' | 'id'>, onMessage: (message: FromShard) => void): CallHandle | ErrorValue {
    const refused = this.closedError(call.sessionKey);
    if (refused !== null) return refused;
    const seat = this.#seatOf(this.shardOf(call.sessionKey));
    if (seat.state !== 'ready')
      return { code: 'overloaded', message: `The gateway is not ready: ${seat.problem ?? seat.state}. Try again.` };
    const id = this.#nextId++;
    this.#calls.set(id, { seat, onMessage });
    seat.host.send({ kind: 'agent', id, ...call }, call.body.buffer instanceof ArrayBuffer ? [call.body.buffer] : []);
    return {
      id,
      gone: () => {
        this.#calls.delete(id);
        seat.host.send({ kind: 'gone', id });
      },
      // Whatever builds on the turn that is committed with it is sent later and arrives later.
      written: () => seat.host.sendUnhurried({ kind: 'written', id }),
    };
  }

  trainer(shard: number, call: TrainerCall): Promise<TrainerAnswer> {
    const seat = this.#seatOf(shard);
    const sessionId = 'sessionId' in call ? call.sessionId : call.kind === 'create' ? call.session.sessionId : null;
    const lost = sessionId === null ? null : this.#fates.lost.state(sessionId, Date.now());
    if (sessionId !== null && lost !== null) {
      if (call.kind === 'get') return Promise.resolve({ kind: 'text', status: 200, text: lost });
      if (call.kind !== 'create' && call.kind !== 'delete') return Promise.resolve({ kind: 'error', error: LOST });
      this.#fates.lost.delete(sessionId);
      if (call.kind === 'delete') {
        this.#fates.closed(sessionId);
        return Promise.resolve({ kind: 'text', status: 200, text: JSON.stringify({ session_id: sessionId, deleted: true }) });
      }
    }
    if (seat.state !== 'ready') {
      return Promise.resolve({
        kind: 'error',
        error: { code: 'overloaded', message: `The gateway is not ready: ${seat.problem ?? seat.state}. Try again.` },
      });
    }
    const id = this.#nextId++;
    return this.#trainerCalls.ask(seat, id, () => seat.host.send({ kind: 'trainer', id, call }));
  }

  /** A shard that is being born is told too: it reads its messages when it has loaded the model. */
  async order(order: EngineOrder): Promise<EngineWork | ErrorValue> {
    const taken = this.#orders.take(order);
    if ('code' in taken) return taken;
    const works = await Promise.all(
      this.#seats.map((seat) => {
        const id = this.#nextId++;
        const send = (): void => seat.host.send({ kind: 'order', id, ...taken });
        if (seat.state === 'ready') return this.#orderCalls.ask(seat, id, send);
        send();
        return NO_WORK;
      }),
    );
    return sumOfWork(works);
  }

  get engineStand(): EngineStand {
    return this.#orders.stand;
  }

  lostSessions(after: string | null, limit: number): string {
    return this.#fates.lost.page(after, limit, Date.now());
  }

  /** What goes with the process: sessions whose rows nobody acknowledged, and open ones. */
  get unfetched(): readonly SessionOutline[] {
    return this.#seats.flatMap((seat) => [...seat.sessions]);
  }

  onFinished(listener: () => void): () => void {
    this.#finishedListeners.add(listener);
    return () => this.#finishedListeners.delete(listener);
  }

  metrics(): Promise<readonly (readonly object[])[]> {
    const ready = this.#seats.filter((seat) => seat.state === 'ready');
    return Promise.all(
      ready.map((seat) => {
        const id = this.#nextId++;
        return this.#metricsCalls.ask(
          seat,
          id,
          () => seat.host.send({ kind: 'metrics', id }),
          METRICS_WAIT_MS,
          () => [],
        );
      }),
    );
  }

  closedError(sessionKey: string): ErrorValue | null {
    return this.#fates.refusal(sessionKey);
  }

  async drain(deadlineMs: number): Promise<void> {
    const untilMs = Date.now() + deadlineMs + REFUSING_MS;
    for (const seat of this.#seats) seat.host.send({ kind: 'drain', deadlineMs });
    while (this.#calls.size > 0 && Date.now() < untilMs) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** Plants a fault; only with `test.faults`. */
  crash(shard: number, how: 'throw' | 'exit' | 'hang' | 'heap'): void {
    if (this.options.settings.test.faults) this.#seatOf(shard).host.send({ kind: 'crash', how });
  }

  async close(): Promise<void> {
    await Promise.all(this.#seats.map((seat) => seat.host.close()));
  }

  #seatOf(shard: number): ShardSeat {
    const seat = this.#seats[shard];
    if (seat === undefined) throw new RangeError(`no shard ${shard}: there are ${this.#seats.length}`);
    return seat;
  }

  #receive(seat: ShardSeat, message: FromShard): void {
    switch (message.kind) {
      case 'ready':
        seat.state = 'ready';
        seat.problem = null;
        seat.model = message.model;
        this.#wake();
        return;
      case 'failed':
        this.#fail(seat, message.error);
        return;
      case 'engines':
        seat.replicas = message.engines;
        return;
      case 'opened':
        seat.sessions.opened(message);
        this.#fates.opened(message.sessionId);
        return;
      case 'progress':
        seat.sessions.progressed(message.sessionId, message.turns, message.tokens);
        return;
      case 'forgotten':
        seat.sessions.forgotten(message.sessionId, message.life);
        return;
      case 'closed':
        this.#fates.closed(message.sessionId);
        return;
      case 'finished':
        seat.sessions.finished(message.sessionId);
        for (const listener of this.#finishedListeners) listener();
        return;
      case 'trainer':
        this.#trainerCalls.settle(message.id, message.answer);
        return;
      case 'metrics':
        this.#metricsCalls.settle(message.id, message.metrics);
        return;
      case 'work':
        this.#orderCalls.settle(message.id, message.work);
        return;
      case 'answer':
      case 'end':
      case 'cut': {
        const call = this.#calls.get(message.id);
        this.#calls.delete(message.id);
        call?.onMessage(message);
        return;
      }
      case 'head':
      case 'chunk':
        this.#calls.get(message.id)?.onMessage(message);
        return;
    }
  }

  #fail(seat: ShardSeat, failure: ErrorValue): void {
    seat.state = 'failed';
    seat.problem = failure.message;
    seat.failure = failure;
    this.#wake();
  }

  #wake(): void {
    for (const listener of [...this.#readyListeners]) listener();
  }

  #lastWords(index: number, problem: string): string {
    const { heapMb } = this.options.settings.shard;
    const heap = heapMb === 0 ? '' : `; shard.heapMb is ${heapMb}, which may be too little for the model`;
    return `Cannot start shard ${index}: its thread ended ${FIRST_LIVES_MAX} times before it had loaded the model (${problem})${heap}.`;
  }

  /** Everyone who waits for the dead life gets a definite answer, and its sessions never come back empty. */
  #bury(seat: ShardSeat, index: number, epoch: number, problem: string, isLast: boolean): void {
    const lost = [...seat.sessions];
    for (const outline of lost) this.#fates.lose(outline);
    seat.sessions.clear();
    seat.state = 'starting';
    seat.problem = `its thread was replaced (${problem})`;
    seat.replicas = [];
    for (const [id, call] of this.#calls) {
      if (call.seat !== seat) continue;
      this.#calls.delete(id);
      call.onMessage({ kind: 'lost', id, error: LOST });
    }
    this.#trainerCalls.giveUp(seat, { kind: 'error', error: LOST });
    this.#metricsCalls.giveUp(seat, []);
    this.#orderCalls.giveUp(seat, NO_WORK);
    if (isLast) this.#fail(seat, { code: 'internal_error', message: this.#lastWords(index, problem) });
    this.options.onProblem(isLast ? 'a shard cannot start' : 'a shard died and was replaced', {
      shard: index,
      epoch,
      problem,
      lostSessions: lost.length,
      lostTurns: lost.reduce((sum, { turns }) => sum + turns, 0),
      lostTokens: lost.reduce((sum, { tokens }) => sum + tokens, 0),
    });
  }
}

function sumOfWork(works: readonly EngineWork[]): EngineWork {
  const running = new Map<string | null, number>();
  for (const work of works)
    for (const { weightVersion, turns } of work.running) running.set(weightVersion, (running.get(weightVersion) ?? 0) + turns);
  return {
    calls: works.reduce((sum, { calls }) => sum + calls, 0),
    waiting: works.reduce((sum, { waiting }) => sum + waiting, 0),
    running: [...running].map(([weightVersion, turns]) => ({ weightVersion, turns })),
  };
}
