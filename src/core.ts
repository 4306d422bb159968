/**
 * The light entry of the library: conversations, trajectories and rows as pure values, for programs that render and sample
 * themselves. It imports no server, no thread pool, no HTTP client and no tokenizer.
 */
export { jsonEquals } from './canonical/json-equal.js';
export { parseJson, parseJsonBytes } from './canonical/json-parse.js';
export { fromPlain, toPlain } from './canonical/json-plain.js';
export { JsonFloat, type JsonObject, type JsonValue } from './canonical/json-value.js';
export { writeJson } from './canonical/json-write.js';
export type { AssistantMessage, Message, SystemMessage, ToolCall, ToolDefinition, ToolMessage, UserMessage } from './canonical/message.js';
export type {
  DiscardReason,
  DriftOutcome,
  ForkCause,
  RewardValue,
  RowRole,
  SpawnLink,
  TraceQuality,
  TraceRecord,
  TraceSegment,
  TraceStatus,
  TraceSummary,
  TraceTurn,
} from './canonical/trace.js';
export type { FinishReason, ProtocolName, Sampling, StopKind } from './canonical/turn.js';
export type { HistoryPolicy, PromptForm, SpliceProof } from './trajectory/drift.js';
export { turnsAbove } from './trajectory/drift.js';
export { sameMessage } from './trajectory/identity.js';
export type { KnownHistory, Located } from './trajectory/message-tree.js';
export type { TreeNode } from './trajectory/node.js';
export type { CommitResult, PendingTurn, TurnState } from './trajectory/pending-turn.js';
export type { Root, RootKey } from './trajectory/root.js';
export { NO_FACTS, type RowFacts, type RowOptions, rowRecord, rowRecords } from './trajectory/row-record.js';
export { type PlannedRow, planRows, type RowPlan, summarise } from './trajectory/rows.js';
export { type BeginTurn, TREE_DEFAULTS, TrajectoryTree, type TreeSettings } from './trajectory/tree.js';
export type { PromptSegment, SampledTurn, TurnRecord } from './trajectory/turn.js';
export { fullIds, fullLength, promptIds } from './trajectory/turn-ids.js';
