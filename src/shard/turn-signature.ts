import { createHmac, timingSafeEqual } from 'node:crypto';

const MAC_BYTES = 12;

/**
 * Signs thinking blocks: `turnId.mac`, opaque to clients, verified when it comes back. A signature made by another gateway or for another
 * session says nothing and is ignored.
 */
export class TurnSignatures {
  constructor(private readonly secret: Uint8Array) {}

  sign(sessionId: string, turnId: string): string {
    return `${turnId}.${this.#mac(sessionId, turnId).toString('base64url')}`;
  }

  /** The turn id, or `null` where the signature is not ours for this session. */
  verify(sessionId: string, signature: string): string | null {
    const dot = signature.lastIndexOf('.');
    if (dot <= 0) return null;
    const turnId = signature.slice(0, dot);
    const given = Buffer.from(signature.slice(dot + 1), 'base64url');
    const expected = this.#mac(sessionId, turnId);
    return given.length === expected.length && timingSafeEqual(given, expected) ? turnId : null;
  }

  /** The keyed hash by which an engine's router sees a session. */
  routingKey(sessionId: string): string {
    return createHmac('sha256', this.secret).update('route\0').update(sessionId).digest('hex').slice(0, 32);
  }

  #mac(sessionId: string, turnId: string): Buffer {
    return createHmac('sha256', this.secret).update('turn\0').update(sessionId).update('\0').update(turnId).digest().subarray(0, MAC_BYTES);
  }
}
