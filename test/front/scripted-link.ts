/** The shards as the front sees them, in memory: each call is answered by a script of the test. */
import type { ErrorValue } from '../../src/errors.js';
import { BufferPool } from '../../src/memory/buffer-pool.js';
import type { EngineStand } from '../../src/shard/engine-orders.js';
import type { AgentCall, EngineWork, FromShard, ReplicaState, ServedModel } from '../../src/shard/messages.js';
import type { CallHandle, ShardLink } from '../../src/shard/shard-link.js';
import type { EngineOrder, TrainerAnswer, TrainerCall } from '../../src/trainer/calls.js';
import type { WideCall } from '../../src/trainer/fan-out.js';

/** One opened call: what was sent, what came of it, and a way to speak as its shard. */
export class ScriptedCall {
  outcome: 'open' | 'gone' | 'written' = 'open';
  #waiting: (() => void)[] = [];
  constructor(
    readonly id: number,
    readonly sent: Omit<AgentCall, 'kind' | 'id'>,
    private readonly onMessage: (message: FromShard) => void,
  ) {}

  get text(): string {
    return new TextDecoder().decode(this.sent.body);
  }

  settle(outcome: 'gone' | 'written'): void {
    if (this.outcome !== 'open') throw new Error(`call ${this.id} was ${this.outcome} and is now ${outcome}`);
    this.outcome = outcome;
    for (const wake of this.#waiting) wake();
  }

  async settled(): Promise<'gone' | 'written'> {
    if (this.outcome === 'open') await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.outcome as 'gone' | 'written';
  }

  answer(body: string | Uint8Array, status = 200): void {
    this.onMessage({ kind: 'answer', id: this.id, status, headers: [['content-type', 'application/json']], body: bytes(body) });
  }
  head(body: string): void {
    this.onMessage({ kind: 'head', id: this.id, status: 200, headers: [['content-type', 'text/event-stream']], body: bytes(body) });
  }
  chunk(body: string | Uint8Array): void {
    this.onMessage({ kind: 'chunk', id: this.id, body: bytes(body) });
  }
  end(body: string | Uint8Array): void {
    this.onMessage({ kind: 'end', id: this.id, body: bytes(body) });
  }
  cut(): void {
    this.onMessage({ kind: 'cut', id: this.id });
  }
  lost(error: ErrorValue): void {
    this.onMessage({ kind: 'lost', id: this.id, error });
  }
}

const bytes = (body: string | Uint8Array): Uint8Array => (typeof body === 'string' ? new TextEncoder().encode(body) : body);

export class ScriptedLink implements ShardLink {
  readonly calls: ScriptedCall[] = [];
  readonly trainerCalls: { readonly shard: number; readonly call: TrainerCall }[] = [];
  readonly crashes: string[] = [];
  readonly buffers = new BufferPool(1e6);
  shardCount = 2;
  model: ServedModel | null = { name: 'tiny', contextTokens: 4096, family: 'text', tokenizerHash: 'h' };
  ready = true;
  problem: string | null = null;
  replicas: readonly ReplicaState[] = [];
  closed = new Map<string, ErrorValue>();
  refusal: ErrorValue | null = null;
  isDrained = false;
  onCall: (call: ScriptedCall) => void = (call) => call.answer('{"ok":true}');
  onTrainer: (shard: number, call: TrainerCall) => TrainerAnswer | Promise<TrainerAnswer> = () => ({
    kind: 'text',
    status: 200,
    text: '{}',
  });
  readonly #finished = new Set<() => void>();
  #arrivals: (() => void)[] = [];

  shardOf(sessionKey: string): number {
    return sessionKey.length % this.shardCount;
  }

  open(sent: Omit<AgentCall, 'kind' | 'id'>, onMessage: (message: FromShard) => void): CallHandle | ErrorValue {
    if (this.refusal !== null) return this.refusal;
    const call = new ScriptedCall(this.calls.length + 1, sent, onMessage);
    this.calls.push(call);
    setImmediate(() => {
      this.onCall(call);
      for (const wake of this.#arrivals.splice(0)) wake();
    });
    return { id: call.id, gone: () => call.settle('gone'), written: () => call.settle('written') };
  }

  /** The call with this number, once it has arrived. */
  async call(number: number): Promise<ScriptedCall> {
    while (this.calls.length < number) await new Promise<void>((resolve) => this.#arrivals.push(resolve));
    return this.calls[number - 1]!;
  }

  async trainer(shard: number, call: TrainerCall): Promise<TrainerAnswer> {
    this.trainerCalls.push({ shard, call });
    return this.onTrainer(shard, call);
  }

  readonly orders: EngineOrder[] = [];
  engineStand: EngineStand = { replicas: [], pause: null, weightVersion: null };
  onOrder: (order: EngineOrder) => EngineWork | ErrorValue = () => ({ calls: 0, waiting: 0, running: [] });
  lostPage = '[]';
  lostPieces: Uint8Array[] = [];
  lostAck: TrainerAnswer = { kind: 'acked', acked: 0, unknown: ['x', 'y'] };

  async order(order: EngineOrder): Promise<EngineWork | ErrorValue> {
    this.orders.push(order);
    return this.onOrder(order);
  }

  lost({ kind }: WideCall): TrainerAnswer {
    switch (kind) {
      case 'list':
        return { kind: 'text', status: 200, text: this.lostPage };
      case 'lease':
        return { kind: 'traces', status: 200, sessions: this.lostPieces.splice(0) };
      case 'ack':
        return this.lostAck;
    }
  }

  onFinished(listener: () => void): () => void {
    this.#finished.add(listener);
    return () => this.#finished.delete(listener);
  }

  get finishedListeners(): number {
    return this.#finished.size;
  }

  announceFinished(): void {
    for (const listener of this.#finished) listener();
  }

  async metrics(): Promise<readonly (readonly object[])[]> {
    return [];
  }

  closedError(sessionKey: string): ErrorValue | null {
    return this.closed.get(sessionKey) ?? null;
  }

  crash(shard: number, how: 'throw' | 'exit' | 'hang' | 'heap'): void {
    this.crashes.push(`${shard} ${how}`);
  }

  async drain(): Promise<void> {
    this.isDrained = true;
  }

  async close(): Promise<void> {}
}
