import { compactJson } from '../canonical/json-write.js';
import type { ErrorValue } from '../errors.js';
import { sessionTag } from '../telemetry/log.js';
import type { FinishSession, TraceEncoding, TraceInclude, TrainerAnswer, TrainerCall } from '../trainer/calls.js';
import { planRows } from '../trajectory/rows.js';
import { drawTree, treeJson } from '../trajectory/tree-view.js';
import { FinishedSession } from './finished-session.js';
import { Session, type TurnCallInWork } from './session.js';
import type { SessionStore } from './session-store.js';
import type { ShardContext } from './shard-context.js';
import { encodeSession } from './trace-msgpack.js';
import { countDiscarded } from './turn-call.js';
import { unusableRewards } from './unusable-rewards.js';

export interface TrainerDeskOptions {
  readonly store: SessionStore;
  readonly context: ShardContext;
}

/** How long finish waits for replies to reach their clients, beside the time for sampling. */
const DELIVERY_MS = 2000;

const NOT_FOUND: ErrorValue = {
  code: 'session_not_found',
  message: 'No session has this id: it was never created, or its rows were acknowledged or expired.',
};

/** The trainer's calls, as a shard answers them for its own sessions. */
export class TrainerDesk {
  /** Finishes in work, so that a second finish of a session waits for the same end. */
  readonly #finishing = new Map<Session, Promise<FinishedSession | null>>();

  constructor(private readonly options: TrainerDeskOptions) {}

  async answer(call: TrainerCall): Promise<TrainerAnswer> {
    const { store } = this.options;
    switch (call.kind) {
      case 'create': {
        const session = store.create(call.session, Date.now());
        if (!(session instanceof Session)) return { kind: 'error', error: session };
        return text(201, { session_id: session.id });
      }
      case 'list':
        return { kind: 'text', status: 200, text: `[${this.#list(call.after, call.limit).join(',')}]` };
      case 'get': {
        const state = this.#state(call.sessionId);
        return state === null ? { kind: 'error', error: NOT_FOUND } : { kind: 'text', status: 200, text: state };
      }
      case 'tree': {
        const found = store.byId(call.sessionId) ?? store.finishedById(call.sessionId);
        if (found === null) return { kind: 'error', error: NOT_FOUND };
        if (call.format === 'text') return { kind: 'text', status: 200, text: drawTree(found.tree, { colour: call.colour }) };
        return { kind: 'text', status: 200, text: JSON.stringify({ session_id: call.sessionId, ...treeJson(found.tree) }) };
      }
      case 'finish':
        return this.#finish(call.sessionId, call.finish);
      case 'delete':
        return this.#delete(call.sessionId);
      case 'lease': {
        const lives = store.book.lease(call.leaseId, call.max, call.expiresAtMs, Date.now());
        return { kind: 'traces', status: 200, sessions: lives.map((life) => this.#encode(life, call.include, call.encoding)) };
      }
      case 'ack_life':
        return { kind: 'acked', acked: store.ackLife(call.sessionId, call.life) ? 1 : 0, unknown: [] };
      case 'ack': {
        const lease = call.leaseId === null ? { acked: 0, unknown: [] } : store.ackLease(call.leaseId);
        const sessions = store.ackSessions(call.sessionIds);
        return { kind: 'acked', acked: lease.acked + sessions.acked, unknown: [...lease.unknown, ...sessions.unknown] };
      }
    }
  }

  /** Ends a session as nobody asked for it: expiry. Its rows wait for a lease like any others. */
  async expire(session: Session): Promise<void> {
    const finished = await this.#end(session, 0);
    if (finished === null) return;
    finished.describe({ metadata: '{}', status: 'aborted', stopReason: 'idle' });
    this.options.context.metrics.sessionsEndedTotal.inc({ how: 'expired' });
  }

  async #finish(sessionId: string, finish: FinishSession): Promise<TrainerAnswer> {
    const { store, context } = this.options;
    const session = store.byId(sessionId);
    const isFirst = session?.state === 'open';
    // While turns run it is not known yet which ids and rows there will be.
    if (isFirst && session.unsettled.length === 0) {
      const { maxRowTokens } = context.settings.traces;
      const wrong = unusableRewards(finish, session.tree.turns, () => planRows(session.tree.turns, maxRowTokens || undefined).rows.length);
      if (wrong !== null) return { kind: 'error', error: wrong };
    }
    const finished = session === null ? store.finishedById(sessionId) : await this.#end(session, finish.waitMs);
    if (finished === null) return { kind: 'error', error: NOT_FOUND };
    if (isFirst) context.metrics.sessionsEndedTotal.inc({ how: 'finished' });
    const wrong = unusableRewards(finish, finished.tree.turns, () => finished.plan.rows.length);
    if (wrong !== null) return { kind: 'error', error: { ...wrong, message: `${wrong.message} The session is finished.` } };
    finished.describe(finish);
    return { kind: 'traces', status: 200, sessions: [this.#encode(finished, finish.include, finish.encoding)], life: finished.name };
  }

  /** Lets running turns end for a while, then stops them; the session's rows stand when this resolves. `null` = it was deleted meanwhile. */
  #end(session: Session, waitMs: number): Promise<FinishedSession | null> {
    let ending = this.#finishing.get(session);
    if (ending === undefined) {
      ending = this.#drainAndClose(session, waitMs).finally(() => this.#finishing.delete(session));
      this.#finishing.set(session, ending);
    }
    return ending;
  }

  async #drainAndClose(session: Session, waitMs: number): Promise<FinishedSession | null> {
    const { store, context } = this.options;
    session.state = 'finishing';
    await ended(session.unsettled, waitMs);
    for (const turn of session.running) if (turn.pending.state === 'running') turn.abort();
    // A reply on its way to its client is no turn to be stopped: it was sampled and is about to be delivered.
    await ended(
      session.unsettled.filter(({ pending }) => pending.state === 'finished'),
      DELIVERY_MS,
    );
    if (isOver(session)) return null;
    const aborted = new Set(session.unsettled.map(({ pending }) => pending)).size;
    store.close(session, Date.now());
    const finished = new FinishedSession(session, Date.now(), context.settings.traces.maxRowTokens, aborted);
    store.keep(finished, Date.now());
    this.#count(finished);
    return finished;
  }

  #count(finished: FinishedSession): void {
    const { metrics, log } = this.options.context;
    const { summary } = finished;
    metrics.tokensTotal.inc({ kind: 'trained' }, summary.tokens.trained);
    for (const [reason, tokens] of Object.entries(summary.tokens.discarded)) countDiscarded(this.options.context, reason, tokens);
    for (const row of finished.plan.rows) metrics.rowsTotal.inc({ role: row.role });
    const missing = summary.tokens.committed - summary.tokens.trained;
    if (missing > 0) metrics.yieldShortfallTokensTotal.inc(missing);
    const fields = {
      session: sessionTag(finished.id),
      turns: summary.turns,
      rows: summary.rows,
      tokens: summary.tokens,
      yield: summary.capture_yield,
    };
    if (summary.capture_error !== null) log.error({ ...fields, error: summary.capture_error }, 'the books of a session do not balance');
    else log.debug(fields, 'session finished');
  }

