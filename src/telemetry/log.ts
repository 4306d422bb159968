import { createHash } from 'node:crypto';
import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

/**
 * One JSON line an event on stderr, from any thread. Never given to it: session keys, tokens, prompts, replies.
 * A session is shown by {@link sessionTag}.
 */
export const createLog = (level: string, thread: string, destination: DestinationStream = stderr()): Log =>
  pino(
    { level, base: { thread }, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    destination,
  );

// Written synchronously: a line that tells why the process dies must not die with it.
const stderr = (): DestinationStream => pino.destination({ fd: 2, sync: true });

/** Eight hex digits that stand for a session in logs: equal for equal ids, useless as a key. */
export const sessionTag = (sessionId: string): string => createHash('sha256').update(sessionId, 'utf8').digest('hex').slice(0, 8);

/** What a log line says of a thrown value: name, code, message and stack, without the value itself. */
export const errorFields = (error: unknown): Readonly<Record<string, unknown>> => {
  if (!(error instanceof Error)) return { error: String(error) };
  const code = 'code' in error ? { code: error.code } : {};
  return { error: error.message, name: error.name, ...code, stack: error.stack };
};
