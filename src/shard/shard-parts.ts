import { EnginePool } from '../backend/engine-pool.js';
import type { PoolCounts } from '../backend/pool-stats.js';
import { engineNamed } from '../engines/registry.js';
import type { LoadedModel } from '../rendering/model.js';
import { type Log, sessionTag } from '../telemetry/log.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { JournalEvent } from './journal.js';
import type { FromShard, ServedModel } from './messages.js';
import { RequestReaders } from './request-readers.js';
import { SessionStore } from './session-store.js';
import type { ShardContext } from './shard-context.js';
import type { ShardStart } from './shard-start.js';
import { TrainerDesk } from './trainer-desk.js';
import { countDiscarded } from './turn-call.js';
import { TurnSignatures } from './turn-signature.js';

/** How often the front hears of the engines while they change. */
const TELL_MS = 20;

/** Where neither model nor engine nor setting says how long a context may be. */
const CONTEXT_TOKENS_UNKNOWN = 1_000_000;

/** What a shard is made of once its model is loaded. */
export interface ShardParts {
  readonly context: ShardContext;
  readonly requests: RequestReaders;
  readonly store: SessionStore;
  readonly desk: TrainerDesk;
  /** What of the engine pool's counts the metrics have. */
  counted: PoolCounts;
}

/** Wires a shard's parts. The engine pool is not started. */
export function openParts(
  start: ShardStart,
  model: LoadedModel,
  metrics: Metrics,
  log: Log,
  send: (message: FromShard) => void,
): ShardParts {
  const { settings, index, secret } = start;
  if (model.warning !== null && index === 0) log.warn(model.warning);
  log.info({ family: model.family.name, fastPath: model.tokenizer.fastPath, why: model.tokenizer.fastPathReason }, 'model loaded');
  const engine = new EnginePool({
    engine: engineNamed(settings.engine),
    urls: start.engines.replicas.map(({ url }) => url),
    slots: start.engines.replicas.map(({ slot }) => slot),
    apiKey: start.engineKey,
    settings,
    vocabularySize: Math.max(model.tokenizer.vocabularySize, model.directory.vocabSize ?? 0),
    sharedCounters: start.inFlight,
    shard: { index, count: settings.shards },
  });
  const { pause, weightVersion } = start.engines;
  if (weightVersion !== null) void engine.resume(weightVersion);
  if (pause !== null) void engine.pause(pause);
  const context: ShardContext = {
    settings,
    model,
    engine,
    engineName: settings.engine,
    signatures: new TurnSignatures(secret),
    journal: (event) => {
      const message = frontNotice(event);
      if (message !== null) send(message);
    },
    metrics: metrics,
    log: log,
    modelName: () => settings.engineModel ?? model.directory.name,
    contextTokens: () => {
      const limits = [model.directory.contextTokens, engine.probe()?.contextTokens ?? null, settings.limits.contextTokens || null];
      const known = limits.filter((limit) => limit !== null);
      return known.length === 0 ? CONTEXT_TOKENS_UNKNOWN : Math.min(...known);
    },
    promptTokensMax: () => {
      const most = engine.probe()?.facts.promptTokensMax;
      return typeof most === 'number' ? most : null;
    },
  };
  const requests = new RequestReaders(settings, context.signatures, (buffer) => send({ kind: 'spare', buffer }));
  const store = new SessionStore(settings, context.journal, {
    opened: ({ id, life, implicit, openedAtMs, created: { rolloutId, groupId, sampleIndex } }) =>
      send({ kind: 'opened', sessionId: id, life, implicit, openedAtMs, rolloutId, groupId, sampleIndex }),
    closed: (session) => {
      requests.forget(session.id);
      engine.forget(session.id);
      send({ kind: 'closed', sessionId: session.id });
    },
  });
  const desk = new TrainerDesk({ store, context });
  const parts = { context, requests, store, desk, counted: engine.counts() };
  // Windows and counts move with every turn; the front shows them and need not follow each.
  let isTelling = false;
  engine.onChange(() => {
    if (isTelling) return;
    isTelling = true;
    setTimeout(() => {
      isTelling = false;
      send({ kind: 'engines', engines: engine.states() });
      send({ kind: 'ready', model: servedModel(context) });
    }, TELL_MS);
  });
  send({ kind: 'engines', engines: engine.states() });
  return parts;
}

