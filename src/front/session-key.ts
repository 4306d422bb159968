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

const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const ENCODED = "UTF-8''";

/**
 * The session id as a header can carry it: itself where it is printable ASCII, else percent-encoded behind `UTF-8''` (the form of
 * RFC 8187), because clients and servers disagree about other characters in headers.
 */
export const headerForm = (id: string): string => (PLAIN.test(id) && !id.startsWith(ENCODED) ? id : ENCODED + encodeURIComponent(id));

const fromHeaderForm = (key: string): string | null => {
  if (!key.startsWith(ENCODED)) return key;
  try {
    return decodeURIComponent(key.slice(ENCODED.length));
  } catch {
    return null;
  }
};

/** `x-api-key`, else the Bearer token; both only where they agree. Other schemes carry no key. */
const readKey = (apiKey: string, authorization: string): { readonly key: string } | ErrorValue => {
  const bearer = /^bearer +(.+)$/i.exec(authorization)?.[1]?.trim() ?? '';
  if (apiKey !== '' && bearer !== '' && apiKey !== bearer) {
    return { code: 'conflicting_api_keys', message: 'x-api-key and Authorization carry different keys, send one key or the same twice' };
  }
  const key = apiKey === '' ? bearer : apiKey;
  if (key !== '') return { key };
  return { code: 'missing_api_key', message: 'no session key, send it as x-api-key or as Authorization: Bearer' };
};

/** The session key that a request's headers carry. */
export const sessionKeyOf = (apiKey: string, authorization: string): { readonly sessionKey: string } | ErrorValue => {
  const read = readKey(apiKey, authorization);
  if ('code' in read) return read;
  const sessionKey = fromHeaderForm(read.key);
  if (sessionKey === null) {
    return { code: 'invalid_session_id', message: "the key begins with UTF-8'' and what follows is not percent-encoded UTF-8" };
  }
  return checkSessionId(sessionKey) ?? { sessionKey };
};
