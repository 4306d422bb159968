import { randomUUID } from 'node:crypto';
import type { Settings } from './config.js';
import { GatewayError } from './errors.js';
import { FinishedWaker } from './shard/finished-waker.js';
import type { ShardLink } from './shard/shard-link.js';
import { decodeSession } from './shard/trace-msgpack.js';
import type { TrainerAnswer, TrainerCall } from './trainer/calls.js';
import type { FinishedSession } from './trainer/trace-encoding.js';
import { readTrainerRequest, type TrainerRequest, type TrainerRouteName } from './trainer/trainer-request.js';

export interface CreatedSession {
  readonly session_id: string;
  /** What the agent sends as its API key. */
  readonly api_key: string;
  /** Base URLs as each vendor's clients take them. */
  readonly base_urls: { readonly openai: string; readonly anthropic: string };
}

export interface LeasedTraces {
  /** `null` when nothing was ready. */
  readonly lease_id: string | null;
  /** Seconds since the epoch. */
  readonly expires_at: number | null;
  readonly sessions: readonly FinishedSession[];
}

/** A body as it would be sent over HTTP, such as `{ reward: 1, include: ['messages'] }`. */
export type TrainerBody = Readonly<Record<string, unknown>>;

const MSGPACK = 'application/msgpack';

/**
 * The trainer's calls in process: the same bodies, checks and answers as over HTTP, rows with typed arrays. Every method
 * @throws GatewayError with the code that HTTP would answer.
 */
export class Sessions {
  constructor(
    private readonly link: ShardLink,
    private readonly settings: Settings,
    private readonly address: { readonly url: string; readonly keyOf: (sessionId: string) => string },
  ) {}

  async create(body: TrainerBody = {}): Promise<CreatedSession> {
    const { call } = this.#read('create_session', '', body);
    if (call.kind !== 'create') throw new Error('a creation was read as another call');
    const { sessionId } = call.session;
    const { url, keyOf } = this.address;
    const created = await this.#json<{ readonly session_id: string }>(sessionId, call);
    return { ...created, api_key: keyOf(sessionId), base_urls: { openai: `${url}/v1`, anthropic: url } };
  }

  /** State and counters of one session. */
  async get(sessionId: string): Promise<Readonly<Record<string, unknown>>> {
    return this.#json(sessionId, { kind: 'get', sessionId });
  }

  /** The tree of messages, as JSON. */
  async tree(sessionId: string): Promise<Readonly<Record<string, unknown>>> {
    return this.#json(sessionId, { kind: 'tree', sessionId, format: 'json', colour: false });
  }

  /** The tree of messages, drawn for a terminal. */
  async treeText(sessionId: string, colour = false): Promise<string> {
    return (await this.#text(sessionId, { kind: 'tree', sessionId, format: 'text', colour })).text;
  }

  /** Ends a session and gives its rows; the same rows until they are acknowledged. */
  async finish(sessionId: string, body: TrainerBody = {}): Promise<FinishedSession> {
    const { call } = this.#read('finish_session', sessionId, body);
    const answer = await this.#ask(sessionId, call);
    const [bytes] = answer.kind === 'traces' ? answer.sessions : [];
    if (answer.kind !== 'traces' || bytes === undefined) throw new Error(`finish was answered by "${answer.kind}"`);
    const finished = decodeSession(bytes);
    if (call.kind === 'finish' && call.finish.ack && answer.life !== undefined)
      await this.#ask(sessionId, { kind: 'ack_life', sessionId, life: answer.life });
    return finished;
  }

  async delete(sessionId: string): Promise<void> {
    await this.#ask(sessionId, { kind: 'delete', sessionId });
  }

  /** Takes finished sessions on lease; they come again unless acknowledged before it ends. */
  async lease(options: { readonly max?: number; readonly waitMs?: number } = {}): Promise<LeasedTraces> {
    const query = new URLSearchParams({ max: String(options.max ?? 100), wait_ms: String(options.waitMs ?? 0) });
    const { call, waitMs } = this.#read('lease_traces', '', null, query.toString());
    if (call.kind !== 'lease') throw new Error('a scrape was read as another call');
    const waker = new FinishedWaker(this.link, waitMs);
    try {
      for (;;) {
        const isLast = waker.isOver;
        // A lease begins when rows are given, not when they were asked for.
        const expiresAtMs = Date.now() + this.settings.traces.leaseMs;
        const sessions = await this.#leaseFromAll({ ...call, expiresAtMs });
        if (sessions.length > 0) return { lease_id: call.leaseId, expires_at: expiresAtMs / 1000, sessions };
        if (isLast) return { lease_id: null, expires_at: null, sessions: [] };
        await waker.next();
      }
    } finally {
      waker.stop();
    }
  }

  async #leaseFromAll(lease: TrainerCall & { readonly kind: 'lease' }): Promise<FinishedSession[]> {
    const sessions: FinishedSession[] = [];
    for (let shard = 0; shard < this.link.shardCount && sessions.length < lease.max; shard += 1) {
      const answer = await this.link.trainer(shard, { ...lease, max: lease.max - sessions.length });
      if (answer.kind === 'error') {
        // A shard that is being replaced has no rows; what others have given is under a lease already.
        if (answer.error.code === 'overloaded' || answer.error.code === 'session_lost') continue;
        throw new GatewayError(answer.error.code, answer.error.message);
      }
      if (answer.kind === 'traces') sessions.push(...answer.sessions.map(decodeSession));
    }
    return sessions;
  }

  async ack(names: {
    readonly leaseId?: string;
    readonly sessionIds?: readonly string[];
  }): Promise<{ readonly acked: number; readonly unknown: number }> {
    const call: TrainerCall = { kind: 'ack', leaseId: names.leaseId ?? null, sessionIds: names.sessionIds ?? [] };
    const asked = new Set(names.leaseId === undefined ? call.sessionIds : [names.leaseId, ...call.sessionIds]);
    let acked = 0;
    for (let shard = 0; shard < this.link.shardCount; shard += 1) {
      const answer = await this.link.trainer(shard, call);
      if (answer.kind !== 'acked') continue;
      acked += answer.acked;
      for (const name of [...asked]) if (!answer.unknown.includes(name)) asked.delete(name);
    }
    return { acked, unknown: asked.size };
  }

  #read(route: TrainerRouteName, sessionId: string, body: TrainerBody | null, query = ''): TrainerRequest {
    const bytes = new TextEncoder().encode(body === null ? '' : JSON.stringify(body));
    return readTrainerRequest(
      route,
      sessionId,
      { query, accept: MSGPACK, body: bytes },
      {
        jsonDepth: this.settings.limits.jsonDepth,
        finishWaitMs: this.settings.finish.waitMs,
        leaseMs: this.settings.traces.leaseMs,
        nowMs: Date.now,
        newId: randomUUID,
      },
    );
  }

  async #json<T>(sessionId: string, call: TrainerCall): Promise<T> {
    return JSON.parse((await this.#text(sessionId, call)).text) as T;
  }

  async #text(sessionId: string, call: TrainerCall): Promise<{ readonly text: string }> {
    const answer = await this.#ask(sessionId, call);
    if (answer.kind !== 'text') throw new Error(`"${call.kind}" was answered by "${answer.kind}"`);
    return answer;
  }

  async #ask(sessionId: string, call: TrainerCall): Promise<TrainerAnswer> {
    const answer = await this.link.trainer(this.link.shardOf(sessionId), call);
    if (answer.kind === 'error') throw new GatewayError(answer.error.code, answer.error.message);
    return answer;
  }
}
