import type { DemoTool, ToolBox } from './tools.js';

/** One conversation to be led to its end. */
export interface AgentTask {
  readonly system: string;
  readonly prompt: string;
  readonly tools: readonly DemoTool[];
  readonly run: ToolBox;
  readonly stream: boolean;
  /** After so many turns the history is replaced by a summary of it; 0 = never. */
  readonly compactAfter: number;
}

/** Told of every answer that an agent got. */
export interface Tally {
  turn(): void;
}

export type Dialect = 'chat' | 'messages';

/** A session of the demo: who leads it and how. */
export interface DemoAgent {
  readonly sessionId: string;
  readonly kind: string;
  readonly dialect: Dialect;
  readonly stream: boolean;
  /** Leads the whole session. */
  lead(clients: Clients, tally: Tally): Promise<void>;
}

/** What an agent needs to talk: one conversation at a time, all on the session's key. */
export interface Clients {
  readonly talk: (task: AgentTask, tally: Tally) => Promise<string>;
}
