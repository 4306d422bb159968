import type { ErrorValue } from '../errors.js';

const ID_BYTES_MAX = 4096;

/** What is wrong with a session id, `null` for nothing. */
export const checkSessionId = (id: string): ErrorValue | null => {
  const bytes = Buffer.byteLength(id, 'utf8');
  if (bytes < 1 || bytes > ID_BYTES_MAX) {
    return { code: 'invalid_session_id', message: `the session id has ${bytes} bytes, it must have 1 to ${ID_BYTES_MAX}` };
  }
  if (/\p{Cc}/u.test(id)) return { code: 'invalid_session_id', message: 'the session id has a control character, it must have none' };
  if (!id.isWellFormed())
    return { code: 'invalid_session_id', message: 'the session id has half of a surrogate pair, it must be valid Unicode' };
  return null;
};
