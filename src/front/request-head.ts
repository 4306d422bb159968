import type { HttpRequest } from './uws.js';

/** What the front takes from a request's head: plain data that outlives the handler. */
export interface RequestHead {
  /** Upper case; HEAD is GET with `isHead`. */
  readonly method: string;
  readonly isHead: boolean;
  /** Without query, percent-encoded, doubled slashes and a repeated `/v1` removed. */
  readonly path: string;
  readonly query: string;
  readonly host: string;
  readonly apiKey: string;
  readonly authorization: string;
  /** A header of which there must be one came twice, with different values. */
  readonly twice: string | null;
  /** `null` where absent or no number. */
  readonly contentLength: number | null;
  /** Lower case, `''` for none. */
  readonly contentEncoding: string;
  readonly accept: string;
  /** An `anthropic-version` header is present. */
  readonly isAnthropic: boolean;
  /** `x-stainless-retry-count`, 0 where absent. */
  readonly retryCount: number;
}

const plainPath = (url: string): string => {
  // Clients whose base URL ends in a slash or in /v1 already send `//` and `/v1/v1/`.
  const single = url.includes('//') ? url.replace(/\/{2,}/g, '/') : url;
  const once = single.startsWith('/v1/v1/') ? single.replace(/^(?:\/v1)+\//, '/v1/') : single;
  return once.length > 1 && once.endsWith('/') ? once.slice(0, -1) : once;
};

const digits = (text: string): number | null => (/^\d{1,15}$/.test(text) ? Number(text) : null);

/**
 * The library hands header bytes over as Latin-1 (`getHeader`; `forEach` loses what is not UTF-8). Keys may be UTF-8 (curl, Python) or Latin-1 (fetch), so bytes that are valid
 * UTF-8 are read as that. It also trims bytes above 0x7f at both ends of a value: see `session-key.ts`.
 */
const headerText = (value: string): string => {
  if (!/[\x80-\xff]/.test(value)) return value;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
};

/** Of these there must be one: readers that disagree about which of two counts can be played against each other. */
const SINGLE: ReadonlySet<string> = new Set(['x-api-key', 'authorization', 'content-length']);

const cameTwice = (request: HttpRequest): string | null => {
  const first = new Map<string, string>();
  let twice: string | null = null;
  request.forEach((name, value) => {
    if (!SINGLE.has(name)) return;
    if (first.has(name) && first.get(name) !== value) twice = name;
    first.set(name, value);
  });
  return twice;
};

export const readHead = (request: HttpRequest): RequestHead => {
  const method = request.getMethod().toUpperCase();
  return {
    method: method === 'HEAD' ? 'GET' : method,
    isHead: method === 'HEAD',
    path: plainPath(request.getUrl()),
    query: request.getQuery() ?? '',
    host: request.getHeader('host'),
    apiKey: headerText(request.getHeader('x-api-key')),
    authorization: headerText(request.getHeader('authorization')),
    twice: cameTwice(request),
    contentLength: digits(request.getHeader('content-length')),
    contentEncoding: request.getHeader('content-encoding').trim().toLowerCase(),
    accept: request.getHeader('accept'),
    isAnthropic: request.getHeader('anthropic-version') !== '',
    retryCount: digits(request.getHeader('x-stainless-retry-count')) ?? 0,
  };
};
