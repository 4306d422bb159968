/**
 * Why no whole answer came.
 *
 * - `unreachable`: no connection; nothing was sent
 * - `reset`: the connection ended, or what came is not HTTP
 * - `silent`: no byte for too long
 * - `endless`: more than any answer can have
 * - `cut`: closed by us
 */
export type TransportFault = 'unreachable' | 'reset' | 'silent' | 'endless' | 'cut';

export class TransportError extends Error {
  override readonly name = 'TransportError';
  constructor(
    readonly fault: TransportFault,
    /** Whether the head of an answer had come. */
    readonly answered: boolean,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export function transportError(error: Error, answered: boolean, where: string): TransportError {
  if (error instanceof TransportError) return error;
  const code = (error as { code?: unknown }).code;
  const fault =
    typeof code === 'string' && (UNREACHABLE.has(code) || code.startsWith('ERR_TLS') || code.includes('CERT')) ? 'unreachable' : 'reset';
  const what = error.message || (typeof code === 'string' ? code : 'unknown error');
  const text =
    fault === 'unreachable' ? `no connection to ${where}: ${what}` : `the connection to ${where} ended before the answer did: ${what}`;
  return new TransportError(fault, answered, text, { cause: error });
}
