import type { MessagePort } from 'node:worker_threads';
import { EnginePool } from '../backend/engine-pool.js';
import type { TurnRequest } from '../canonical/turn.js';
import { engineNamed } from '../engines/registry.js';
import { type ErrorValue, GatewayError } from '../errors.js';
import { formatTokenCount } from '../protocols/anthropic-messages.js';
import type { Protocol } from '../protocols/protocol.js';
import { createProtocols, type Protocols } from '../protocols/registry.js';
import { parseBody } from '../protocols/request-body.js';
import { type LoadedModel, loadModel } from '../rendering/model.js';
import { createLog, errorFields, type Log, sessionTag } from '../telemetry/log.js';
import { createMetrics, type Metrics } from '../telemetry/metrics.js';
import { bodyDigest, preparePrompt } from './begin-turn.js';
import { CallAnswer } from './call-answer.js';
import type { AgentCall, FromShard, ServedModel, ToShard } from './messages.js';
import { Outbox } from './outbox.js';
import { retriedTurn, retryTurn } from './retry-turn.js';
import { runTurn } from './run-turn.js';
import { Session } from './session.js';
import { SessionStore } from './session-store.js';
import type { ShardContext } from './shard-context.js';
import type { ShardStart } from './shard-start.js';
import { TrainerDesk } from './trainer-desk.js';
import { TurnSignatures } from './turn-signature.js';

const SWEEP_MS = 1000;
/** Where neither model nor engine nor setting says how long a context may be. */
const CONTEXT_TOKENS_UNKNOWN = 1_000_000;

/**
 * What one worker thread is: its sessions, its copy of the model, its connections to the engine. State changes are synchronous;
 * between them calls wait for the engine or for their client, never for each other.
 */
export class Shard {
  readonly #outbox: Outbox;
  readonly #answers = new Map<number, CallAnswer>();
  readonly #metrics: Metrics;
  readonly #log: Log;
  readonly #protocols: Protocols;
  #parts: ShardParts | null = null;

  constructor(
    private readonly start: ShardStart,
    private readonly port: MessagePort,
  ) {
    const thread = `shard-${start.index}`;
    this.#outbox = new Outbox(port);
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
    const parts = this.#open(model);
    this.#parts = parts;
    this.#send({ kind: 'ready', model: this.#served(parts) });
    const sweep = setInterval(() => this.#sweep(parts), SWEEP_MS);
    parts.context.engine.start();
    try {
      await over;
    } finally {
      clearInterval(sweep);
      this.#metrics.stop();
      await parts.context.engine.close();
    }
  }

  #open(model: LoadedModel): ShardParts {
    const { settings, index, secret } = this.start;
    if (model.warning !== null && index === 0) this.#log.warn(model.warning);
    this.#log.info({ family: model.family.name, fastPath: model.tokenizer.fastPath, why: model.tokenizer.fastPathReason }, 'model loaded');
    const engine = new EnginePool({
      engine: engineNamed(settings.engine),
      urls: settings.engineUrl,
      apiKey: this.start.engineKey,
      settings,
      vocabularySize: Math.max(model.tokenizer.vocabularySize, model.directory.vocabSize ?? 0),
      sharedCounters: this.start.inFlight,
      shard: { index, count: settings.shards },
    });
    const context: ShardContext = {
      settings,
      model,
      engine,
      engineName: settings.engine,
      signatures: new TurnSignatures(secret),
      // Rows and trees live in memory: nothing follows the journal.
      journal: () => undefined,
      metrics: this.#metrics,
      log: this.#log,
      modelName: () => settings.engineModel ?? model.directory.name,
      contextTokens: () => {
        const limits = [model.directory.contextTokens, engine.probe()?.contextTokens ?? null, settings.limits.contextTokens || null];
        const known = limits.filter((limit) => limit !== null);
        return known.length === 0 ? CONTEXT_TOKENS_UNKNOWN : Math.min(...known);
      },
    };
    const store = new SessionStore(settings, context.journal, {
      opened: (session) => this.#send({ kind: 'opened', sessionId: session.id }),
      closed: (session) => this.#send({ kind: 'closed', sessionId: session.id }),
    });
    const desk = new TrainerDesk({
      store,
      context,
      onFinished: () => this.#send({ kind: 'finished' }),
    });
    const parts = { context, store, desk };
    engine.onChange(() => {
      this.#send({ kind: 'engines', engines: engine.states() });
      this.#send({ kind: 'ready', model: this.#served(parts) });
    });
    this.#send({ kind: 'engines', engines: engine.states() });
    return parts;
  }

