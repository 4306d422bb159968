import type { MessagePort } from 'node:worker_threads';
import { type ErrorValue, GatewayError } from '../errors.js';
import { formatTokenCount } from '../protocols/anthropic-messages.js';
import type { Protocol } from '../protocols/protocol.js';
import { createProtocols, type Protocols } from '../protocols/registry.js';
import { type LoadedModel, loadModel } from '../rendering/model.js';
import { nextSlice } from '../rendering/slices.js';
import { createLog, errorFields, type Log, sessionTag } from '../telemetry/log.js';
import { createMetrics, type Metrics } from '../telemetry/metrics.js';
import { preparePrompt } from './begin-turn.js';
import { CallAnswer } from './call-answer.js';
import { carryOut } from './carry-out-order.js';
import type { AgentCall, FromShard, ToShard } from './messages.js';
import { Outbox } from './outbox.js';
import { retriedTurn, retryTurn } from './retry-turn.js';
import { runTurn } from './run-turn.js';
import { Session } from './session.js';
import type { ShardContext } from './shard-context.js';
import { measure, openParts, type ShardParts, servedModel, sweepSessions } from './shard-parts.js';
import type { ShardStart } from './shard-start.js';

const SWEEP_MS = 1000;
/** A call with more new bytes is read, rendered and encoded in turns of the event loop of their own. */
const LONG_BODY_BYTES = 16_384;

/**
 * What one worker thread is: its sessions, its copy of the model, its connections to the engine. State changes are synchronous;
 * between them calls wait for the engine or for their client, never for each other.
 */
export class Shard {
  readonly #outbox: Outbox<FromShard>;
  readonly #answers = new Map<number, CallAnswer>();
  readonly #metrics: Metrics;
  readonly #log: Log;
  readonly #protocols: Protocols;
  #parts: ShardParts | null = null;
  #drainEnd: NodeJS.Timeout | undefined;

  constructor(
    private readonly start: ShardStart,
    private readonly port: MessagePort,
  ) {
    const thread = `shard-${start.index}`;
    this.#outbox = new Outbox((messages, transfers) => port.postMessage(messages, transfers));
    this.#metrics = createMetrics(thread);
    this.#log = createLog(start.settings.log.level, thread);
    this.#protocols = createProtocols(start.settings.wire);
  }

