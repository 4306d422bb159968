import type { Readable } from 'node:stream';

/** What a command needs of its process. */
export interface CommandHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly in: Readable;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether stdout is a terminal that shows colours. */
  readonly colour: boolean;
  /** Resolves with the reason when the process is asked to stop. */
  readonly stopped: () => Promise<string>;
}

/** A command line that makes no sense; its message is one sentence for the user and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
