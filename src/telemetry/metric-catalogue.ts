/** Every metric, once. The name on the wire is `rollout_gateway_` + the key in snake case; units are last. */
export interface MetricEntry {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

const counter = <const L extends readonly string[]>(help: string, labels: L) => ({ kind: 'counter', help, labels }) as const;
const gauge = <const L extends readonly string[]>(help: string, labels: L) => ({ kind: 'gauge', help, labels }) as const;
const histogram = <const L extends readonly string[]>(help: string, labels: L, buckets: readonly number[]) =>
  ({ kind: 'histogram', help, labels, buckets }) as const;

const FAST_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const SLOW_SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

export const METRICS = {
  requestsTotal: counter('Requests answered, by route and status; 499 is a client that left.', ['route', 'status']),
  requestSeconds: histogram('Time from a request’s head to its last byte.', ['route'], SLOW_SECONDS),
  openCalls: gauge('Agent calls in work.', []),
  bodyBytesTotal: counter('Bytes of request bodies received.', []),
  bodiesInFlightBytes: gauge('Memory held by bodies being received.', []),
  clientGoneTotal: counter('Clients that left before their answer was whole, by stage.', ['stage']),
  turnsTotal: counter('Turns by protocol and outcome.', ['protocol', 'outcome']),
  tokensTotal: counter('Tokens: sampled by the engine, committed to a tree, trained in rows, discarded.', ['kind']),
  discardedTokensTotal: counter('Sampled tokens that are in no tree, by reason.', ['reason']),
  promptTokensTotal: counter('Tokens of prompts: reused from the tree or encoded.', ['source']),
  turnStageSeconds: histogram('Time a turn spends in the gateway’s own stages.', ['stage'], FAST_SECONDS),
  turnWaitSeconds: histogram('Time a turn waits: for a place at an engine (queue) and for its answer (engine).', ['stage'], SLOW_SECONDS),
  historiesTotal: counter('How prompts continued what was recorded, by cause.', ['cause']),
  repairedLogprobsTotal: counter('Logprobs that the engine did not give or gave out of range.', []),
  sessions: gauge('Sessions by state.', ['state']),
  sessionsEndedTotal: counter('Sessions that ended, by how.', ['how']),
  treeNodes: gauge('Messages in the trees of open sessions.', []),
  rowsTotal: counter('Rows handed out at finish, by role.', ['role']),
  yieldShortfallTokensTotal: counter('Committed tokens that no row trains; above 0 means a broken promise.', []),
  engineFailuresTotal: counter('Attempts at an engine that failed, by kind of failure or of break.', ['kind']),
  engineContinuationsTotal: counter('Samples that an engine ended early and that were gone on with.', []),
  replicaUp: gauge('1 where the replica answers.', ['replica']),
  replicaInFlight: gauge('Calls at the replica.', ['replica']),
  replicaWindow: gauge('Calls the replica is given at a time.', ['replica']),
  replicaQueue: gauge('Turns that wait for the replica.', ['replica']),
  shardRestartsTotal: counter('Shards replaced after a crash or a hang.', ['cause']),
  eventLoopDelaySeconds: gauge('Delay of a thread’s event loop since the last scrape.', ['thread', 'quantile']),
  heapUsedBytes: gauge('JavaScript heap in use by a thread.', ['thread']),
  residentBytes: gauge('Resident memory of the process.', []),
  cpuSecondsTotal: gauge('Processor time used by the process.', []),
} as const satisfies Record<string, MetricEntry>;

export type MetricName = keyof typeof METRICS;

/** `tokensTotal` → `rollout_gateway_tokens_total`. */
export const wireName = (name: string): string => `rollout_gateway_${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