  /** Loads the model and serves until the port closes. Rejects when a planted fault or a broken invariant ends the thread. */
  async live(): Promise<void> {
    const over = new Promise<void>((resolve, reject) => {
      this.port.on('close', resolve);
      this.port.on('message', (messages: readonly ToShard[]) => {
        try {
          for (const message of messages) this.#receive(message);
        } catch (error) {
          reject(error);
        }
      });
    });
    let model: LoadedModel;
    try {
      model = loadModel(this.start.settings);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#send({ kind: 'failed', error: error.toValue() });
      return over;
    }
    const parts = openParts(this.start, model, this.#metrics, this.#log, (message) => this.#send(message));
    this.#parts = parts;
    this.#send({ kind: 'ready', model: servedModel(parts.context) });
    const sweep = setInterval(() => sweepSessions(parts), SWEEP_MS);
    parts.context.engine.start();
    try {
      await over;
    } finally {
      this.#outbox.mute();
      clearInterval(sweep);
      clearTimeout(this.#drainEnd);
      this.#metrics.stop();
      await parts.context.engine.close();
    }
  }

  #receive(message: ToShard): void {
    switch (message.kind) {
      case 'agent':
        this.#agent(message);
        return;
      case 'gone':
        this.#answers.get(message.id)?.clientGone();
        this.#answers.delete(message.id);
        return;
      case 'written':
        this.#answers.get(message.id)?.clientServed();
        this.#answers.delete(message.id);
        return;
      case 'trainer': {
        const { id, call } = message;
        const desk = this.#parts?.desk;
        if (desk === undefined) return;
        desk.answer(call).then(
          (answer) => this.#send({ kind: 'trainer', id, answer }, answer.kind === 'traces' ? ownBuffers(answer.sessions) : []),
          (error: unknown) => {
            this.#log.error({ call: call.kind, ...errorFields(error) }, 'a trainer call failed');
            this.#send({ kind: 'trainer', id, answer: { kind: 'error', error: INTERNAL } });
          },
        );
        return;
      }
      case 'metrics': {
        const { id } = message;
        if (this.#parts !== null) measure(this.#parts, this.start.index);
        void this.#metrics.toJson().then((metrics) => this.#send({ kind: 'metrics', id, metrics }));
        return;
      }
      case 'order': {
        const { id, order, slot } = message;
        const engine = this.#parts?.context.engine;
        if (engine === undefined) return;
        carryOut(engine, order, slot).then(
          (work) => {
            // What the order did is told before it is answered.
            this.#send({ kind: 'engines', engines: engine.states() });
            this.#send({ kind: 'work', id, work });
          },
          (error: unknown) => {
            this.#log.error({ order: order.kind, ...errorFields(error) }, 'an order about the engines failed');
            this.#send({ kind: 'work', id, work: engine.work() });
          },
        );
        return;
      }
      case 'drain':
        this.#drainEnd = setTimeout(() => {
          for (const answer of [...this.#answers.values()]) answer.abandon(SHUTTING_DOWN);
        }, message.deadlineMs);
        return;
      case 'crash':
        if (this.start.settings.test.faults) plantFault(message.how);
        return;
    }
  }

  #agent(call: AgentCall): void {
    const protocol = this.#protocols[call.protocol];
    const answer = new CallAnswer(call.id, call.requestId, protocol, this.start.settings.heartbeat, (message, transfer) => {
      // Of a call that is cut off nothing more is heard.
      if (message.kind === 'cut') this.#answers.delete(call.id);
      this.#send(message, transfer === null ? [] : [transfer]);
    });
    this.#answers.set(call.id, answer);
    this.#serve(call, protocol, answer).catch((error: unknown) => {
      if (error instanceof GatewayError) {
        this.#metrics.turnsTotal.inc({ protocol: call.protocol, outcome: 'refused' });
        answer.fail(error.toValue());
        return;
      }
      this.#log.error({ session: sessionTag(call.sessionKey), request: call.requestId, ...errorFields(error) }, 'a call failed');
      answer.fail(INTERNAL);
    });
  }

  async #serve(call: AgentCall, protocol: Protocol, answer: CallAnswer): Promise<void> {
    const parts = this.#parts;
    if (parts === null) throw new GatewayError('overloaded', 'The gateway is still loading the model: try again.');
    const { context, requests, store } = parts;
    const isLong = requests.unknownBytes(call) > LONG_BODY_BYTES;
    if (isLong) await nextSlice();
    const startedMs = performance.now();
    const { request: asked, digest, keep } = requests.read(call, protocol);
    context.metrics.turnStageSeconds.observe({ stage: 'parse' }, (performance.now() - startedMs) / 1000);
    if (isLong) await nextSlice();
    refuseOtherModel(asked.model, context);
    const nowMs = Date.now();
    if (call.operation === 'count_tokens') {
      const session = opened(store.peek(call.sessionKey, nowMs));
      const { promptTokens } = await preparePrompt(session, asked, context, 'leave');
      answer.finish(formatTokenCount(promptTokens));
      return;
    }
    const session = opened(store.enter(call.sessionKey, nowMs));
    keep();
    const onWire = context.settings.wire.tokenIds || session.created.tokenIdsOnWire;
    const request = onWire ? { ...asked, returnTokenIds: true } : asked;
    const retried = call.retryCount > 0 ? retriedTurn(session, digest) : null;
    const turn = { request, session, protocol, answer, context, receivedAtMs: call.receivedAtMs };
    if (retried !== null) await retryTurn(turn, retried);
    else await runTurn(turn, digest);
    session.lastUsedMs = Date.now();
  }

  #send(message: FromShard, transfers: readonly ArrayBuffer[] = []): void {
    if (message.kind === 'spare') this.#outbox.sendUnhurried(message, [message.buffer]);
    else if (message.kind === 'progress') this.#outbox.sendUnhurried(message);
    else this.#outbox.send(message, transfers);
  }
}

const ownBuffers = (bodies: readonly Uint8Array[]): ArrayBuffer[] =>
  bodies.flatMap(({ buffer }) => (buffer instanceof ArrayBuffer ? [buffer] : []));

const INTERNAL: ErrorValue = { code: 'internal_error', message: 'The gateway failed at this call; its log has the details.' };

const SHUTTING_DOWN: ErrorValue = {
  code: 'shutting_down',
  message: 'The gateway stopped before the turn was done; nothing of it was recorded.',
};

function refuseOtherModel(name: string, { settings, modelName }: ShardContext): void {
  if (settings.models.strict && name !== modelName()) {
    throw new GatewayError('model_not_found', `The model "${name}" is not served here: use "${modelName()}".`);
  }
}

function opened(entered: Session | ErrorValue): Session {
  if (entered instanceof Session) {
    if (entered.state === 'open') return entered;
    throw new GatewayError('session_closed', 'The session is being finished: it takes no more turns.');
  }
  throw new GatewayError(entered.code, entered.message);
}

function plantFault(how: 'throw' | 'exit' | 'hang' | 'heap'): void {
  switch (how) {
    case 'throw':
      throw new Error('planted fault');
    case 'exit':
      process.exit(1);
      return;
    case 'hang':
      for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
    case 'heap':
      for (const held: number[][] = []; ; ) held.push(Array.from({ length: 10_000 }, (_, number) => number + 0.5));
  }
}