  #served({ context }: ShardParts): ServedModel {
    const { model } = context;
    return {
      name: context.modelName(),
      contextTokens: context.contextTokens(),
      family: model.family.name,
      tokenizerHash: model.tokenizer.hash,
    };
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
          (answer) =>
            this.#send({ kind: 'trainer', id, answer }, answer.kind === 'traces' ? answer.sessions.map((body) => body.buffer) : []),
          (error: unknown) => {
            this.#log.error({ call: call.kind, ...errorFields(error) }, 'a trainer call failed');
            this.#send({ kind: 'trainer', id, answer: { kind: 'error', error: INTERNAL } });
          },
        );
        return;
      }
      case 'metrics': {
        const { id } = message;
        this.#measure();
        void this.#metrics.toJson().then((metrics) => this.#send({ kind: 'metrics', id, metrics }));
        return;
      }
      case 'drain':
        return;
      case 'crash':
        if (this.start.settings.test.faults) plantFault(message.how);
        return;
    }
  }

  #agent(call: AgentCall): void {
    const protocol = this.#protocols[call.protocol];
    const answer = new CallAnswer(call.id, call.requestId, protocol, this.start.settings.heartbeat, (message, transfer) =>
      this.#send(message, transfer === null ? [] : [transfer]),
    );
    this.#answers.set(call.id, answer);
    let streaming = false;
    this.#serve(call, protocol, answer, (request) => {
      streaming = request.stream;
    }).catch((error: unknown) => {
      if (error instanceof GatewayError) {
        this.#metrics.turnsTotal.inc({ protocol: call.protocol, outcome: 'refused' });
        answer.fail(error.toValue(), streaming);
        return;
      }
      this.#log.error({ session: sessionTag(call.sessionKey), request: call.requestId, ...errorFields(error) }, 'a call failed');
      answer.fail(INTERNAL, streaming);
    });
  }

  async #serve(call: AgentCall, protocol: Protocol, answer: CallAnswer, seen: (request: TurnRequest) => void): Promise<void> {
    const parts = this.#parts;
    if (parts === null) throw new GatewayError('overloaded', 'The gateway is still loading the model: try again.');
    const { context, store } = parts;
    const startedMs = performance.now();
    const asked = parseRequest(call, protocol, context);
    context.metrics.turnStageSeconds.observe({ stage: 'parse' }, (performance.now() - startedMs) / 1000);
    seen(asked);
    refuseOtherModel(asked.model, context);
    const nowMs = Date.now();
    if (call.operation === 'count_tokens') {
      const session = opened(store.peek(call.sessionKey, nowMs));
      const { promptTokens } = await preparePrompt(session, asked, context);
      answer.finish(formatTokenCount(promptTokens));
      return;
    }
    const session = opened(store.enter(call.sessionKey, nowMs));
    const onWire = context.settings.wire.tokenIds || session.created.tokenIdsOnWire;
    const request = onWire ? { ...asked, returnTokenIds: true } : asked;
    const digest = bodyDigest(call.protocol, call.body);
    const retried = call.retryCount > 0 ? retriedTurn(session, digest) : null;
    if (retried !== null) await retryTurn(retried, request, session, protocol, answer, context);
    else await runTurn(call, digest, request, session, protocol, answer, context);
    session.lastUsedMs = Date.now();
  }

  /** Ends idle sessions and forgets rows that nobody fetched. */
  #sweep({ context, store, desk }: ShardParts): void {
    const nowMs = Date.now();
    const idleBefore = nowMs - context.settings.sessions.idleTtlMs;
    for (const session of store.open) {
      if (session.lastUsedMs >= idleBefore || session.running.size > 0 || session.state !== 'open') continue;
      this.#log.info({ session: sessionTag(session.id) }, 'an idle session expired');
      void desk.expire(session);
    }
    for (const life of store.expireFinished(nowMs)) {
      this.#log.warn({ session: sessionTag(life.id), tokens: life.summary.tokens.trained }, 'rows expired before a trainer fetched them');
    }
  }

  #measure(): void {
    const parts = this.#parts;
    if (parts === null) return;
    const { context, store } = parts;
    let nodes = 0;
    for (const session of store.open) nodes += session.tree.nodes.length;
    this.#metrics.treeNodes.set(nodes);
    this.#metrics.sessions.set({ state: 'open' }, store.openCount);
    this.#metrics.sessions.set({ state: 'finished' }, store.book.size);
    for (const replica of context.engine.states()) {
      const label = { replica: replica.url };
      // Every shard sees the same replicas: one of them reports what they share.
      if (this.start.index === 0) {
        this.#metrics.replicaUp.set(label, replica.state === 'up' ? 1 : 0);
        this.#metrics.replicaInFlight.set(label, replica.inFlight);
        this.#metrics.replicaWindow.set(label, replica.window);
      }
      this.#metrics.replicaQueue.set(label, replica.queued);
    }
  }

  #send(message: FromShard, transfers: readonly ArrayBufferLike[] = []): void {
    this.#outbox.send(message, transfers);
  }
}

interface ShardParts {
  readonly context: ShardContext;
  readonly store: SessionStore;
  readonly desk: TrainerDesk;
}

const INTERNAL: ErrorValue = { code: 'internal_error', message: 'The gateway failed at this call; its log has the details.' };

function parseRequest(call: AgentCall, protocol: Protocol, { settings, signatures }: ShardContext): TurnRequest {
  return protocol.parseRequest(parseBody(call.body, settings.limits.jsonDepth), {
    verifySignature: (signature) => signatures.verify(call.sessionKey, signature),
  });
}

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

function plantFault(how: 'throw' | 'exit' | 'hang'): void {
  switch (how) {
    case 'throw':
      throw new Error('planted fault');
    case 'exit':
      process.exit(1);
      return;
    case 'hang':
      for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  }
}
