import { createHash, timingSafeEqual } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { type ErrorValue, GatewayError } from '../errors.js';

export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));

export interface AdminGate {
  /** Whether strangers can reach the port. */
  readonly isExposed: boolean;
  /** `null` lets the caller in. */
  check(authorization: string): ErrorValue | null;
}

const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

/**
 * Who may call the trainer's routes: with a token, whoever sends it; without one, whoever reaches a loopback port.
 * @throws GatewayError `setting_invalid` for a port that strangers can reach and no token.
 */
export const adminGate = (host: string, token: string | null): AdminGate => {
  const isExposed = !isLoopback(host);
  if (token === null) {
    if (!isExposed) return { isExposed, check: () => null };
    throw new GatewayError(
      'setting_invalid',
      `host is ${host}, which others can reach, and there is no admin token: set ROLLOUT_GATEWAY_ADMIN_TOKEN or adminTokenFile, or listen on 127.0.0.1`,
    );
  }
  const expected = digest(token);
  const refused: ErrorValue = { code: 'admin_token_required', message: 'this route needs Authorization: Bearer with the admin token' };
  return {
    isExposed,
    check: (authorization) => {
      const given = /^bearer +(.+)$/i.exec(authorization)?.[1]?.trim();
      // Digests have one length, so the comparison tells nothing of the token's.
      return given !== undefined && timingSafeEqual(digest(given), expected) ? null : refused;
    },
  };
};
