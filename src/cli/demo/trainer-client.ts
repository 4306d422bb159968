import type { TraceRecord } from '../../canonical/trace.js';
import type { FinishedSession } from '../../trainer/trace-encoding.js';

/** A row as JSON has it. */
type JsonRow = Omit<TraceRecord, 'token_ids' | 'loss_mask' | 'logprobs'> & {
  readonly token_ids: readonly number[];
  readonly loss_mask: readonly number[];
  readonly logprobs: readonly (number | null)[];
};

/** The trainer's calls that the demo makes, over HTTP as any trainer would. */
export class TrainerClient {
  constructor(readonly gatewayUrl: string) {}

  async create(sessionId: string, groupId: string, sampleIndex: number): Promise<void> {
    await this.#call('POST', '/sessions', { session_id: sessionId, group_id: groupId, sample_index: sampleIndex });
  }

  /** The session's tree, drawn for a terminal. */
  async tree(sessionId: string, colour: boolean): Promise<string> {
    return (await this.#call('GET', `/sessions/${encodeURIComponent(sessionId)}/tree?format=text&colour=${colour}`)).text();
  }

  async finish(sessionId: string, reward: number): Promise<FinishedSession> {
    const response = await this.#call('POST', `/sessions/${encodeURIComponent(sessionId)}/finish`, { reward, ack: true });
    const { traces, ...rest } = (await response.json()) as Omit<FinishedSession, 'traces'> & { readonly traces: readonly JsonRow[] };
    return { ...rest, traces: traces.map(typedRow) };
  }

  async #call(method: string, path: string, body?: object): Promise<Response> {
    const response = await fetch(this.gatewayUrl + path, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    if (response.ok) return response;
    throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  }
}

const typedRow = (row: JsonRow): TraceRecord => ({
  ...row,
  token_ids: Int32Array.from(row.token_ids),
  loss_mask: Uint8Array.from(row.loss_mask),
  logprobs: Float32Array.from(row.logprobs, (value) => value ?? Number.NaN),
});
