import type { TraceEncoding } from './calls.js';

/** A whole answer of the trainer's API, made of pieces that shards encoded. */
export interface JoinedAnswer {
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
}

/** A lease that holds sessions. */
export interface Lease {
  readonly leaseId: string;
  readonly expiresAtMs: number;
}

const CONTENT_TYPES: Readonly<Record<TraceEncoding, string>> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  msgpack: 'application/msgpack',
};

const contentType = (encoding: TraceEncoding): readonly [string, string] => ['content-type', CONTENT_TYPES[encoding]];

/** The answer of finish: a session's piece is the whole body in every encoding. */
export function joinFinish(encoding: TraceEncoding, session: Uint8Array): JoinedAnswer {
  return { headers: [contentType(encoding)], body: session };
}

/**
 * The answer of a scrape. Times are seconds since the epoch.
 * @param lease `null` where nothing was ready; then there are no sessions
 */
export function joinLease(encoding: TraceEncoding, lease: Lease | null, sessions: readonly Uint8Array[]): JoinedAnswer {
  const expiresAt = lease === null ? null : lease.expiresAtMs / 1000;
  switch (encoding) {
    case 'json': {
      const head = `{"lease_id":${JSON.stringify(lease?.leaseId ?? null)},"expires_at":${expiresAt},"sessions":[`;
      return { headers: [contentType(encoding)], body: joinBytes([ascii(head), ...separated(sessions, ascii(',')), ascii(']}')]) };
    }
    case 'ndjson': {
      const names =
        lease === null
          ? []
          : ([
              ['x-lease-id', lease.leaseId],
              ['x-lease-expires-at', String(expiresAt)],
            ] as const);
      return { headers: [contentType(encoding), ...names], body: joinBytes(sessions) };
    }
    case 'msgpack':
      return {
        headers: [contentType(encoding)],
        body: joinBytes([...msgpackHead(lease?.leaseId ?? null, expiresAt, sessions.length), ...sessions]),
      };
  }
}

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);

function separated(pieces: readonly Uint8Array[], separator: Uint8Array): Uint8Array[] {
  return pieces.flatMap((piece, i) => (i === 0 ? [piece] : [separator, piece]));
}

function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The msgpack of a map of three, up to where the items of `sessions` follow. */
function msgpackHead(leaseId: string | null, expiresAt: number | null, sessions: number): readonly Uint8Array[] {
  return [
    Uint8Array.of(0x83),
    msgpackText('lease_id'),
    leaseId === null ? MSGPACK_NIL : msgpackText(leaseId),
    msgpackText('expires_at'),
    expiresAt === null ? MSGPACK_NIL : msgpackDouble(expiresAt),
    msgpackText('sessions'),
    msgpackWide(0xdd, 4, sessions),
  ];
}

const MSGPACK_NIL = Uint8Array.of(0xc0);

function msgpackText(text: string): Uint8Array {
  const bytes = ascii(text);
  return joinBytes([msgpackWide(0xda, 2, bytes.length), bytes]);
}

function msgpackDouble(x: number): Uint8Array {
  const bytes = Uint8Array.of(0xcb, 0, 0, 0, 0, 0, 0, 0, 0);
  new DataView(bytes.buffer).setFloat64(1, x);
  return bytes;
}

/** A type byte and an unsigned number of two or four bytes. */
function msgpackWide(type: number, size: 2 | 4, value: number): Uint8Array {
  const bytes = new Uint8Array(1 + size);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, type);
  if (size === 2) view.setUint16(1, value);
  else view.setUint32(1, value);
  return bytes;
}