  #delete(sessionId: string): TrainerAnswer {
    const { store, context } = this.options;
    const session = store.byId(sessionId);
    if (session !== null) {
      for (const turn of session.running) turn.abort();
      store.close(session, Date.now());
      context.journal({ kind: 'drop', sessionId, life: session.life, reason: 'deleted' });
      context.metrics.sessionsEndedTotal.inc({ how: 'deleted' });
      const { books } = session.tree;
      for (const [reason, tokens] of books.discarded) countDiscarded(context, reason, tokens);
      countDiscarded(context, 'session_deleted', books.sampled - books.discardedTokens);
      return text(200, { session_id: sessionId, deleted: true });
    }
    if (store.ackSessions([sessionId]).acked === 0) return { kind: 'error', error: NOT_FOUND };
    return text(200, { session_id: sessionId, deleted: true });
  }

  #encode(life: FinishedSession, include: readonly TraceInclude[], encoding: TraceEncoding): Uint8Array {
    const traces = life.records(this.options.context.model.tokenizer, include);
    return encodeSession({ session_id: life.id, traces, summary: life.summary }, encoding);
  }

  #list(after: string | null, limit: number): string[] {
    const { store } = this.options;
    const ids = new Set<string>();
    for (const session of store.open) ids.add(session.id);
    for (const id of store.finishedIds()) ids.add(id);
    const page = [...ids].filter((id) => after === null || id > after).sort((a, b) => (a < b ? -1 : 1));
    return page.slice(0, limit).flatMap((id) => this.#state(id) ?? []);
  }

  #state(sessionId: string): string | null {
    const { store } = this.options;
    const session = store.byId(sessionId);
    if (session !== null) {
      const { books } = session.tree;
      const created = session.created;
      return stateJson(
        {
          session_id: session.id,
          state: session.state === 'open' ? 'open' : 'finishing',
          implicit: session.implicit,
          opened_at: session.openedAtMs / 1000,
          last_used_at: session.lastUsedMs / 1000,
          turns: books.committedTurns,
          running_turns: session.running.size,
          messages: session.tree.nodes.length,
          tokens: { sampled: books.sampled, committed: books.committed, discarded: Object.fromEntries(books.discarded) },
          forks: books.forks,
          rollout_id: created.rolloutId,
          group_id: created.groupId,
          sample_index: created.sampleIndex,
        },
        compactJson(session.metadata),
      );
    }
    const finished = store.finishedById(sessionId);
    return finished === null ? null : stateJson({ session_id: finished.id, state: 'finished', ...finished.summary }, null);
  }
}

/** Delete may have come during a wait. */
const isOver = (session: Session): boolean => session.state === 'over';

/** Resolves when the calls have ended, or after a time. */
async function ended(calls: readonly TurnCallInWork[], waitMs: number): Promise<void> {
  if (calls.length === 0) return;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, waitMs);
  });
  await Promise.race([Promise.allSettled(calls.map((call) => call.ended)), timeout]);
  clearTimeout(timer);
}

const text = (status: number, value: object): TrainerAnswer => ({ kind: 'text', status, text: JSON.stringify(value) });

/** Metadata is spliced in as text, so that its numbers keep their spelling. */
function stateJson(state: object, metadata: string | null): string {
  const json = JSON.stringify(state);
  return metadata === null ? json : `${json.slice(0, -1)},"metadata":${metadata}}`;
}