/** What of the journal the front follows, so that it can say what is gone when this thread dies. */
function frontNotice(event: JournalEvent): FromShard | null {
  switch (event.kind) {
    case 'create':
      return null;
    case 'commit':
      return { kind: 'progress', life: event.life, turns: event.turns, tokens: event.tokens };
    case 'finish':
      return { kind: 'finished', life: event.life };
    case 'ack':
    case 'drop':
      return { kind: 'forgotten', life: event.life };
  }
}

export function servedModel(context: ShardContext): ServedModel {
  const { model } = context;
  return {
    name: context.modelName(),
    contextTokens: context.contextTokens(),
    family: model.family.name,
    tokenizerHash: model.tokenizer.hash,
  };
}

/** Ends idle sessions and forgets rows that nobody fetched. */
export function sweepSessions({ context, store, desk }: ShardParts): void {
  const nowMs = Date.now();
  const idleBefore = nowMs - context.settings.sessions.idleTtlMs;
  for (const session of store.open) {
    if (session.lastUsedMs >= idleBefore || session.unsettled.length > 0 || session.state !== 'open') continue;
    context.log.info({ session: sessionTag(session.id) }, 'an idle session expired');
    void desk.expire(session);
  }
  for (const life of store.expireFinished(nowMs)) {
    context.log.warn({ session: sessionTag(life.id), tokens: life.summary.tokens.trained }, 'rows expired before a trainer fetched them');
  }
}

/** Sets the gauges of a shard and takes over what its engine pool has counted, for a scrape. */
export function measure(parts: ShardParts, shard: number): void {
  const { context, store } = parts;
  const { metrics } = context;
  const counts = context.engine.counts();
  countCalls(parts, counts);
  parts.counted = counts;
  let nodes = 0;
  for (const session of store.open) nodes += session.tree.nodes.length;
  metrics.treeNodes.set(nodes);
  metrics.sessions.set({ state: 'open' }, store.openCount);
  metrics.sessions.set({ state: 'finished' }, store.book.size);
  // Replicas that were removed are in no gauge any more.
  for (const gauge of [metrics.replicaUp, metrics.replicaInFlight, metrics.replicaWindow, metrics.replicaQueue]) gauge.reset();
  for (const replica of context.engine.states()) {
    const label = { replica: replica.url };
    // Every shard sees the same replicas: one of them reports what they share.
    if (shard === 0) {
      metrics.replicaUp.set(label, replica.state === 'up' ? 1 : 0);
      metrics.replicaInFlight.set(label, replica.inFlight);
      metrics.replicaWindow.set(label, replica.window);
    }
    metrics.replicaQueue.set(label, replica.queued);
  }
}

function countCalls({ context, counted }: ShardParts, counts: PoolCounts): void {
  const { metrics } = context;
  const more = (
    now: Readonly<Record<string, number>>,
    before: Readonly<Record<string, number>>,
    take: (name: string, by: number) => void,
  ) => {
    for (const [name, count] of Object.entries(now)) if (count > (before[name] ?? 0)) take(name, count - (before[name] ?? 0));
  };
  more(counts.failures, counted.failures, (kind, by) => metrics.engineFailuresTotal.inc({ kind }, by));
  more(counts.broken, counted.broken, (kind, by) => metrics.engineFailuresTotal.inc({ kind }, by));
  more(counts.discardedTokens, counted.discardedTokens, (reason, by) => {
    metrics.tokensTotal.inc({ kind: 'sampled' }, by);
    countDiscarded(context, reason, by);
  });
  metrics.engineContinuationsTotal.inc(counts.continuations - counted.continuations);
}
