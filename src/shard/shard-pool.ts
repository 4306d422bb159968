import { randomBytes } from 'node:crypto';
import { SharedCounters } from '../backend/shared-counters.js';
import type { Settings } from '../config.js';
import type { ErrorValue } from '../errors.js';
import { BufferPool } from '../memory/buffer-pool.js';
import type { EngineOrder, TrainerAnswer, TrainerCall } from '../trainer/calls.js';
import type { WideCall } from '../trainer/fan-out.js';
import { EngineOrders, type EngineStand, sumOfWork } from './engine-orders.js';
import { Listeners } from './listeners.js';
import type { AgentCall, EngineWork, FromShard, ReplicaState, ServedModel } from './messages.js';
import { OpenCalls } from './open-calls.js';
import { LOST, SessionFates } from './session-fates.js';
import { type SessionOutline, sumOfOutlines } from './session-outlines.js';
import { ShardAsks } from './shard-asks.js';
import { neverBorn, ShardHost } from './shard-host.js';
import type { CallHandle, ShardLink } from './shard-link.js';
import { shardOf } from './shard-of.js';
import type { ShardSeat } from './shard-seat.js';
import { ShardSeats } from './shard-seats.js';

export interface ShardPoolOptions {
  readonly settings: Settings;
  readonly engineKey: string | null;
  readonly onProblem: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

const NO_WORK: EngineWork = { calls: 0, waiting: 0, running: [] };
/** Names a question whose answer is not waited for. */
const NOBODY = 0;
/** Memory for bodies to come that is kept while none comes. */
const SPARE_BYTES_MAX = 32 * 1024 * 1024;
const METRICS_WAIT_MS = 2000;
/** After a drain, time for the shards to refuse what is left, each call in its dialect. */
const REFUSING_MS = 1000;

/** All shards, and which session lives, is closed or was lost where. Lives on the front's thread. */
export class ShardPool implements ShardLink {
  readonly buffers = new BufferPool(SPARE_BYTES_MAX);
  readonly #seats: ShardSeats;
  readonly #calls = new OpenCalls<ShardSeat>();
  readonly #trainerCalls = new ShardAsks<ShardSeat, TrainerAnswer>();
  readonly #metricsCalls = new ShardAsks<ShardSeat, readonly object[]>();
  readonly #orderCalls = new ShardAsks<ShardSeat, EngineWork>();
  readonly #orders: EngineOrders;
  readonly #finished = new Listeners();
  readonly #fates: SessionFates;

  constructor(private readonly options: ShardPoolOptions) {
    const { settings } = options;
    this.#fates = new SessionFates(settings.sessions.closedTtlMs, settings.traces.ttlMs, settings.sessions.closedMax);
    this.#orders = new EngineOrders(settings.engineUrl);
    const secret = new Uint8Array(randomBytes(32));
    const inFlight = new SharedArrayBuffer(SharedCounters.bytes(settings.shards));
    const life = { settings, engineKey: options.engineKey, secret, inFlight };
    this.#seats = new ShardSeats(
      settings.shards,
      (seat) =>
        new ShardHost({
          index: seat.index,
          start: (epoch) => ({ ...life, index: seat.index, epoch, engines: this.#orders.stand }),
          hangMs: settings.shard.hangMs,
          heapMb: settings.shard.heapMb,
          onMessage: (message) => this.#receive(seat, message),
          onDeath: (epoch, problem, isLast) => this.#bury(seat, epoch, problem, isLast),
        }),
    );
  }

  get shardCount(): number {
    return this.#seats.count;
  }

  get model(): ServedModel | null {
    return this.#seats.model;
  }

  get ready(): boolean {
    return this.problem === null;
  }

  get problem(): string | null {
    return this.#seats.problem;
  }

  get replicas(): readonly ReplicaState[] {
    return this.#seats.replicas;
  }

  shardOf(sessionKey: string): number {
    return shardOf(sessionKey, this.#seats.count);
  }

  /** Resolves when every shard takes calls. @throws GatewayError why one cannot start */
  started(): Promise<void> {
    return this.#seats.started();
  }

  open(call: Omit<AgentCall, 'kind' | 'id'>, onMessage: (message: FromShard) => void): CallHandle | ErrorValue {
    const refused = this.closedError(call.sessionKey);
    if (refused !== null) return refused;
    const seat = this.#seats.at(this.shardOf(call.sessionKey));
    if (!seat.isReady) return seat.refusal;
    const id = this.#calls.open({ seat, sessionKey: call.sessionKey, onMessage });
    seat.host.send({ kind: 'agent', id, ...call }, call.body.buffer instanceof ArrayBuffer ? [call.body.buffer] : []);
    return {
      id,
      gone: () => {
        this.#calls.leave(id);
        seat.host.send({ kind: 'gone', id });
      },
      // Whatever builds on the turn that is committed with it is sent later and arrives later.
      written: () => seat.host.sendUnhurried({ kind: 'written', id }),
    };
  }

  trainer(shard: number, call: TrainerCall): Promise<TrainerAnswer> {
    const seat = this.#seats.at(shard);
    const answer = this.#fates.answer(call);
    if (answer !== null) return Promise.resolve(answer);
    if (!seat.isReady) return Promise.resolve({ kind: 'error', error: seat.refusal });
    return this.#trainerCalls.ask(seat, (id) => seat.host.send({ kind: 'trainer', id, call }));
  }

  /** A shard that is being born is told too: it reads its messages when it has loaded the model. */
  async order(order: EngineOrder): Promise<EngineWork | ErrorValue> {
    const taken = this.#orders.take(order);
    if ('code' in taken) return taken;
    const works = await Promise.all(
      [...this.#seats].map((seat) => {
        const send = (id: number): void => seat.host.send({ kind: 'order', id, ...taken });
        if (seat.isReady) return this.#orderCalls.ask(seat, send);
        send(NOBODY);
        return NO_WORK;
      }),
    );
    return sumOfWork(works);
  }

  get engineStand(): EngineStand {
    return this.#orders.stand;
  }

  lost(call: WideCall): TrainerAnswer {
    return this.#fates.answerWide(call);
  }

  /** What goes with the process: sessions whose rows nobody acknowledged, and open ones. */
  get unfetched(): readonly SessionOutline[] {
    return this.#seats.sessions;
  }

  onFinished(listener: () => void): () => void {
    return this.#finished.add(listener);
  }

  metrics(): Promise<readonly (readonly object[])[]> {
    return Promise.all(
      this.#seats.ready.map((seat) =>
        this.#metricsCalls.ask(
          seat,
          (id) => seat.host.send({ kind: 'metrics', id }),
          METRICS_WAIT_MS,
          () => [],
        ),
      ),
    );
  }

