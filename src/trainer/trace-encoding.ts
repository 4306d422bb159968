import { isJsonObject } from '../canonical/json-value.js';
import { compactJson } from '../canonical/json-write.js';
import type { Message } from '../canonical/message.js';
import type { TraceRecord, TraceSummary, TraceTool } from '../canonical/trace.js';

/** What a finished session hands out. */
export interface FinishedSession {
  readonly session_id: string;
  readonly traces: readonly TraceRecord[];
  readonly summary: TraceSummary;
  /** Only where the session was lost: there are no rows, and this is what is known. */
  readonly failed?: LostState;
}

/** What is known of a session whose shard crashed. Times are seconds since the epoch. */
export interface LostState {
  readonly state: 'failed';
  readonly error: 'session_lost';
  /** What it was until then. */
  readonly lost_state: 'open' | 'finished';
  readonly lost_at: number;
  readonly implicit: boolean;
  readonly opened_at: number;
  /** Committed ones. */
  readonly turns: number;
  readonly tokens: { readonly committed: number };
  readonly rollout_id: string | null;
  readonly group_id: string | null;
  readonly sample_index: number | null;
}

/** `{session_id, traces, summary}` as JSON, and `failed` where the session was lost. */
export function sessionJson({ session_id, traces, summary, failed }: FinishedSession): string {
  const rest = `"summary":${JSON.stringify(summary)}${failed === undefined ? '' : `,"failed":${JSON.stringify(failed)}`}`;
  return `{"session_id":${JSON.stringify(session_id)},"traces":[${traces.map(traceJson).join(',')}],${rest}}`;
}

/** One trace a line, each line ended; a session without turns is empty. */
export function sessionLines({ traces }: FinishedSession): string {
  return traces.map((trace) => `${traceJson(trace)}\n`).join('');
}

/** A row as one JSON object. Logprobs are float32 widened to double, unknown ones `null`. */
export function traceJson(trace: TraceRecord): string {
  const members = Object.entries(trace).map(([name, value]) => `${JSON.stringify(name)}:${memberJson(name, value)}`);
  return `{${members.join(',')}}`;
}

function memberJson(name: string, value: unknown): string {
  if (value instanceof Int32Array || value instanceof Uint8Array) return `[${value.join(',')}]`;
  if (value instanceof Float32Array) return floatsJson(value);
  if (value instanceof Map && isJsonObject(value)) return compactJson(value);
  if (name === 'messages') return `[${(value as readonly Message[]).map(messageJson).join(',')}]`;
  if (name === 'tools') return `[${(value as readonly TraceTool[]).map(toolJson).join(',')}]`;
  return JSON.stringify(value);
}

function floatsJson(values: Float32Array): string {
  let text = '[';
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    if (i > 0) text += ',';
    text += Number.isFinite(x) ? x : 'null';
  }
  return `${text}]`;
}

const messageJson = (message: Message): string => JSON.stringify(traceMessage(message));

/** A message in Chat's spelling, the one that converters of trainers read. */
export function traceMessage(message: Message): Readonly<Record<string, unknown>> {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content };
    case 'tool':
      return {
        role: 'tool',
        content: message.content,
        ...(message.toolCallId === null ? {} : { tool_call_id: message.toolCallId }),
        ...(message.name === null ? {} : { name: message.name }),
        ...(message.isError ? { is_error: true } : {}),
      };
    case 'assistant':
      return {
        role: 'assistant',
        content: message.content,
        ...(message.reasoning === null ? {} : { reasoning_content: message.reasoning }),
        ...(message.toolCalls.length === 0
          ? {}
          : {
              tool_calls: message.toolCalls.map((call) => ({
                ...(call.id === null ? {} : { id: call.id }),
                type: 'function',
                function: { name: call.name, arguments: call.arguments },
              })),
            }),
      };
  }
}

function toolJson(tool: TraceTool): string {
  const description = tool.description === undefined ? '' : `,"description":${JSON.stringify(tool.description)}`;
  const parameters = tool.parameters === undefined ? '' : `,"parameters":${compactJson(tool.parameters)}`;
  return `{"name":${JSON.stringify(tool.name)}${description}${parameters}}`;
}
