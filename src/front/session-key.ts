import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ErrorValue } from '../errors.js';
import { checkSessionId } from '../trainer/session-id.js';

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

/** Keys and the sessions behind them; shards know sessions by id alone. */
export interface SessionKeys {
  /** The key that opens this session, for its agent. */
  keyOf(sessionId: string): string;
  /** The session that a request's headers name. */
  sessionOf(apiKey: string, authorization: string): { readonly sessionId: string } | ErrorValue;
}

/** The key is the id. */
export const plainKeys: SessionKeys = {
  keyOf: headerForm,
  sessionOf: (apiKey, authorization) => {
    const read = readKey(apiKey, authorization);
    if ('code' in read) return read;
    const sessionId = fromHeaderForm(read.key);
    if (sessionId === null) {
      return { code: 'invalid_session_id', message: "the key begins with UTF-8'' and what follows is not percent-encoded UTF-8" };
    }
    return checkSessionId(sessionId) ?? { sessionId };
  },
};

/**
 * A key is the id with its keyed hash: it cannot be made from the id, and nothing needs to be stored to check it.
 * @param secret at least 32 random bytes; the keys die with it.
 */
export const secretKeys = (secret: Uint8Array): SessionKeys => {
  const seal = (encodedId: string): Buffer => createHmac('sha256', secret).update(encodedId).digest();
  const unknown: ErrorValue = { code: 'invalid_api_key', message: 'no session has this key; use the api_key that POST /sessions answered' };
  return {
    keyOf: (sessionId) => {
      const encodedId = Buffer.from(sessionId, 'utf8').toString('base64url');
      return `rg-${encodedId}.${seal(encodedId).toString('base64url')}`;
    },
    sessionOf: (apiKey, authorization) => {
      const read = readKey(apiKey, authorization);
      if ('code' in read) return read;
      const [, encodedId, mac] = /^rg-([\w-]+)\.([\w-]{43})$/.exec(read.key) ?? [];
      if (encodedId === undefined || mac === undefined) return unknown;
      if (!timingSafeEqual(seal(encodedId), Buffer.from(mac, 'base64url'))) return unknown;
      return { sessionId: Buffer.from(encodedId, 'base64url').toString('utf8') };
    },
  };
};