  closedError(sessionKey: string): ErrorValue | null {
    return this.#fates.refusal(sessionKey);
  }

  async drain(deadlineMs: number): Promise<void> {
    for (const seat of this.#seats) seat.host.send({ kind: 'drain', deadlineMs });
    await this.#calls.answered(deadlineMs + REFUSING_MS);
  }

  /** Plants a fault; only with `test.faults`. */
  crash(shard: number, how: 'throw' | 'exit' | 'hang' | 'heap'): void {
    if (this.options.settings.test.faults) this.#seats.at(shard).host.send({ kind: 'crash', how });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#seats].map((seat) => seat.host.close()));
  }

  #receive(seat: ShardSeat, message: FromShard): void {
    switch (message.kind) {
      case 'ready':
        this.#seats.loaded(seat, message.model);
        return;
      case 'failed':
        this.#seats.failed(seat, message.error);
        return;
      case 'spare':
        this.buffers.give(message.buffer);
        return;
      case 'engines':
        seat.replicas = message.engines;
        return;
      case 'opened':
        seat.sessions.opened(message);
        this.#fates.opened(message.sessionId);
        return;
      case 'progress':
        seat.sessions.progressed(message.life, message.turns, message.tokens);
        return;
      case 'forgotten':
        seat.sessions.forgotten(message.life);
        return;
      case 'closed':
        this.#fates.closed(message.sessionId);
        return;
      case 'finished':
        seat.sessions.finished(message.life);
        this.#finished.tell();
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
      case 'head':
      case 'chunk':
      case 'end':
      case 'cut':
        this.#calls.deliver(message);
        return;
    }
  }

  /** Everyone who waits for the dead life gets a definite answer, and its sessions never come back empty. */
  #bury(seat: ShardSeat, epoch: number, problem: string, isLast: boolean): void {
    const lost = seat.died(problem);
    for (const outline of lost) this.#fates.lose(outline);
    this.#calls.lose(seat, (sessionKey) => this.#fates.refusal(sessionKey) ?? seat.refusal);
    this.#trainerCalls.giveUp(seat, { kind: 'error', error: LOST });
    this.#metricsCalls.giveUp(seat, []);
    this.#orderCalls.giveUp(seat, NO_WORK);
    if (isLast)
      this.#seats.failed(seat, { code: 'internal_error', message: neverBorn(seat.index, problem, this.options.settings.shard.heapMb) });
    if (lost.length > 0) this.#finished.tell();
    this.options.onProblem(isLast ? 'a shard cannot start' : 'a shard died and was replaced', {
      shard: seat.index,
      epoch,
      problem,
      lost: sumOfOutlines(lost),
    });
  }
}
