import type { ProvedRow } from './proof.js';

export interface SessionSummary {
  readonly turns: number;
  readonly rows: number;
  readonly tokens: {
    readonly sampled: number;
    readonly committed: number;
    readonly trained: number;
    readonly discarded: Readonly<Record<string, number>>;
  };
  readonly capture_yield: number | null;
  readonly forks: Readonly<Record<string, number>>;
}

export interface DemoRow extends ProvedRow {
  readonly role: string;
  readonly row_index: number;
}

export interface FinishedSession {
  readonly session_id: string;
  readonly traces: readonly DemoRow[];
  readonly summary: SessionSummary;
}

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
    return (await response.json()) as FinishedSession;
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
